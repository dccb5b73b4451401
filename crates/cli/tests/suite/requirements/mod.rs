//! The scenarios of the documents whose outcome a model decides, as whole turns. The id of the
//! requirement is in the name of each test; `crates/orchestration/tests/SCENARIOS.md` has the list.

mod conversation;
mod keywords;
mod knowledge;
mod limits;
mod questions;
mod rejection;
mod remote;
mod routing;
mod teamwork;
