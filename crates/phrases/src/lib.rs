//! Reads requests as text: their words, quotations, numbers, lines and steps.
//!
//! Everything here is rules about English text. What a request means, and which files exist, is not
//! known here.

pub mod amounts;
pub mod arithmetic;
pub mod clock_times;
pub mod file_limits;
pub mod folders;
pub mod kept;
pub mod kinds_of_files;
pub mod leads;
pub mod line_changes;
pub mod lines;
pub mod mentions;
pub mod quotations;
pub mod replacements;
pub mod reported;
pub mod settings;
pub mod spelling;
pub mod steps;
pub mod system_questions;
pub mod verbs;
pub mod words;
