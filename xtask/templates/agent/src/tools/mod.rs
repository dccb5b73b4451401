//! The tools of the agent `sample`, one file each.

mod add_note;

pub(crate) use add_note::AddNote;
