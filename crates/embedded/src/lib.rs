//! The model that is part of the program: a small encoder that chooses, and words made by rules.
//!
//! It is a [`Model`](lango_model::Model) like any other, so every promise of the runtime holds for it.
//! It reads the user's newest words and what is offered now, and nothing else: results of tools, pages
//! and memories cannot make it call anything. Arguments are parts of the user's words, numbers that
//! stand in them, or choices that a tool offers.
//!
//! | file | job |
//! |---|---|
//! | `model.rs` | the model itself: which part answers a request |
//! | `weights.rs`, `catalogue.rs` | what was trained, and on which tools |
//! | `reading.rs` | what the encoder makes of a text |
//! | `decision.rs`, `unknown.rs`, `thresholds.rs` | which meaning is likeliest, also of tools that it never saw, and how sure is sure enough |
//! | `schema.rs`, `question.rs`, `arguments.rs`, `amounts.rs` | the arguments of a call |
//! | `report.rs` | orders that are only told of |
//! | `conversation.rs` | what the user wants now, and what they answered |
//! | `orchestrator.rs`, `specialist.rs`, `steps.rs` | what the agents do |
//! | `wording/`, `talk.rs` | words |
//! | `router.rs` | the fast path for other models |

mod amounts;
mod arguments;
mod catalogue;
mod conversation;
mod decision;
mod model;
mod orchestrator;
mod question;
mod reading;
mod report;
mod router;
mod schema;
mod specialist;
mod steps;
mod talk;
#[cfg(test)]
mod tests;
mod thresholds;
mod unknown;
mod weights;
mod wording;

pub use catalogue::known_team;
pub use model::{EMBEDDED, Embedded};
pub use router::Routed;
