//! `cargo xtask bench memory`: how often the right memory is in a prompt, long after it was said.
//!
//! Conversations of hundreds of turns are made from `bench/memory/templates.toml`, the same every time:
//! facts said in passing between chatter and tasks, facts that change, facts about others, and pages that
//! want to be remembered. They are played through the real chronicler with the built-in embedding model;
//! every question is looked at as the prompt that would be sent.

mod conversation;
mod observer;
mod play;

use std::io::Write as _;
use std::sync::Arc;

use anyhow::Result;
use lango_chronicler::MemorySettings;

use conversation::{Conversation, Templates};
use play::Score;

/// People who talk.
const PERSONAS: u64 = 4;

/// Turns of each.
const TURNS: usize = 320;

/// Plays everything and prints a table.
pub(crate) async fn measure() -> Result<()> {
    let templates = Templates::read()?;
    let mut out = std::io::stdout();
    writeln!(
        out,
        "{PERSONAS} personas, {TURNS} turns each, {} facts. A question is asked 40 turns or more after its \
         fact was said, in the same or in a later conversation.\n",
        templates.fact.len()
    )?;
    writeln!(
        out,
        "| memory | plain forms: right | stale | hard forms: right | stale | in a prompt, tokens | stored | junk |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|")?;
    for (name, notes, settings, model) in [
        ("none: what agents see anyway (30 turns)", false, MemorySettings::default(), false),
        ("memories alone, no observations", true, without_observations(), false),
        ("with extractive observations", true, MemorySettings::default(), false),
        ("with a model that observes, and invents", true, MemorySettings::default(), true),
    ] {
        let mut score = Score::default();
        for persona in 0..PERSONAS {
            let conversation = Conversation::new(&templates, persona, TURNS);
            let observer = model.then(|| Arc::new(observer::Scribe::default()));
            let settings = settings.clone();
            score += play::play(&templates, &conversation, notes, settings, observer).await?;
        }
        writeln!(out, "| {name} {score}")?;
        if std::env::var_os("LANGO_BENCH_MISSES").is_some() {
            for miss in &score.misses {
                writeln!(out, "  {miss}")?;
            }
        }
    }
    Ok(())
}

fn without_observations() -> MemorySettings {
    MemorySettings { message_token_threshold: u64::MAX, ..MemorySettings::default() }
}
