//! Implements `browser_type`, which types into a field.

use lango_protocol::CallReport;
use lango_text::make_lines_visible;
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::click::build_action_outcome;
use super::propose_action;
use crate::outcome::ActionOutcome;
use crate::page::{self, ElementChoice};
use crate::sessions::Navigator;

pub(crate) struct Type {
    navigator: Navigator,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TypeArguments {
    /// Reference from the page's outline, such as e12.
    r#ref: Option<String>,
    /// CSS selector instead of ref; the first match in any frame.
    selector: Option<String>,
    /// The text, in place of what is in the field. For a list of options: the option.
    text: String,
    /// Press Enter after it, which sends most forms.
    #[serde(default)]
    submit: bool,
}

impl TypeArguments {
    fn element_choice(&self) -> ElementChoice {
        ElementChoice { reference: self.r#ref.clone(), selector: self.selector.clone() }
    }
}

impl Type {
    pub(crate) fn new(navigator: Navigator) -> Self {
        Self { navigator }
    }
}

impl Tool for Type {
    type Arguments = TypeArguments;
    type Output = ActionOutcome;
    const NAME: &'static str = "browser_type";
    const DESCRIPTION: &'static str = "Types text into a field of the current page, in place of what is in it, or chooses an \
         option of a list. Shows the page as it is then.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: TypeArguments,
        context: ToolContext,
    ) -> Result<ActionOutcome, ToolError> {
        self.navigator
            .run_call(&context, async |lease| {
                let browser = lease.browser()?;
                let references = self.navigator.references();
                let choice = arguments.element_choice();
                let element = page::find_element(
                    browser,
                    references,
                    lease.id(),
                    lease.generation(),
                    &choice,
                )
                .await?;
                let mark = browser.mark_moment()?;
                page::watch_changes(browser, &element).await;
                let (text, submit) = (&arguments.text, arguments.submit);
                let how = page::type_text(browser, &element, text, submit).await?;
                let done = if submit { "Typed and pressed Enter in" } else { "Typed into" };
                build_action_outcome(&lease, &element, &mark, done, &how).await
            })
            .await
    }

    fn render(&self, output: &ActionOutcome) -> String {
        output.render()
    }

    fn describe(&self, _: &TypeArguments) -> Option<String> {
        Some("Typing into the page".to_owned())
    }

    fn report(&self, _: &TypeArguments, output: &ActionOutcome) -> Option<CallReport> {
        Some(output.report())
    }

    fn propose(&self, arguments: &TypeArguments) -> Option<Proposal> {
        let (words, known) = arguments.element_choice().describe(self.navigator.references());
        let text = make_lines_visible(&arguments.text, "| ");
        let enter =
            if arguments.submit { "\nthen press Enter, which may send the form" } else { "" };
        let summary = format!("Type into {words}\nthis text:\n{text}{enter}");
        let submits = if arguments.submit { "and press Enter" } else { "" };
        Some(match known {
            Some(reference) => Proposal {
                always_ask: reference.sensitivity.typing_warning(arguments.submit),
                ..propose_action(summary, &reference, &["type", &arguments.text, submits])
            },
            None => Proposal {
                unreadable: Some("which element it is, is known only on the page".to_owned()),
                always_ask: Some("it may be a field for a password or a card".to_owned()),
                ..Proposal::plain(summary)
            },
        })
    }
}
