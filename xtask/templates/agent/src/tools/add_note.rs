//! `sample_add_note`.

use lango_protocol::CallReport;
use lango_text::code_span;
use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::SampleSettings;
use crate::notes::Notes;

/// Stores one note.
pub(crate) struct AddNote {
    notes: Notes,
    settings: SampleSettings,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddNoteArguments {
    /// The note, as the user said it.
    content: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct AddedNote {
    /// The number of notes now.
    total: u64,
}

impl AddNote {
    pub(crate) fn new(notes: Notes, settings: SampleSettings) -> Self {
        Self { notes, settings }
    }
}

impl Tool for AddNote {
    type Arguments = AddNoteArguments;
    type Output = AddedNote;
    const NAME: &'static str = "sample_add_note";
    const DESCRIPTION: &'static str = "Stores a note.";
    const LEVEL: SafetyLevel = SafetyLevel::Moderate;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: AddNoteArguments,
        _: ToolContext,
    ) -> Result<AddedNote, ToolError> {
        let max = self.settings.max_note_bytes;
        if arguments.content.len() > max {
            return Err(ToolError::Arguments(format!("a note has at most {max} bytes")));
        }
        let failed = |error: lango_store::StoreError| ToolError::Failed(error.to_string());
        self.notes.add(&arguments.content).await.map_err(failed)?;
        Ok(AddedNote { total: self.notes.count().await.map_err(failed)? })
    }

    fn render(&self, output: &AddedNote) -> String {
        format!("stored; {} in all", output.total)
    }

    fn describe(&self, arguments: &AddNoteArguments) -> Option<String> {
        Some(format!("Storing the note {}", code_span(&arguments.content)))
    }

    fn report(&self, arguments: &AddNoteArguments, output: &AddedNote) -> Option<CallReport> {
        let summary = format!("Stored the note {}.", code_span(&arguments.content));
        Some(CallReport::new(summary).data(output))
    }
}

#[cfg(test)]
mod tests {
    use lango_protocol::{CallId, SessionId, Space, SpaceAccess, TurnId};
    use lango_store::testing::{on_sqlite, open};
    use lango_tool::{ExcludedPaths, RegisteredTool};
    use tokio_util::sync::CancellationToken;

    use super::*;

    fn context() -> ToolContext {
        ToolContext {
            session: SessionId::generate(),
            turn: TurnId::generate(),
            call: CallId::generate(),
            agent: "sample".parse().unwrap(),
            space: SpaceAccess::to(Space::Owner),
            cancel: CancellationToken::new(),
            excluded: ExcludedPaths::default(),
        }
    }

    #[tokio::test]
    async fn a_note_is_stored_once() {
        on_sqlite(|location| async move {
            let notes = Notes::open(open(&location).await).await.unwrap();
            let tool = RegisteredTool::new(AddNote::new(notes, SampleSettings::default()));
            for _ in 0..2 {
                let call = tool.prepare(r#"{"content": "buy milk"}"#).unwrap();
                assert_eq!(call.describe().as_deref(), Some("Storing the note `buy milk`"));
                let output = call.run(context()).await.unwrap();
                assert_eq!(output.text, "stored; 1 in all");
                assert_eq!(output.report.unwrap().summary, "Stored the note `buy milk`.");
            }
        })
        .await;
    }

    #[tokio::test]
    async fn a_note_that_is_too_long_is_refused() {
        on_sqlite(|location| async move {
            let notes = Notes::open(open(&location).await).await.unwrap();
            let settings = SampleSettings { max_note_bytes: 3 };
            let tool = RegisteredTool::new(AddNote::new(notes, settings));
            let call = tool.prepare(r#"{"content": "buy milk"}"#).unwrap();
            let error = call.run(context()).await.unwrap_err();
            assert!(matches!(error, ToolError::Arguments(_)), "{error}");
        })
        .await;
    }
}
