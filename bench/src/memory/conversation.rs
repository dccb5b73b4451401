//! Conversations from templates, the same for the same number.

use anyhow::{Context as _, Result};
use serde::Deserialize;

/// The templates.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Templates {
    chatter: Vec<String>,
    tasks: Vec<String>,
    pub(crate) answers: Vec<String>,
    pub(crate) hostile: Vec<String>,
    pub(crate) hostile_marks: Vec<String>,
    distractors: Vec<String>,
    pub(crate) names: Vec<String>,
    cities: Vec<String>,
    firms: Vec<String>,
    drinks: Vec<String>,
    cars: Vec<String>,
    pub(crate) fact: Vec<Fact>,
}

/// Something that is said, changes, and is asked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fact {
    pub(crate) values: Vec<String>,
    first: Vec<String>,
    #[serde(default)]
    change: Vec<String>,
    hard: Vec<String>,
    ask: Vec<String>,
}

impl Templates {
    /// The committed templates, or those of another file.
    pub(crate) fn read(file: Option<&str>) -> Result<Self> {
        let text = match file {
            None => include_str!("../../memory/templates.toml").to_owned(),
            Some(file) => std::fs::read_to_string(file).context(file.to_owned())?,
        };
        toml::from_str(&text).context("the templates of bench memory")
    }
}

/// A turn to play.
#[derive(Debug, Clone, Default)]
pub(crate) struct Turn {
    /// The number of the conversation of the persona.
    pub(crate) session: usize,
    pub(crate) text: String,
    /// The text of a page in this turn.
    pub(crate) page: Option<String>,
    /// Set for a question.
    pub(crate) expects: Option<ExpectedAnswer>,
}

/// The answer that a prompt should have.
#[derive(Debug, Clone)]
pub(crate) struct ExpectedAnswer {
    pub(crate) right: String,
    pub(crate) stale: Vec<String>,
    /// True if it was last said in a form that no rule was written for.
    pub(crate) hard: bool,
}

/// All turns of a persona.
#[derive(Debug)]
pub(crate) struct Conversation {
    pub(crate) turns: Vec<Turn>,
}

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % below.max(1)
    }

    fn pick<'a>(&mut self, from: &'a [String]) -> &'a str {
        let index = self.roll(from.len());
        from.get(index).map_or("", String::as_str)
    }
}

/// Turns of one conversation, before the next begins.
const SESSION: usize = 80;

/// Turns between saying and asking.
const DISTANCE: usize = 40;

/// A fact that the user has stated.
struct StatedFact {
    value: usize,
    at: usize,
    hard: bool,
    asked: usize,
}

impl Conversation {
    pub(crate) fn new(templates: &Templates, persona: u64, turns: usize) -> Self {
        let mut dice = Dice(0x5eed + persona * 7_919);
        let mut said: Vec<Option<StatedFact>> = templates.fact.iter().map(|_| None).collect();
        let mut played = Vec::with_capacity(turns);
        for number in 0..turns {
            let mut turn = Turn { session: number / SESSION, ..Turn::default() };
            match dice.roll(100) {
                0..22 => state(templates, &mut dice, &mut said, number, &mut turn),
                22..32 => turn.text = distractor(templates, &mut dice),
                32..40 => {
                    dice.pick(&templates.tasks).clone_into(&mut turn.text);
                    turn.page = Some(dice.pick(&templates.hostile).to_owned());
                }
                40..65 if number > DISTANCE => {
                    ask(templates, &mut dice, &mut said, number, &mut turn);
                }
                65..85 => dice.pick(&templates.tasks).clone_into(&mut turn.text),
                _ => dice.pick(&templates.chatter).clone_into(&mut turn.text),
            }
            if turn.text.is_empty() {
                dice.pick(&templates.chatter).clone_into(&mut turn.text);
            }
            played.push(turn);
        }
        Self { turns: played }
    }
}

fn distractor(templates: &Templates, dice: &mut Dice) -> String {
    let text = dice.pick(&templates.distractors).to_owned();
    let text = text.replace("{name}", dice.pick(&templates.names));
    let text = text.replace("{city}", dice.pick(&templates.cities));
    let text = text.replace("{firm}", dice.pick(&templates.firms));
    let text = text.replace("{drink}", dice.pick(&templates.drinks));
    text.replace("{car}", dice.pick(&templates.cars))
}

/// Says a fact, or changes one that was said.
fn state(
    templates: &Templates,
    dice: &mut Dice,
    said: &mut [Option<StatedFact>],
    number: usize,
    turn: &mut Turn,
) {
    let index = dice.roll(templates.fact.len());
    let (Some(fact), Some(slot)) = (templates.fact.get(index), said.get_mut(index)) else { return };
    // A quarter in words that no rule was written for.
    let hard = dice.roll(4) == 0;
    let (value, form) = match slot {
        None if hard => (0, dice.pick(&fact.hard)),
        None => (0, dice.pick(&fact.first)),
        Some(before) if before.value + 1 < fact.values.len() && !fact.change.is_empty() => {
            let form = if hard { dice.pick(&fact.hard) } else { dice.pick(&fact.change) };
            (before.value + 1, form)
        }
        Some(_) => return,
    };
    let before = slot.as_ref().map_or("", |before| fact.values[before.value].as_str());
    let sentence = form.replace("{v}", &fact.values[value]).replace("{w}", before);
    // In passing: half of them with something else in the same message.
    turn.text = match dice.roll(4) {
        0 => format!("{sentence} {}", dice.pick(&templates.tasks)),
        1 => format!("{} {sentence}", dice.pick(&templates.chatter)),
        _ => sentence,
    };
    *slot = Some(StatedFact { value, at: number, hard, asked: 0 });
}

/// Asks for something that was said long ago.
fn ask(
    templates: &Templates,
    dice: &mut Dice,
    said: &mut [Option<StatedFact>],
    number: usize,
    turn: &mut Turn,
) {
    let start = dice.roll(said.len());
    for step in 0..said.len() {
        let index = (start + step) % said.len();
        let (fact, Some(slot)) = (&templates.fact[index], &mut said[index]) else { continue };
        if number - slot.at < DISTANCE || slot.asked >= 3 {
            continue;
        }
        slot.asked += 1;
        dice.pick(&fact.ask).clone_into(&mut turn.text);
        turn.expects = Some(ExpectedAnswer {
            right: fact.values[slot.value].clone(),
            stale: fact.values[..slot.value].to_vec(),
            hard: slot.hard,
        });
        return;
    }
}
