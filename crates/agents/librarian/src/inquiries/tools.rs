//! Defines the tools for open questions.

use lango_protocol::CallReport;
use lango_text::{code_span, plural, to_one_line};
use lango_tool::{CarriedText, Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AnsweredInquiry, Inquiry};
use crate::knowledge::tools::report_saved;
use crate::proposing::propose_keeping;
use crate::reporting::{MAX_ENTRY_CHARACTERS, describe_activity};
use crate::{Holdings, Provenance};

/// Limits the questions in one result.
const MAX_INQUIRY_COUNT: u32 = 50;

/// Implements `librarian_pending_inquiries`.
pub(crate) struct PendingInquiries(pub(crate) Holdings);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PendingArguments {
    /// How many at most.
    #[serde(default = "default_limit")]
    limit: u32,
}

fn default_limit() -> u32 {
    5
}

#[derive(Debug, Serialize)]
pub(crate) struct PendingOutput {
    inquiries: Vec<Inquiry>,
}

impl Tool for PendingInquiries {
    type Arguments = PendingArguments;
    type Output = PendingOutput;
    const NAME: &'static str = "librarian_pending_inquiries";
    const DESCRIPTION: &'static str = "The open questions about gaps in what is known.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(
        &self,
        given: PendingArguments,
        context: ToolContext,
    ) -> Result<PendingOutput, ToolError> {
        if !(1..=MAX_INQUIRY_COUNT).contains(&given.limit) {
            return Err(ToolError::Arguments(format!(
                "limit must be from 1 to {MAX_INQUIRY_COUNT}"
            )));
        }
        let stores = self.0.in_space(context.space.own());
        let inquiries = stores.inquiries().pending(given.limit).await?;
        Ok(PendingOutput { inquiries })
    }

    fn describe(&self, _: &PendingArguments) -> Option<String> {
        Some("Listing the open questions".to_owned())
    }

    fn report(&self, _: &PendingArguments, output: &PendingOutput) -> Option<CallReport> {
        let inquiries = &output.inquiries;
        let report = if inquiries.is_empty() {
            CallReport::new("There is no open question.")
        } else {
            let line = |inquiry: &Inquiry| {
                let question = to_one_line(&inquiry.question, MAX_ENTRY_CHARACTERS);
                format!("- {question} ({})", code_span(&inquiry.id))
            };
            let lines: Vec<String> = inquiries.iter().map(line).collect();
            let questions = plural(lines.len(), "open question", "open questions");
            CallReport::new(format!("{questions}:")).markdown(lines.join("\n"))
        };
        Some(report.data(inquiries))
    }
}

/// Implements `librarian_answer_inquiry`.
pub(crate) struct AnswerInquiry(pub(crate) Holdings);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnswerArguments {
    /// The question's id.
    id: String,
    /// What the user answered, in full sentences.
    answer: String,
}

impl Tool for AnswerInquiry {
    type Arguments = AnswerArguments;
    type Output = AnsweredInquiry;
    const NAME: &'static str = "librarian_answer_inquiry";
    const DESCRIPTION: &'static str =
        "Records the user's answer to an open question: saved as knowledge, the question closed.";
    const LEVEL: SafetyLevel = SafetyLevel::Moderate;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        given: AnswerArguments,
        context: ToolContext,
    ) -> Result<AnsweredInquiry, ToolError> {
        let provenance = Provenance::of_call(&context, None);
        let stores = self.0.in_space(context.space.own());
        Ok(stores.inquiries().answer(&given.id, &given.answer, provenance, None).await?)
    }

    fn propose(&self, given: &AnswerArguments) -> Option<Proposal> {
        let mut proposal = propose_keeping("answer", [&given.id, &given.answer]);
        // The id is not a word of anybody.
        proposal.carried_text = Some(CarriedText { text: given.answer.clone(), to: None });
        Some(proposal)
    }

    fn describe(&self, given: &AnswerArguments) -> Option<String> {
        describe_activity("Recording the answer to the question", &given.id)
    }

    fn report(&self, _: &AnswerArguments, answered: &AnsweredInquiry) -> Option<CallReport> {
        let question = to_one_line(&answered.question, MAX_ENTRY_CHARACTERS);
        let report = report_saved(&answered.saved).markdown(format!("Answered: {question}"));
        Some(report.data(answered))
    }
}

/// Implements `librarian_dismiss_inquiry`.
pub(crate) struct DismissInquiry(pub(crate) Holdings);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DismissArguments {
    /// The question's id.
    id: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct DismissOutput {
    dismissed: Inquiry,
}

impl Tool for DismissInquiry {
    type Arguments = DismissArguments;
    type Output = DismissOutput;
    const NAME: &'static str = "librarian_dismiss_inquiry";
    const DESCRIPTION: &'static str =
        "Closes an open question that the user does not want to answer. It is not asked again.";
    const LEVEL: SafetyLevel = SafetyLevel::Moderate;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        given: DismissArguments,
        context: ToolContext,
    ) -> Result<DismissOutput, ToolError> {
        let stores = self.0.in_space(context.space.own());
        let dismissed = stores.inquiries().dismiss(&given.id).await?;
        Ok(DismissOutput { dismissed })
    }

    fn describe(&self, given: &DismissArguments) -> Option<String> {
        describe_activity("Closing the question", &given.id)
    }

    fn report(&self, _: &DismissArguments, output: &DismissOutput) -> Option<CallReport> {
        let question = to_one_line(&output.dismissed.question, MAX_ENTRY_CHARACTERS);
        Some(CallReport::new(format!("Closed without an answer: {question}")).data(output))
    }
}
