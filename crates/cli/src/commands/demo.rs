//! `lango demo`: a whole turn with a scripted model. Everything but the model is real.

use std::io::Write as _;
use std::sync::Arc;

use lango_model::ModelId;
use lango_protocol::{Origin, SessionId};
use lango_runtime::{NobodyToAsk, RuleBook, TurnRequest};
use lango_scripted::Script;

use super::Setting;
use super::turn::follow;
use crate::arguments::DemoArguments;
use crate::display::Display;
use crate::failure::Failure;
use crate::provider::{self, Choice, Source};
use crate::terminal::Answers;
use crate::wiring::{self, Kept};

const SCRIPT: &str = include_str!("demo.toml");
const QUESTION: &str = "What is in this directory?";

pub(crate) async fn demo(setting: &Setting, arguments: &DemoArguments) -> Result<u8, Failure> {
    let config = setting.config();
    let catalog = wiring::catalog(config, &setting.home, Some("standard"), None, None)?;
    let script = Script::parse("demo.toml", SCRIPT).map_err(|e| Failure::usage(e.to_string()))?;
    let choice = Choice {
        id: ModelId::new("script", "demo"),
        source: Source::Script("demo.toml".into()),
        why: "a script plays the model; the agents, tools and journal are real".into(),
        listed: None,
        is_last_resort: false,
    };
    let models = provider::demonstrate(config, choice, script).await?;
    let (database, journal) = wiring::open_store(config, &setting.home).await?;
    let retrieval = catalog.connect(config, &database, &journal).await?;
    let kept = Kept { journal, retrieval, rules: RuleBook::default() };
    let runtime = wiring::runtime(config, &catalog, kept, &models, Arc::new(NobodyToAsk));
    let session = SessionId::generate();
    let display = Display::new(&arguments.output, Answers::Beforehand, models.prices.clone());
    let _ = display.introduce(&super::run::introduction(&models, &session));
    let _ = display.introduce(&format!("you: {QUESTION}"));
    let request = TurnRequest::new(session.clone(), QUESTION, Origin::Run);
    let (followed, _) = follow(runtime.start_turn(request), display).await?;
    if followed.outcome.is_done() && !arguments.output.quiet {
        let next = format!(
            "\nSee everything that happened:  lango sessions show {session}\n\
             Use a real model:              export ANTHROPIC_API_KEY=…; lango run \"…\"\n"
        );
        let _ = std::io::stderr().write_all(next.as_bytes());
    }
    Ok(followed.code)
}
