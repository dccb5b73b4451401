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

mod clock;
mod compare;
mod examine;
mod figures;
mod labelled;
mod tally;
mod team;

pub(super) use clock::{Clock, TimeFigures, Times, milliseconds};
pub(super) use examine::{Examiner, Observed};
pub(super) use figures::{Figures, Share, shown};
pub(super) use labelled::{Labelled, parse, read};
pub(super) use tally::{Tally, Verdict};
pub(super) use team::Team;
