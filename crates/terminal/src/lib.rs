//! Talks to a person at a terminal: prints results and the events of a turn, and asks questions.
//!
//! Nothing that a model, a file or a peer wrote controls the terminal (`styled_text.rs`), and a question
//! is answered only by what is typed after it could be read (`question.rs`). Commands and their
//! arguments do not belong here.

mod approver;
mod display;
mod line_editor;
mod modes;
mod pages;
mod person;
mod printer;
mod question;
mod reader;
mod styled_text;
mod table;
mod value_prompt;

pub use approver::{AnswerSource, ApprovalMode, TerminalApprover};
pub use display::{Display, OutputFormat, OutputOptions};
pub use modes::restore_terminal;
pub use person::choose_person;
pub use printer::{
    Printer, is_dumb_terminal, show_progress, stderr_is_terminal, stdout_is_terminal,
    try_write_stderr, write_stderr,
};
pub use question::{Choice, Choices, Terminal};
pub use styled_text::StyledText;
pub use table::{render_table, render_wrapped_table};
pub use value_prompt::choose_value_prompt;
