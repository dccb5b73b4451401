//! What a model makes of labelled requests: whom it hands them to, which tool it calls, with which
//! arguments. Nothing is ever run.
//!
//! | file | job |
//! |---|---|
//! | `labelled.rs` | requests with what they mean |
//! | `team.rs` | the team that they are about |
//! | `examine.rs` | asking the model, and what it decided |
//! | `compare.rs` | arguments against those of a label |
//! | `figures.rs`, `tally.rs` | the figures, and how they are counted |
//! | `clock.rs` | the time that a decision takes |
//! | `measure.rs`, `report.rs` | one request after the other, and what is told about them |

mod clock;
mod compare;
mod examine;
mod figures;
mod labelled;
mod measure;
mod report;
mod tally;
mod team;

pub use clock::TimeFigures;
pub(crate) use clock::{Clock, Times, milliseconds};
pub use examine::Examiner;
pub(crate) use examine::Observed;
pub use figures::{Figures, Share, shown};
pub(crate) use labelled::parse;
pub use labelled::{Labelled, read_requests, unknown_tools};
pub use measure::{End, measure};
pub use report::{CallsReport, CallsView, FailureView, FastPath, Got, Meant, UNDECIDED};
pub(crate) use tally::{Tally, Verdict};
pub use team::Team;
