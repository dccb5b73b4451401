//! Remembers which model the last run used by default, so that a change does not go unnoticed.

use std::path::PathBuf;

use lango_model::ModelId;
use lango_text::make_visible_short;

use crate::home::{Home, write_private};

/// Limits what is read of the file.
const MAX_ID_BYTES: usize = 1024;

/// The model that is used where none is named, now and in the last run.
#[derive(Debug)]
pub(crate) struct LastChoice {
    file: PathBuf,
    now: String,
    before: Option<String>,
}

impl LastChoice {
    /// Compares the model with that of the last run.
    pub(crate) fn read(home: &Home, now: &ModelId) -> Self {
        let file = home.last_model_file();
        let before = match std::fs::read_to_string(&file) {
            Ok(text) if text.len() <= MAX_ID_BYTES => Some(text.trim().to_owned()),
            Ok(_) => None,
            Err(error) => {
                // Without a file, this is the first run.
                tracing::debug!(%error, "the model of the last run is not known");
                None
            }
        };
        Self { file, now: now.to_string(), before }
    }

    /// Returns a line for the user, if the model is another one.
    pub(crate) fn describe_change(&self) -> Option<String> {
        let before = self.before.as_deref().filter(|before| *before != self.now)?;
        let (before, now) = (make_visible_short(before), make_visible_short(&self.now));
        Some(format!(
            "the model is {now} now; in the last run it was {before}. To keep one: \
             lango config set model.name PROVIDER/NAME"
        ))
    }

    /// Remembers the model, once the user was told.
    pub(crate) fn remember(&self) {
        if self.before.as_deref() == Some(self.now.as_str()) {
            return;
        }
        if let Err(error) = write_private(&self.file, &format!("{}\n", self.now)) {
            tracing::warn!(%error, "the model of this run could not be remembered");
        }
    }
}
