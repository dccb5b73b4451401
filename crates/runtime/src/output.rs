//! Limits the size of tool output and returns the rest on request.

use lango_protocol::{CallId, CallReport};
use lango_store::{Journal, StoredOutput};
use lango_text::{tail, truncate};
use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Holds a tool's output as the model gets it, and the full output if that is longer.
pub(crate) struct BoundedOutput {
    pub(crate) shown: String,
    pub(crate) stored: Option<StoredOutput>,
}

/// Limits an output: its beginning and its end are shown, the full text is stored under the call's
/// id.
pub(crate) fn bound_output(call: &CallId, text: String, limit: usize) -> BoundedOutput {
    if text.len() <= limit {
        return BoundedOutput { shown: text, stored: None };
    }
    let head = truncate(&text, limit / 10 * 7);
    let tail = tail(&text, limit / 10 * 3);
    let omitted = text.len() - head.len() - tail.len();
    let shown = format!(
        "{head}\n[… {omitted} bytes left out; read them with output_read, reference \"{call}\" …]\n{tail}",
    );
    let stored = Some(StoredOutput { reference: call.to_string(), text });
    BoundedOutput { shown, stored }
}

/// Implements `output_read`, which returns parts of an output that was too long to show.
pub(crate) struct OutputRead {
    pub(crate) journal: Journal,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutputReadArguments {
    /// The reference given where the output was cut.
    reference: String,
    /// First line to read, from 1.
    #[serde(default)]
    offset: Option<usize>,
    /// How many lines.
    #[serde(default)]
    limit: Option<usize>,
    /// Only lines that contain this text.
    #[serde(default)]
    pattern: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct OutputLines {
    text: String,
    first_line: usize,
    total_lines: usize,
}

impl Tool for OutputRead {
    type Arguments = OutputReadArguments;
    type Output = OutputLines;

    const NAME: &'static str = "output_read";
    const DESCRIPTION: &'static str =
        "Reads part of a tool output that was too long to show, by lines or by a search text.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(
        &self,
        arguments: OutputReadArguments,
        context: ToolContext,
    ) -> Result<OutputLines, ToolError> {
        let failed = |reason: String| ToolError::Failed(reason);
        let text = self
            .journal
            .read_output(&context.session, &arguments.reference)
            .await
            .map_err(|error| failed(error.to_string()))?
            .ok_or_else(|| failed(format!("there is no output {:?}", arguments.reference)))?;
        let first_line = arguments.offset.unwrap_or(1).max(1);
        let limit = arguments.limit.unwrap_or(200).min(2_000);
        let wanted =
            |line: &&str| arguments.pattern.as_deref().is_none_or(|pattern| line.contains(pattern));
        let lines: Vec<&str> =
            text.lines().filter(wanted).skip(first_line - 1).take(limit).collect();
        Ok(OutputLines { text: lines.join("\n"), first_line, total_lines: text.lines().count() })
    }

    fn render(&self, part: &OutputLines) -> String {
        format!("{}\n[from line {} of {}]", part.text, part.first_line, part.total_lines)
    }

    fn describe(&self, _: &OutputReadArguments) -> Option<String> {
        Some("Reading more of an output".to_owned())
    }

    fn report(&self, _: &OutputReadArguments, part: &OutputLines) -> Option<CallReport> {
        let OutputLines { text, first_line, total_lines } = part;
        if text.trim().is_empty() {
            let summary = format!("There is nothing to show of these {total_lines} lines.");
            return Some(CallReport::new(summary));
        }
        Some(CallReport::new(format!("From line {first_line} of {total_lines}:")).verbatim(text))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_shown_is_bounded_and_the_whole_is_kept(text in "\\PC{0,400}", limit in 10_usize..200) {
            let call = CallId::generate();
            let bounded = bound_output(&call, text.clone(), limit);
            prop_assert!(bounded.shown.len() <= limit + 150);
            match bounded.stored {
                None => prop_assert_eq!(bounded.shown, text),
                Some(stored) => prop_assert_eq!(stored.text, text),
            }
        }
    }
}
