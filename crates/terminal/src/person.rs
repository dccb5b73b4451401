//! Answers the questions of MCP servers with the user at the terminal.

use std::sync::Arc;

use lango_mcp::client::{AnswerFuture, Form, FormAnswers, NoPerson, Person};
use lango_text::{make_lines_visible, make_visible, make_visible_short};

use crate::{ApprovalMode, Choice, Choices, Terminal};

/// Returns what answers servers' questions with this `--approve`.
pub fn choose_person(approve: ApprovalMode, terminal: Option<Terminal>) -> Arc<dyn Person> {
    match (approve, terminal) {
        (ApprovalMode::Ask, Some(terminal)) => Arc::new(TerminalPerson { terminal }),
        (ApprovalMode::All, terminal) => Arc::new(ConsentingPerson { terminal }),
        _ => Arc::new(NoPerson),
    }
}

struct TerminalPerson {
    terminal: Terminal,
}

impl Person for TerminalPerson {
    fn fill(&self, form: Form) -> AnswerFuture<Option<FormAnswers>> {
        Box::pin(fill_form(self.terminal.clone(), form))
    }

    fn agree(&self, question: String) -> AnswerFuture<bool> {
        let terminal = self.terminal.clone();
        Box::pin(async move {
            let _prompt_lock = terminal.prompt_lock().await;
            ask_yes_or_no(&terminal, &format!("{question}\nAllow it?")).await
        })
    }

    fn approve_entry(&self, question: String) -> AnswerFuture<Option<bool>> {
        Box::pin(ask_about_entry(self.terminal.clone(), question))
    }
}

/// Consents to every question, for `--approve all`. A form still needs the user, and so does an entry
/// of a project's file: consent to what agents do is none to what a project starts.
struct ConsentingPerson {
    terminal: Option<Terminal>,
}

impl Person for ConsentingPerson {
    fn fill(&self, form: Form) -> AnswerFuture<Option<FormAnswers>> {
        match self.terminal.clone() {
            Some(terminal) => Box::pin(fill_form(terminal, form)),
            None => NoPerson.fill(form),
        }
    }

    fn agree(&self, _: String) -> AnswerFuture<bool> {
        Box::pin(async { true })
    }

    fn approve_entry(&self, question: String) -> AnswerFuture<Option<bool>> {
        match self.terminal.clone() {
            Some(terminal) => Box::pin(ask_about_entry(terminal, question)),
            None => NoPerson.approve_entry(question),
        }
    }
}

async fn ask_yes_or_no(terminal: &Terminal, question: &str) -> bool {
    terminal.ask(question, Choices::YesNo).await == Some(Choice::Yes)
}

async fn ask_about_entry(terminal: Terminal, question: String) -> Option<bool> {
    let _prompt_lock = terminal.prompt_lock().await;
    let choice = terminal.ask(&format!("{question}\nUse it?"), Choices::YesNo).await?;
    Some(choice == Choice::Yes)
}

async fn fill_form(terminal: Terminal, form: Form) -> Option<FormAnswers> {
    let _prompt_lock = terminal.prompt_lock().await;
    let question = format!(
        "The MCP server {} asks you (never type a password or a key here):\n{}\nAnswer it?",
        form.server,
        make_lines_visible(&form.message, "  | ")
    );
    if !ask_yes_or_no(&terminal, &question).await {
        return None;
    }
    let mut filled = FormAnswers::new();
    for field in &form.fields {
        let mut line = make_visible(&field.name);
        if !field.description.is_empty() {
            line += &format!(" ({})", make_visible_short(&field.description));
        }
        if !field.choices.is_empty() {
            let choices: Vec<String> =
                field.choices.iter().map(|c| make_visible_short(c)).collect();
            line += &format!(" [{}]", choices.join(", "));
        }
        if let Some(default) = &field.default {
            line += &format!(", empty for {}", make_visible_short(default));
        }
        let typed = terminal.ask_text(&format!("{line}: ")).await?;
        filled.insert(field.name.clone(), typed);
    }
    Some(filled)
}
