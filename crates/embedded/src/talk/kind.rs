//! Classifies small talk.

use super::phrases::{self, Phrases};

/// Represents a kind of small talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum SmallTalkKind {
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
    /// "I deploy on Fridays"
    Statement,
    /// Anything else.
    Other,
}

/// Lists the languages of greetings and thanks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Language {
    English,
    German,
    French,
    Spanish,
    Italian,
    Portuguese,
}

/// Limits the characters that are read: small talk is short.
const MAX_READ_CHARACTERS: usize = 2_000;
/// Limits the words of a text that only acknowledges.
const MAX_ACKNOWLEDGEMENT_WORDS: usize = 6;

impl SmallTalkKind {
    /// Classifies a text by its words. A request comes before politeness: "hi, who are you?" is a
    /// question.
    pub(super) fn of(text: &str) -> Self {
        let is_question = text.trim_end().ends_with(['?', '？']);
        let words = NormalisedWords::of(text);
        let asking = [
            (&phrases::ABILITIES, Self::Abilities),
            (&phrases::IDENTITY, Self::Identity),
            (&phrases::WELLBEING, Self::Wellbeing),
            (&phrases::JOKE, Self::Joke),
            (&phrases::WRITING, Self::Writing),
            (&phrases::OPINION, Self::Opinion),
        ];
        if let Some((_, kind)) = asking.iter().find(|(phrases, _)| words.contain_phrase(phrases)) {
            return *kind;
        }
        for (phrases, language) in phrases::THANKS {
            if words.contain_phrase(phrases) {
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
        if let Some((_, kind)) = telling.iter().find(|(phrases, _)| words.contain_phrase(phrases)) {
            return *kind;
        }
        if is_question || words.contain_phrase(&phrases::KNOWLEDGE) {
            return Self::Knowledge;
        }
        for (phrases, language) in phrases::GREETINGS {
            if words.contain_phrase(phrases) {
                return Self::Greeting(*language);
            }
        }
        // A thumb or a smile is an acknowledgement, too.
        let has_no_words = words.count == 0 && !text.trim().is_empty();
        if has_no_words
            || (words.count <= MAX_ACKNOWLEDGEMENT_WORDS && words.contain_phrase(&phrases::NODS))
        {
            return Self::Acknowledgement;
        }
        if words.contain_phrase(&phrases::STATEMENTS) { Self::Statement } else { Self::Other }
    }
}

/// Holds the words of a text: in lower case, one space around each, no punctuation.
struct NormalisedWords {
    text: String,
    count: usize,
}

impl NormalisedWords {
    fn of(text: &str) -> Self {
        let mut words = " ".to_owned();
        for character in text.chars().take(MAX_READ_CHARACTERS).flat_map(char::to_lowercase) {
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

    fn contain_phrase(&self, phrases: &Phrases) -> bool {
        let Phrases { whole, anywhere, first } = phrases;
        let text = self.text.as_str();
        any_phrase(whole, |phrase| text.trim() == phrase)
            || any_phrase(anywhere, |phrase| text.contains(&format!(" {phrase} ")))
            || any_phrase(first, |phrase| text.starts_with(&format!(" {phrase} ")))
    }
}

fn any_phrase(phrases: &str, fits: impl Fn(&str) -> bool) -> bool {
    phrases.split('|').filter(|phrase| !phrase.is_empty()).any(fits)
}
