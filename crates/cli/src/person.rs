//! Answers the questions of MCP servers with the user at the terminal.

use std::sync::Arc;

use lango_mcp::client::{AnswerFuture, Form, FormAnswers, NoPerson, Person};
use lango_text::{visible, visible_lines, visible_short};

use crate::arguments::Approve;
use crate::printer::write_stderr;
use crate::terminal::Terminal;

/// Returns what answers servers' questions with this `--approve`.
pub(crate) fn person(approve: Approve, terminal: Option<Terminal>) -> Arc<dyn Person> {
    match (approve, terminal) {
        (Approve::Ask, Some(terminal)) => Arc::new(TerminalPerson { terminal }),
        (Approve::All, terminal) => Arc::new(ConsentingPerson { terminal }),
        _ => Arc::new(NoPerson),
    }
}

struct TerminalPerson {
    terminal: Terminal,
}

impl Person for TerminalPerson {
    fn fill(&self, form: Form) -> AnswerFuture<Option<FormAnswers>> {
        Box::pin(fill(self.terminal.clone(), form))
    }

    fn agree(&self, question: String) -> AnswerFuture<bool> {
        let terminal = self.terminal.clone();
        Box::pin(async move {
            let _prompt_lock = terminal.prompt_lock().await;
            asked(&terminal, &format!("{question}\nAllow it? [y/N] ")).await
        })
    }
}

/// Consents to every question, for `--approve all`. A form still needs the user.
struct ConsentingPerson {
    terminal: Option<Terminal>,
}

impl Person for ConsentingPerson {
    fn fill(&self, form: Form) -> AnswerFuture<Option<FormAnswers>> {
        match self.terminal.clone() {
            Some(terminal) => Box::pin(fill(terminal, form)),
            None => NoPerson.fill(form),
        }
    }

    fn agree(&self, _: String) -> AnswerFuture<bool> {
        Box::pin(async { true })
    }
}

async fn asked(terminal: &Terminal, question: &str) -> bool {
    write_stderr(question);
    let answer = terminal.answer().await;
    matches!(answer.as_deref().map(str::trim), Some("y" | "Y" | "yes"))
}

async fn fill(terminal: Terminal, form: Form) -> Option<FormAnswers> {
    let _prompt_lock = terminal.prompt_lock().await;
    let question = format!(
        "The MCP server {} asks you (never type a password or a key here):\n{}\nAnswer it? [y/N] ",
        form.server,
        visible_lines(&form.message, "  | ")
    );
    if !asked(&terminal, &question).await {
        return None;
    }
    let mut filled = FormAnswers::new();
    for field in &form.fields {
        let mut line = visible(&field.name);
        if !field.description.is_empty() {
            line += &format!(" ({})", visible_short(&field.description));
        }
        if !field.choices.is_empty() {
            let choices: Vec<String> = field.choices.iter().map(|c| visible_short(c)).collect();
            line += &format!(" [{}]", choices.join(", "));
        }
        if let Some(default) = &field.default {
            line += &format!(", empty for {}", visible_short(default));
        }
        write_stderr(&format!("{line}: "));
        let typed = terminal.answer().await?;
        filled.insert(field.name.clone(), typed.trim_end_matches(['\n', '\r']).to_owned());
    }
    Some(filled)
}
