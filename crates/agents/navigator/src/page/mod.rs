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

pub(crate) use act::{click_element, has_changed, type_secret, type_text, watch_changes};
pub(crate) use element::{Element, ElementChoice, find_element};
pub(crate) use origin::{PageText, clean_line, display_address};
pub(crate) use outline::{Outline, OutlinePart};
pub(crate) use read::{ReadMode, read_page, read_status};
pub(crate) use references::{ElementReference, ElementReferences};
