//! Answers approvals as `--approve` says.

use lango_runtime::{ApprovalAnswer, ApprovalFuture, ApprovalRequest, Approver};

use clap::ValueEnum;

use crate::{Choice, Choices, Terminal};

/// Says who approves dangerous calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ApprovalMode {
    /// The person at the terminal.
    #[default]
    Ask,
    /// Another process, with `lango approvals`.
    Wait,
    /// Every call is denied.
    None,
    /// Every call is allowed, unseen.
    All,
}

/// The source of answers to questions.
#[derive(Debug, Clone)]
pub enum AnswerSource {
    /// The user at this terminal.
    Here(Terminal),
    /// Another process.
    OtherProcess,
    /// The answer is known already.
    Beforehand,
}

/// Answers approvals as `--approve` says.
pub struct TerminalApprover {
    mode: ApprovalMode,
    person: Option<Terminal>,
}

impl TerminalApprover {
    /// Returns the source of answers.
    pub fn answers(&self) -> AnswerSource {
        match (self.mode, &self.person) {
            (ApprovalMode::Ask, Some(person)) => AnswerSource::Here(person.clone()),
            (ApprovalMode::Wait, _) => AnswerSource::OtherProcess,
            _ => AnswerSource::Beforehand,
        }
    }

    /// Returns an approver; `person` is asked with `--approve ask`.
    pub fn new(mode: ApprovalMode, person: Option<Terminal>) -> Self {
        Self { mode, person }
    }
}

impl Approver for TerminalApprover {
    fn ask(&self, request: ApprovalRequest) -> ApprovalFuture {
        let person = match (self.mode, &self.person) {
            (ApprovalMode::All, _) => {
                let by = "--approve all".to_owned();
                return Box::pin(async { ApprovalAnswer::Approved { by, always: false } });
            }
            // Another process answers, through the journal, or the question expires.
            (ApprovalMode::Wait, _) => return Box::pin(std::future::pending()),
            (ApprovalMode::None, _) => {
                let by = "--approve none".to_owned();
                return Box::pin(async { ApprovalAnswer::Denied { by } });
            }
            (ApprovalMode::Ask, None) => return lango_runtime::UnattendedApprover.ask(request),
            (ApprovalMode::Ask, Some(person)) => person.clone(),
        };
        Box::pin(async move {
            // What happened before the question is read before it.
            person.wait_until_reached(&request.call).await;
            let _prompt_lock = person.prompt_lock().await;
            let choices =
                if request.always.is_empty() { Choices::YesNo } else { Choices::YesAlwaysNo };
            let by = "the user".to_owned();
            match person.ask(&render_question(&request), choices).await {
                Some(Choice::Yes) => ApprovalAnswer::Approved { by, always: false },
                Some(Choice::Always) => ApprovalAnswer::Approved { by, always: true },
                Some(Choice::No) => ApprovalAnswer::Denied { by },
                None => ApprovalAnswer::Unavailable { why: "the input ended".to_owned() },
            }
        })
    }
}

fn render_question(request: &ApprovalRequest) -> String {
    let indented = |lines: &mut dyn Iterator<Item = &str>| -> String {
        lines.map(|line| format!("    {line}\n")).collect()
    };
    let effect = indented(&mut request.summary.lines());
    let mut question = format!("\n{} wants to use {}:\n{effect}", request.agent, request.tool);
    if !request.always.is_empty() {
        let rules = indented(&mut request.always.iter().map(String::as_str));
        question += &format!("\"a\" for always would store:\n{rules}");
    }
    question + "Allow this once?"
}
