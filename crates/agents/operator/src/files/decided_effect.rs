//! Notices that a call would do something else than what was decided on.

use std::sync::{Arc, OnceLock};

use lango_tool::ToolError;

/// Remembers what a call would have done when it was proposed for the first time. The copies of a
/// call's arguments share it.
#[derive(Debug, Clone, Default)]
pub(super) struct DecidedEffect {
    digest: Arc<OnceLock<String>>,
}

impl DecidedEffect {
    /// Remembers the effect, unless one is known: the first one is what the question showed.
    pub(super) fn remember(&self, digest: String) {
        // An error means that it is known.
        let _ = self.digest.set(digest);
    }

    /// Remembers that the call would have been refused: then it is, whatever it could do since.
    pub(super) fn remember_refusal(&self) {
        self.remember("refused".to_owned());
    }

    /// Refuses an effect that is not the one that was decided on.
    pub(super) fn check(&self, digest: &str) -> Result<(), ToolError> {
        match self.digest.get() {
            Some(decided) if decided != digest => Err(ToolError::Failed(
                "other files are concerned than when this was decided on; nothing was changed. Look \
                 again, then call again"
                    .to_owned(),
            )),
            _ => Ok(()),
        }
    }
}
