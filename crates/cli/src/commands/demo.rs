//! `lango demo`: a whole turn with a scripted model. Everything but the model is real.

use std::sync::Arc;

use lango_app::provider::{BuiltInScript, ModelOptions};
use lango_app::{OpenOptions, TeamOptions};
use lango_protocol::{MessageOrigin, SessionId};
use lango_runtime::{TurnRequest, UnattendedApprover};

use super::CommandContext;
use super::turn::follow_turn;
use crate::failure::{ExitStatus, Failure};
use lango_arguments::DemoArguments;
use lango_terminal::AnswerSource;
use lango_terminal::Display;
use lango_terminal::write_stderr;

const SCRIPT: BuiltInScript = BuiltInScript {
    model: "demo",
    name: "demo.toml",
    text: include_str!("demo.toml"),
    why: "a script plays the model; the agents, tools and journal are real",
};
const QUESTION: &str = "What is in this directory?";

pub(crate) async fn demo(
    context: &CommandContext,
    arguments: &DemoArguments,
) -> Result<ExitStatus, Failure> {
    let team = TeamOptions { topology: Some("standard".to_owned()), ..TeamOptions::default() };
    let options =
        OpenOptions { isolated: true, ..OpenOptions::new(team, ModelOptions::Script(SCRIPT)) };
    let team = context.app.open(options).await?.runtime(Arc::new(UnattendedApprover));
    let session = SessionId::generate();
    let printer = context.printer.of_turn((&arguments.output).into());
    let display = Display::new(
        printer,
        (&arguments.output).into(),
        AnswerSource::Beforehand,
        team.models.prices.clone(),
    );
    printer.introduce(&super::run::render_introduction(&team.models, &session));
    printer.introduce(&format!("you: {QUESTION}"));
    let request = TurnRequest::new(session.clone(), QUESTION, MessageOrigin::Run);
    let (followed, _) = follow_turn(team.runtime.start_turn(request), display).await?;
    if followed.outcome.is_done() && !arguments.output.quiet {
        let next = format!(
            "\nSee everything that happened:  lango sessions show {session}\n\
             Use a real model:              export ANTHROPIC_API_KEY=…; lango run \"…\"\n"
        );
        write_stderr(&next);
    }
    Ok(followed.status)
}
