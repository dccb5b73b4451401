//! Implements the embedded model: a small encoder chooses, and rules make the text.
//!
//! It is a [`Model`](lango_model::Model) like any other, so every guarantee of the runtime holds
//! for it. It reads the user's newest message and the tools that are offered now, and nothing else:
//! what tools, pages and memories say cannot make it call anything; only that a search found nothing
//! makes it search in another store. Arguments are parts of the
//! user's text, numbers in it, or choices that a tool offers.
//!
//! | file | job |
//! |---|---|
//! | `model.rs` | the model itself: which part answers a request |
//! | `weights.rs`, `trained_tools.rs` | what was trained, and on which tools |
//! | `reading.rs` | what the encoder makes of a text |
//! | `decision.rs`, `topics.rs`, `unknown.rs`, `thresholds.rs` | which meaning is likeliest, also of tools that it never saw, and how sure is sure enough |
//! | `schema.rs`, `question.rs`, `arguments.rs` | the arguments of a call |
//! | `recall.rs` | questions whose answer may be in any store |
//! | `conversation.rs` | what the user wants now, and what they answered |
//! | `orchestrator.rs`, `specialist.rs` | what the agents do |
//! | `help.rs`, `misread.rs` | questions about Lango |
//! | `wording/`, `talk.rs` | texts for the user |
//! | `router.rs` | the fast path for other models |

mod arguments;
mod conversation;
mod decision;
mod help;
mod misread;
mod model;
mod orchestrator;
mod question;
mod reading;
mod recall;
mod router;
mod schema;
mod specialist;
mod surroundings;
mod talk;
#[cfg(test)]
mod tests;
mod thresholds;
mod topics;
mod trained_tools;
mod understanding;
mod unknown;
mod weights;
mod wording;

use lango_phrases::{amounts, reported, steps};

pub use help::{answer_help_question, encode_help_page};
pub use model::{EMBEDDED, EmbeddedModel, first_reading};
pub use router::RoutedModel;
pub use surroundings::{FileEntry, NoSurroundings, Surroundings};
pub use trained_tools::known_team;
