//! Holds the file tools, one per file, and their shared handling of text.

mod content;
mod delete;
mod difference;
mod edit;
mod edit_hint;
mod find;
mod glob;
mod ignore_rules;
mod line_window;
mod list;
mod make;
mod moving;
mod preview;
mod read;
mod report;
mod search;
mod size;
mod stat;
mod time;
mod write;

pub(crate) use delete::DeleteFile;
pub(crate) use edit::EditFile;
pub(crate) use find::FindFiles;
pub(crate) use list::ListFiles;
pub(crate) use make::MakeDirectory;
pub(crate) use moving::MoveFile;
pub(crate) use read::ReadFile;
pub(crate) use search::SearchFiles;
pub(crate) use stat::StatFile;
pub(crate) use write::WriteFile;
