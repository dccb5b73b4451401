//! Which kind of small talk a text is.

use super::phrases::{self, Phrases};

/// A kind of small talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// "hello"
    Greeting(Language),
    /// "thanks"
    Thanks(Language),
    /// "bye"
    Farewell,
    /// "how are you?"
    Wellbeing,
    /// "who are you?"
    Identity,
    /// "what can you do?"
    Abilities,
    /// "you are great"
    Compliment,
    /// "got it"
    Acknowledgement,
    /// "I passed my exam!"
    Joy,
    /// "I am so tired"
    Mood,
    /// "you are useless"
    Complaint,
    /// "tell me a joke"
    Joke,
    /// "write a poem"
    Writing,
    /// "what do you think?"
    Opinion,
    /// "what is the capital of France?"
    Knowledge,
    /// Anything else.
    Other,
}

/// Languages in which somebody is greeted and thanked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Language {
    English,
    German,
    French,
    Spanish,
    Italian,
    Portuguese,
}

/// Characters that are looked at: small talk is short.
const LOOKED_AT: usize = 2_000;
/// Words of a text that is nothing but a nod.
const NOD: usize = 6;

impl Kind {
    /// The kind of a text, by its words. What asks for something comes before what is only polite:
    /// "hi, who are you?" is a question.
    pub(super) fn of(text: &str) -> Self {
        let is_question = text.trim_end().ends_with(['?', '？']);
        let words = Words::of(text);
        let asking = [
            (&phrases::ABILITIES, Self::Abilities),
            (&phrases::IDENTITY, Self::Identity),
            (&phrases::WELLBEING, Self::Wellbeing),
            (&phrases::JOKE, Self::Joke),
            (&phrases::WRITING, Self::Writing),
            (&phrases::OPINION, Self::Opinion),
        ];
        if let Some((_, kind)) = asking.iter().find(|(phrases, _)| words.have(phrases)) {
            return *kind;
        }
        for (phrases, language) in phrases::THANKS {
            if words.have(phrases) {
                return Self::Thanks(*language);
            }
        }
        let telling = [
            (&phrases::FAREWELL, Self::Farewell),
            (&phrases::COMPLAINT, Self::Complaint),
            (&phrases::COMPLIMENT, Self::Compliment),
            (&phrases::JOY, Self::Joy),
            (&phrases::MOOD, Self::Mood),
        ];
        if let Some((_, kind)) = telling.iter().find(|(phrases, _)| words.have(phrases)) {
            return *kind;
        }
        if is_question || words.have(&phrases::KNOWLEDGE) {
            return Self::Knowledge;
        }
        for (phrases, language) in phrases::GREETINGS {
            if words.have(phrases) {
                return Self::Greeting(*language);
            }
        }
        // A thumb or a smile is a nod, too.
        let has_no_words = words.count == 0 && !text.trim().is_empty();
        if has_no_words || (words.count <= NOD && words.have(&phrases::NODS)) {
            return Self::Acknowledgement;
        }
        Self::Other
    }
}

/// A text by its words: in lower case, one space around each, no punctuation.
struct Words {
    text: String,
    count: usize,
}

impl Words {
    fn of(text: &str) -> Self {
        let mut words = " ".to_owned();
        for character in text.chars().take(LOOKED_AT).flat_map(char::to_lowercase) {
            match character {
                // "how's" and "hows" are the same word.
                '\'' | '’' => {}
                c if c.is_alphanumeric() => words.push(c),
                _ if words.ends_with(' ') => {}
                _ => words.push(' '),
            }
        }
        if !words.ends_with(' ') {
            words.push(' ');
        }
        let count = words.split_whitespace().count();
        Self { text: words, count }
    }

    fn have(&self, phrases: &Phrases) -> bool {
        let Phrases { whole, anywhere, first } = phrases;
        let text = self.text.as_str();
        any(whole, |phrase| text.trim() == phrase)
            || any(anywhere, |phrase| text.contains(&format!(" {phrase} ")))
            || any(first, |phrase| text.starts_with(&format!(" {phrase} ")))
    }
}

fn any(phrases: &str, fits: impl Fn(&str) -> bool) -> bool {
    phrases.split('|').filter(|phrase| !phrase.is_empty()).any(fits)
}
