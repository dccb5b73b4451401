//! Defines why a file could not be read. None of these stops an ingest: the file is listed with its
//! reason.

use serde::{Deserialize, Serialize};

/// Says why there is no document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", tag = "reason")]
pub enum UnreadableReason {
    /// It is not text, whatever its name says.
    #[error("it is binary, not text")]
    Binary,
    /// It is larger than the limit.
    #[error("it is too large: {bytes} bytes, and at most {most} are read")]
    TooLarge {
        /// Its size, as far as it is known.
        bytes: u64,
        /// The limit.
        most: u64,
    },
    /// It has more passages than a document may have.
    #[error("it has more than {most} passages: split it into smaller files")]
    TooManyPassages {
        /// The limit.
        most: usize,
    },
    /// Text in an unknown encoding.
    #[error("its encoding is not known: save it as UTF-8")]
    Encoding,
    /// It is damaged, or not what its name says.
    #[error("it is damaged: {detail}")]
    Corrupt {
        /// The defect.
        detail: String,
    },
    /// It needs a password.
    #[error("it is encrypted: save a copy without a password")]
    Encrypted,
    /// There is no text in it.
    #[error("there is no text in it")]
    Empty,
    /// A format that is not supported.
    #[error("{format} is not read: save it as text, Markdown, HTML, PDF or DOCX")]
    Unsupported {
        /// The format.
        format: String,
    },
    /// The permissions do not allow it.
    #[error("it may not be read: check its permissions")]
    Permission,
    /// It is outside of the workspace.
    #[error("it lies outside of the workspace")]
    Outside,
    /// It is in a place that is hidden from agents.
    #[error("it is hidden from agents")]
    Hidden,
    /// A rule keeps it from being read.
    #[error("a rule keeps it from being read (`lango approvals list`)")]
    Excluded,
    /// Its name is not text, so it could not be used as a key.
    #[error("its name is not valid UTF-8: rename it")]
    Name,
    /// The server does not deliver it.
    #[error("{detail}")]
    Unreachable {
        /// The error of the server or the network.
        detail: String,
    },
    /// A pipe, a device, a socket, or a directory in place of a file.
    #[error("it is {what}, not a file")]
    NotAFile {
        /// The kind of file.
        what: String,
    },
    /// It was removed or changed while it was read, or reading failed otherwise.
    #[error("it cannot be read: {detail}")]
    Failed {
        /// The system's error.
        detail: String,
    },
    /// Reading it exceeded a limit of time or memory.
    #[error("reading it took more than {limit}")]
    Exhausted {
        /// The limit that was exceeded.
        limit: String,
    },
}

impl UnreadableReason {
    /// Tells whether the file was read and is no document, so that an earlier version is stale.
    /// Otherwise it may be unchanged.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Binary
            | Self::TooLarge { .. }
            | Self::TooManyPassages { .. }
            | Self::Encoding
            | Self::Corrupt { .. }
            | Self::Encrypted
            | Self::Empty
            | Self::Unsupported { .. }
            | Self::NotAFile { .. } => true,
            Self::Permission
            | Self::Outside
            | Self::Hidden
            | Self::Excluded
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

impl From<std::io::Error> for UnreadableReason {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::PermissionDenied => Self::Permission,
            _ => Self::Failed { detail: error.to_string() },
        }
    }
}
