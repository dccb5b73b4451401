//! Why a file could not be read. None of these stops an ingest: the file is listed with its reason.

use serde::{Deserialize, Serialize};

/// Why there is no document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", tag = "reason")]
pub enum Unreadable {
    /// It is not text, whatever its name says.
    #[error("it is binary, not text")]
    Binary,
    /// It was not read, because of its size.
    #[error("it is too large: {bytes} bytes, and at most {most} are read")]
    TooLarge {
        /// Its size, as far as it is known.
        bytes: u64,
        /// The limit.
        most: u64,
    },
    /// Text in an encoding that cannot be told.
    #[error("its encoding is not known: save it as UTF-8")]
    Encoding,
    /// It is damaged, or not what its name says.
    #[error("it is damaged: {detail}")]
    Corrupt {
        /// What is wrong with it.
        detail: String,
    },
    /// It wants a password.
    #[error("it is encrypted: save a copy without a password")]
    Encrypted,
    /// There is no text in it.
    #[error("there is no text in it")]
    Empty,
    /// A format that is not read.
    #[error("{format} is not read: save it as text, Markdown, HTML, PDF or DOCX")]
    Unsupported {
        /// Which one.
        format: String,
    },
    /// The system does not let us.
    #[error("it may not be read: check its permissions")]
    Permission,
    /// It lies where files are not read.
    #[error("it lies outside of the workspace")]
    Outside,
    /// Its name is not text, so that it could not be called by it.
    #[error("its name is not valid UTF-8: rename it")]
    Name,
    /// A server does not hand it out.
    #[error("{detail}")]
    Unreachable {
        /// What the server or the network said.
        detail: String,
    },
    /// A pipe, a device, a socket, or a directory in place of a file.
    #[error("it is {what}, not a file")]
    NotAFile {
        /// What it is.
        what: String,
    },
    /// It went away or changed while it was read.
    #[error("it cannot be read: {detail}")]
    Failed {
        /// What the system said.
        detail: String,
    },
    /// Reading it took more time or memory than a document is worth.
    #[error("reading it took more than {limit}")]
    Exhausted {
        /// What was used up.
        limit: String,
    },
}

impl Unreadable {
    /// Whether it was looked at and is not a document, so that nothing earlier of it holds any more.
    /// Otherwise it may be what it was.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Binary
            | Self::TooLarge { .. }
            | Self::Encoding
            | Self::Corrupt { .. }
            | Self::Encrypted
            | Self::Empty
            | Self::Unsupported { .. }
            | Self::NotAFile { .. } => true,
            Self::Permission
            | Self::Outside
            | Self::Name
            | Self::Unreachable { .. }
            | Self::Failed { .. }
            | Self::Exhausted { .. } => false,
        }
    }

    pub(crate) fn corrupt(detail: impl std::fmt::Display) -> Self {
        Self::Corrupt { detail: detail.to_string() }
    }
}

impl From<std::io::Error> for Unreadable {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::PermissionDenied => Self::Permission,
            _ => Self::Failed { detail: error.to_string() },
        }
    }
}
