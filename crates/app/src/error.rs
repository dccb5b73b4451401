//! The errors of the application, grouped by who can act on them.

use std::io;

use lango_a2a::remote::RemoteError;
use lango_automator::AutomatorError;
use lango_chronicler::ChroniclerError;
use lango_keystore::KeyStoreError;
use lango_librarian::LibrarianError;
use lango_librarian::documents::IngestError;
use lango_mcp::client::ClientError;
use lango_operator::WorkspaceError;
use lango_orchestration::OrchestrationError;
use lango_payments::PaymentError;
use lango_protocol::InvalidName;
use lango_retrieval::RetrievalError;
use lango_runtime::TurnError;
use lango_server::{CallersError, ListenerError};
use lango_store::StoreError;
use lango_tool::DuplicateTool;

use crate::config::ConfigError;

/// A failure of the application. [`AppError::kind`] says who can act on it.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// The user: something impossible was asked for or configured.
    #[error("{0}")]
    Usage(String),
    /// The user: the configuration cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The user: the agents and tools do not make a team.
    #[error(transparent)]
    Team(#[from] OrchestrationError),
    /// The user: two tools have one name.
    #[error(transparent)]
    Tool(#[from] DuplicateTool),
    /// The user: the workspace cannot be used.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The user or the operator of the machine: the database cannot be opened, and nothing has
    /// begun.
    #[error(transparent)]
    Database(StoreError),
    /// The provider of a model, or the user by setting one up.
    #[error("{0}")]
    Provider(String),
    /// The database, while it is used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The index.
    #[error(transparent)]
    Retrieval(#[from] RetrievalError),
    /// Documents that are read in.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// The librarian's stores.
    #[error(transparent)]
    Librarian(#[from] LibrarianError),
    /// The memory.
    #[error(transparent)]
    Chronicler(#[from] ChroniclerError),
    /// The vault.
    #[error(transparent)]
    KeyStore(#[from] KeyStoreError),
    /// Jobs and background tasks.
    #[error(transparent)]
    Automator(#[from] AutomatorError),
    /// Payments.
    #[error(transparent)]
    Payment(#[from] PaymentError),
    /// An MCP server.
    #[error(transparent)]
    Mcp(#[from] ClientError),
    /// A remote agent.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// The clients of the server.
    #[error(transparent)]
    Clients(#[from] CallersError),
    /// The user: the server cannot listen at the address.
    #[error(transparent)]
    Listener(#[from] ListenerError),
    /// The user: a name is invalid.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// A turn that could not be run.
    #[error(transparent)]
    Turn(#[from] TurnError),
    /// The operator of the machine: a recording could not be written.
    #[error("the recording is not complete: {0}")]
    Recording(String),
    /// The operator of the machine: the system refused something.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Says who can act on an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The user, by asking for something else or by changing the configuration.
    Usage,
    /// The provider of a model, or the user by naming another one.
    Provider,
    /// A retry, the operator of the machine, or the developers of this program.
    Failure,
}

impl AppError {
    /// Returns an error that the user can act on.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    /// Returns an error of a provider.
    pub fn provider(message: impl Into<String>) -> Self {
        Self::Provider(message.into())
    }

    /// Returns who can act on the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Provider(_) => ErrorKind::Provider,
            Self::Store(error)
            | Self::Turn(TurnError::Store(error))
            | Self::Librarian(LibrarianError::Store(error))
            | Self::Chronicler(ChroniclerError::Store(error))
            | Self::KeyStore(KeyStoreError::Store(error))
            | Self::Automator(AutomatorError::Store(error))
            | Self::Clients(CallersError::Store(error))
            | Self::Payment(PaymentError::Store(error))
            | Self::Mcp(ClientError::Store(error)) => kind_of_store_error(error),
            Self::Retrieval(error)
            | Self::Ingest(IngestError::Retrieval(error))
            | Self::Chronicler(ChroniclerError::Retrieval(error)) => kind_of_retrieval_error(error),
            Self::Payment(PaymentError::Chain(_) | PaymentError::Defect(_)) => ErrorKind::Failure,
            Self::Usage(_)
            | Self::Config(_)
            | Self::Team(_)
            | Self::Tool(_)
            | Self::Workspace(_)
            | Self::Database(_)
            | Self::Ingest(IngestError::Collection(_))
            | Self::Librarian(_)
            | Self::Automator(_)
            | Self::Payment(_)
            | Self::Clients(_)
            | Self::Listener(_)
            | Self::Name(_)
            | Self::Chronicler(ChroniclerError::Unknown(_) | ChroniclerError::Refused(_))
            | Self::Mcp(
                ClientError::Configuration { .. }
                | ClientError::File { .. }
                | ClientError::UnknownServer(_)
                | ClientError::UnknownTool { .. }
                | ClientError::Disabled(_),
            ) => ErrorKind::Usage,
            Self::KeyStore(
                KeyStoreError::Changed
                | KeyStoreError::Damaged { .. }
                | KeyStoreError::DamagedMaster
                | KeyStoreError::NoRandomness
                | KeyStoreError::Derivation,
            )
            | Self::Mcp(_)
            | Self::Remote(_)
            | Self::Ingest(IngestError::Broken(_))
            | Self::Turn(_)
            | Self::Recording(_)
            | Self::Io(_) => ErrorKind::Failure,
            Self::KeyStore(_) => ErrorKind::Usage,
        }
    }
}

fn kind_of_store_error(error: &StoreError) -> ErrorKind {
    match error {
        StoreError::Location { .. }
        | StoreError::Open { .. }
        | StoreError::ReadOnly { .. }
        | StoreError::Backup { .. }
        | StoreError::NotEmpty { .. }
        | StoreError::InUse { .. }
        | StoreError::NewerSchema { .. } => ErrorKind::Usage,
        _ => ErrorKind::Failure,
    }
}

fn kind_of_retrieval_error(error: &RetrievalError) -> ErrorKind {
    match error {
        RetrievalError::Store(error) => kind_of_store_error(error),
        RetrievalError::Embed(_) => ErrorKind::Provider,
        RetrievalError::NoEmbedder => ErrorKind::Usage,
        RetrievalError::Cancelled => ErrorKind::Failure,
    }
}
