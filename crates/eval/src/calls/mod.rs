//! Measures how a model understands labelled requests: which agent it transfers them to, and which
//! tool it calls with which arguments. Nothing is ever run.
//!
//! | file | job |
//! |---|---|
//! | `labelled.rs` | labelled requests |
//! | `team.rs` | the team that they are about |
//! | `examine.rs` | asks the model for its decision |
//! | `compare.rs` | compares arguments with those of a label |
//! | `figures.rs`, `tally.rs` | the figures, and how they are counted |
//! | `clock.rs` | the time that a decision takes |
//! | `measure.rs`, `report.rs` | the measurement and its report |

mod arguments;
mod clock;
mod compare;
mod examine;
mod figures;
mod labelled;
mod measure;
mod report;
mod tally;
mod team;

pub use arguments::{Argument, Arguments};
pub use clock::TimeFigures;
pub(crate) use clock::{DecisionClock, DecisionTimes, milliseconds};
pub use examine::Examiner;
pub(crate) use examine::ObservedDecision;
pub use figures::{CountShare, RequestFigures, render_percentage};
pub(crate) use labelled::parse_requests;
pub use labelled::{LabelledRequest, read_requests, unknown_tools};
pub use measure::{MeasurementEnd, measure_requests};
pub use report::{
    ActualCall, CallsReport, CallsView, ExpectedCall, FailureView, FastPath, UNDECIDED,
};
pub(crate) use tally::{RequestTally, RequestVerdict};
pub use team::EvaluatedTeam;
