//! Measures how well a model understands requests ([`calls`]), what works with a model ([`trial`]),
//! the cost and accuracy of the embedded model on this machine ([`embedded`]), and how well texts
//! are found ([`retrieval`]).
//!
//! Use this to measure; a client chooses the model and shows the figures. Nothing that a model asks
//! for is ever run.

pub mod calls;
pub mod embedded;
mod error;
mod reply;
pub mod retrieval;
pub mod trial;

pub use error::EvalError;
