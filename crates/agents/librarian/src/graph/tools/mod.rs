//! Defines the tools of the graph.

mod add;
mod query;
mod relation;
mod traverse;

pub(crate) use add::AddRelation;
pub(crate) use query::QueryRelations;
pub(crate) use traverse::FollowRelations;
