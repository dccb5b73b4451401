//! Tests the operator's tools through their public interface: arguments in, text out.
#![expect(clippy::unwrap_used, reason = "clippy knows tests by their attribute, not their helpers")]

mod append;
mod confinement;
mod declarations;
mod edit;
mod find;
mod list;
mod never_outside;
mod places;
mod proposal;
mod read;
mod report;
mod rights;
mod rules;
mod search;
mod several;
mod shell;
mod shell_ending;
mod summary;
mod support;
mod write;
