//! Implements `browser_type`, which types into a field.

use lango_keystore::{HandlePlace, HandleUse, SecretBytes, SecretHandles};
use lango_protocol::CallReport;
use lango_text::{make_lines_visible, make_visible};
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::click::build_action_outcome;
use super::{page_origin, propose_action};
use crate::outcome::ActionOutcome;
use crate::page::{self, ElementChoice, ElementReference};
use crate::sessions::Navigator;

pub(crate) struct Type {
    navigator: Navigator,
    handles: SecretHandles,
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
    /// Handle of a secret (`secrets_get` with use `form_field`), typed in place of text, which is empty
    /// then. It needs ref.
    #[serde(default)]
    secret: Option<String>,
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
    pub(crate) fn new(navigator: Navigator, handles: SecretHandles) -> Self {
        Self { navigator, handles }
    }

    /// Returns the value of a handle, and the origin that the question named.
    async fn resolve_secret(
        &self,
        handle: &str,
        arguments: &TypeArguments,
        context: &ToolContext,
    ) -> Result<(SecretBytes, String), ToolError> {
        if !arguments.text.is_empty() {
            let reason = "give either text or secret; text is empty where secret is given";
            return Err(ToolError::Arguments(reason.to_owned()));
        }
        let (_, known) = arguments.element_choice().describe(self.navigator.references());
        let Some(reference) = known else {
            let reason = "a secret is typed only into a field that the question names: read the page \
                          (browser_read with mode outline) and use its reference";
            return Err(ToolError::Arguments(reason.to_owned()));
        };
        let origin = frame_origin(&reference);
        let use_ = HandleUse {
            session: &context.session,
            agent: &context.agent,
            place: HandlePlace::FormField,
            origin: Some(&origin),
            what: format!("a field on {origin}"),
        };
        let value = self.handles.resolve(handle, use_).await;
        Ok((value.map_err(|error| ToolError::Failed(error.to_string()))?, origin))
    }

    /// Proposes to type a secret. A user is asked about it, whatever rules allow.
    fn propose_secret(&self, handle: &str, arguments: &TypeArguments) -> Proposal {
        let (words, known) = arguments.element_choice().describe(self.navigator.references());
        let label = self.handles.describe(handle).map(|info| make_visible(&info.label));
        let Some(label) = label else {
            let reason = "will be refused: the handle is not valid";
            return Proposal::plain(format!("Type a secret into {words}\n({reason})"));
        };
        let enter =
            if arguments.submit { "\nthen press Enter, which may send the form" } else { "" };
        let always_ask = Some(format!("it types the secret {label}"));
        match known {
            Some(reference) => {
                let origin = make_visible(&frame_origin(&reference));
                let summary = format!(
                    "Type the secret {label} into {words}\nIts value goes to {origin} and to no other \
                     site.{enter}"
                );
                Proposal { always_ask, ..propose_action(summary, &reference, &["type", &label]) }
            }
            None => Proposal {
                always_ask,
                ..Proposal::plain(format!(
                    "Type the secret {label} into {words}\n(will be refused: it is on no page that was \
                     read)"
                ))
            },
        }
    }
}

/// Returns the origin of the document that an element is in, which may be a frame of another site.
fn frame_origin(reference: &ElementReference) -> String {
    page_origin(&reference.frame.url)
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
        let secret = match &arguments.secret {
            Some(handle) => Some(self.resolve_secret(handle, &arguments, &context).await?),
            None => None,
        };
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
                let how = match &secret {
                    Some((value, origin)) => {
                        page::type_secret(browser, &element, value, origin, submit).await?
                    }
                    None => page::type_text(browser, &element, text, submit).await?,
                };
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
        if let Some(handle) = &arguments.secret {
            return Some(self.propose_secret(handle, arguments));
        }
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
