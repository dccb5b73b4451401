//! What is on a page: its outline, its text, its elements, as bounded words.

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
pub(crate) use element::{Chosen, Element, find};
pub(crate) use origin::{PageText, clean, place_of};
pub(crate) use outline::{Outline, OutlinePart};
pub(crate) use read::{Mode, read, status};
pub(crate) use references::References;
