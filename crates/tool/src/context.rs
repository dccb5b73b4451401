//! Tells a running tool about the turn it runs in.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use lango_protocol::{AgentName, CallId, SessionId, SpaceAccess, TurnId};
use tokio_util::sync::CancellationToken;

/// Is passed to a tool with each call.
#[derive(Debug, Clone)]
pub struct ToolContext {
    /// The conversation.
    pub session: SessionId,
    /// The turn.
    pub turn: TurnId,
    /// This call; usable as an idempotency key.
    pub call: CallId,
    /// The agent that called.
    pub agent: AgentName,
    /// The space that the call writes to, and those that it may read.
    pub space: SpaceAccess,
    /// The token that fires when the turn is stopped. A tool that waits must watch it.
    pub cancel: CancellationToken,
    /// The paths that rules keep from this call. A tool that walks through directories leaves them
    /// out.
    pub excluded: ExcludedPaths,
}

type PathTest = dyn Fn(&Path) -> bool + Send + Sync;

/// Tells which paths a call must leave out. None by default.
#[derive(Clone, Default)]
pub struct ExcludedPaths {
    test: Option<Arc<PathTest>>,
}

impl ExcludedPaths {
    /// Excludes the paths for which `test` is true. It is called with paths relative to the workspace,
    /// without links.
    pub fn new(test: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Self {
        Self { test: Some(Arc::new(test)) }
    }

    /// Tells whether no path is excluded.
    pub fn is_empty(&self) -> bool {
        self.test.is_none()
    }

    /// Tells whether a path, relative to the workspace and without links, is excluded.
    pub fn contains(&self, path: &Path) -> bool {
        self.test.as_ref().is_some_and(|test| test(path))
    }
}

impl fmt::Debug for ExcludedPaths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExcludedPaths").field("any", &self.test.is_some()).finish()
    }
}
