//! Asks the user at the terminal for the value of a secret.

use std::sync::Arc;

use lango_keystore::SecretBytes;
use lango_text::make_visible;
use lango_vault::{NoPrompt, PromptFuture, ValueAnswer, ValuePrompt, ValueQuestion};

use crate::{ApprovalMode, Terminal};

/// Returns what asks for values with this `--approve`. Where questions are answered by another
/// process, or by none, no person is here.
pub fn choose_value_prompt(
    approve: ApprovalMode,
    terminal: Option<Terminal>,
) -> Arc<dyn ValuePrompt> {
    match (approve, terminal) {
        (ApprovalMode::Ask | ApprovalMode::All, Some(terminal)) => {
            Arc::new(TerminalValuePrompt { terminal })
        }
        _ => Arc::new(NoPrompt),
    }
}

struct TerminalValuePrompt {
    terminal: Terminal,
}

impl ValuePrompt for TerminalValuePrompt {
    fn ask(&self, question: ValueQuestion) -> PromptFuture {
        let terminal = self.terminal.clone();
        Box::pin(async move {
            let _prompt_lock = terminal.prompt_lock().await;
            let name = make_visible(&question.name);
            let prompt = format!("\nValue of the secret {name} (not shown; empty to cancel): ");
            match terminal.ask_secret(&prompt).await {
                Some(value) if !value.is_empty() => ValueAnswer::Given(SecretBytes::from(value)),
                _ => ValueAnswer::Declined,
            }
        })
    }
}
