//! Reads a page as bounded words: its outline, its text, its elements.

mod act;
mod element;
mod origin;
mod outline;
mod read;
mod references;
pub(crate) mod script;
mod sensitivity;
mod tree;

pub(crate) use act::{changed, click, type_text, watch};
pub(crate) use element::{Element, ElementChoice, find};
pub(crate) use origin::{PageText, clean, display_address};
pub(crate) use outline::{Outline, OutlinePart};
pub(crate) use read::{Mode, read, status};
pub(crate) use references::References;
