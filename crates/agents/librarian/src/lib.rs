//! The librarian's subsystems: documents, knowledge, lessons, relations, open questions.

pub mod documents;
