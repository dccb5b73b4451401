//! Finds the arguments of a call: parts of the user's own text, numbers in it, and choices. Nothing
//! else can become an argument.

mod argument;
mod place;
mod refine;

use std::collections::BTreeMap;

use lango_tool::ToolDeclaration;

use super::amounts::{NumberInText, find_numbers};
use super::question::{ParameterQuestion, as_words, question_name};
use super::reading::{RequestReader, TextAnswer};
use super::schema::{Parameter, ValueKind, read_parameters};
pub(crate) use argument::{Argument, to_json};
pub(crate) use lango_phrases::quotations::find_quotations;
pub(crate) use place::clean_span;
use place::{ShortenedText, locate_value};

/// Holds the arguments that were found for a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FilledArguments {
    pub(crate) arguments: BTreeMap<String, Argument>,
    /// Required parameters that the text does not give.
    pub(crate) missing: Vec<Parameter>,
}

/// Finds the arguments of a call in the user's text. `given` holds answers to earlier questions; of
/// several answers about a parameter the last one counts.
pub(crate) fn fill_arguments(
    reader: &RequestReader,
    tool: &ToolDeclaration,
    words: &str,
    given: &[(String, String)],
) -> FilledArguments {
    let asked: Vec<Parameter> = read_parameters(tool)
        .into_iter()
        .filter(|parameter| parameter.kind != ValueKind::Other || parameter.required)
        .collect();
    let has_numbers = !find_numbers(words).is_empty();
    let asked_about = |parameter: &Parameter| {
        // A text without a number has no value for these.
        has_numbers || !matches!(parameter.kind, ValueKind::Integer | ValueKind::Number)
    };
    let question = |parameter: &Parameter| {
        ParameterQuestion::about(question_name(tool), &as_trained(reader, tool, parameter))
    };
    let questions: Vec<ParameterQuestion> =
        asked.iter().filter(|parameter| asked_about(parameter)).map(question).collect();
    let said = UserText::of(reader, words);
    let mut answers = said.answer_questions(reader, &questions).into_iter();
    let mut arguments = BTreeMap::new();
    let mut missing = Vec::new();
    for parameter in asked {
        let answer = asked_about(&parameter).then(|| answers.next()).flatten();
        let answer = answer.unwrap_or(TextAnswer::Nothing);
        let told = given.iter().rev().find(|(name, _)| *name == parameter.name);
        let found = match told {
            Some((_, text)) if parameter.kind == ValueKind::Text => {
                ParameterValue::of(extract_text(reader, &question(&parameter), text))
            }
            Some((_, text)) => ParameterValue::of(convert_answer(
                &parameter,
                &TextAnswer::Span(0..text.len()),
                text,
            )),
            None => said.find_value(&parameter, &answer),
        };
        match found {
            ParameterValue::Given(value) => {
                arguments.insert(parameter.name, value);
            }
            ParameterValue::Half => missing.push(parameter),
            ParameterValue::Nothing if parameter.required => missing.push(parameter),
            ParameterValue::Nothing => {}
        }
    }
    refine::refine(&tool.name, words, &mut arguments);
    FilledArguments { arguments, missing }
}

/// Says what the text gives for a parameter.
enum ParameterValue {
    Given(Argument),
    /// Something, but it may be only a part of what was meant.
    Half,
    Nothing,
}

impl ParameterValue {
    fn of(value: Option<Argument>) -> Self {
        value.map_or(Self::Nothing, Self::Given)
    }
}

/// Holds the user's text, as far as the model can read it.
struct UserText<'a> {
    words: &'a str,
    read: ShortenedText,
    /// True if a part of the text was not read.
    is_long: bool,
}

impl<'a> UserText<'a> {
    fn of(reader: &RequestReader, words: &'a str) -> Self {
        if reader.can_read_all(words) {
            return Self { words, read: ShortenedText::unchanged(words), is_long: false };
        }
        let read = ShortenedText::of(words);
        let is_long = !reader.can_read_all(&read.text);
        Self { words, read, is_long }
    }

    /// Returns the answers to questions, as parts of the original text.
    fn answer_questions(
        &self,
        reader: &RequestReader,
        questions: &[ParameterQuestion],
    ) -> Vec<TextAnswer> {
        let original = |answer| match answer {
            TextAnswer::Span(span) => TextAnswer::Span(self.read.original(&span)),
            TextAnswer::Cut(span) => TextAnswer::Cut(self.read.original(&span)),
            other => other,
        };
        reader.answer_questions(&self.read.text, questions).into_iter().map(original).collect()
    }

    fn find_value(&self, parameter: &Parameter, answer: &TextAnswer) -> ParameterValue {
        if matches!(parameter.kind, ValueKind::Text | ValueKind::List)
            && let TextAnswer::Span(span) | TextAnswer::Cut(span) = answer
        {
            let is_cut = matches!(answer, TextAnswer::Cut(_));
            let is_quoted = parameter.kind == ValueKind::Text
                && locate_value(self.words, span.clone()).is_quoted;
            // The unread part may continue the value, or hold the real one.
            if !is_quoted && (is_cut || self.is_long && parameter.required) {
                return ParameterValue::Half;
            }
            return ParameterValue::of(convert_answer(
                parameter,
                &TextAnswer::Span(span.clone()),
                self.words,
            ));
        }
        ParameterValue::of(convert_answer(parameter, answer, self.words))
    }
}

/// Extracts a text from an answer: "it's notes.txt please" is more than the name.
fn extract_text(
    reader: &RequestReader,
    question: &ParameterQuestion,
    answer: &str,
) -> Option<Argument> {
    let is_sentence = answer.contains(' ') && !answer.contains('\n') && reader.can_read_all(answer);
    let found =
        is_sentence.then(|| reader.answer_questions(answer, std::slice::from_ref(question)).pop());
    let range = match found.flatten() {
        Some(TextAnswer::Span(span)) => locate_value(answer, span).range,
        _ => 0..0,
    };
    let text = match answer[range].trim() {
        "" => &answer[clean_span(answer, 0..answer.len())],
        found => found,
    };
    (!text.is_empty()).then(|| Argument::Text(text.to_owned()))
}

/// Returns the parameter as it was in the training, where the tool is a known one.
fn as_trained(reader: &RequestReader, tool: &ToolDeclaration, parameter: &Parameter) -> Parameter {
    let known = reader
        .trained_tools
        .find(&tool.name)
        .and_then(|(_, known)| known.parameters.iter().find(|known| known.name == parameter.name));
    // The choices are those that the tool offers now.
    match known {
        Some(known) if !matches!(known.kind, ValueKind::Choice(_)) => known.clone(),
        Some(known) => Parameter { kind: parameter.kind.clone(), ..known.clone() },
        None => parameter.clone(),
    }
}

/// Returns a value of the parameter's kind. Everything comes from `words`, except for the offered
/// choices.
fn convert_answer(parameter: &Parameter, answer: &TextAnswer, words: &str) -> Option<Argument> {
    match (&parameter.kind, answer) {
        (ValueKind::Choice(choices), TextAnswer::Choice(at)) => {
            choices.get(*at).cloned().map(Argument::Text)
        }
        (ValueKind::Choice(choices), TextAnswer::Span(span)) => {
            let said = &words[span.clone()];
            let whole = &words[clean_span(words, span.clone())];
            match_choice(choices, whole).or_else(|| find_choice(choices, said)).map(Argument::Text)
        }
        (ValueKind::Choice(choices), TextAnswer::Unread) => {
            find_choice(choices, words).map(Argument::Text)
        }
        (ValueKind::Boolean, TextAnswer::Choice(_)) => Some(Argument::Boolean(true)),
        (ValueKind::Boolean, TextAnswer::Span(span)) => {
            parse_yes_or_no(&words[clean_span(words, span.clone())]).map(Argument::Boolean)
        }
        (ValueKind::Integer | ValueKind::Number, TextAnswer::Span(span)) => {
            let inside = |a: &NumberInText| a.range.start < span.end && a.range.end > span.start;
            let amount = find_numbers(words).into_iter().find(inside)?;
            number_to_json(
                amount.value_for_parameter(&parameter.name),
                parameter.kind == ValueKind::Integer,
            )
        }
        (ValueKind::Text, TextAnswer::Span(span)) => {
            let text = &words[locate_value(words, span.clone()).range];
            (!text.trim().is_empty()).then(|| Argument::Text(text.to_owned()))
        }
        (ValueKind::List, TextAnswer::Span(span)) => {
            let parts = split_list(&words[clean_span(words, span.clone())]);
            (!parts.is_empty()).then_some(Argument::List(parts))
        }
        _ => None,
    }
}

fn number_to_json(value: f64, whole: bool) -> Option<Argument> {
    const MAX_INTEGER: f64 = 9e15;
    if value.fract() == 0.0 && value.abs() < MAX_INTEGER {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
        return Some(Argument::Integer(value as i64));
    }
    (!whole && value.is_finite()).then_some(Argument::Number(value))
}

fn parse_yes_or_no(said: &str) -> Option<bool> {
    let said = said.to_lowercase();
    let polite = [" please", " thanks", " thank you"];
    let bare = polite.iter().find_map(|end| said.strip_suffix(end)).unwrap_or(&said);
    match bare.trim_end_matches([',', '.', '!']) {
        "yes" | "y" | "yep" | "yeah" | "true" | "on" | "sure" | "ok" | "okay" => Some(true),
        "no" | "n" | "nope" | "false" | "off" => Some(false),
        _ => None,
    }
}

/// Returns a name as it may be spoken: in lower case, and with blanks.
fn to_spoken_form(name: &str) -> String {
    as_words(name).to_lowercase()
}

/// Returns the choice that equals the text. Of two that differ in case alone, the exact one wins.
fn match_choice(choices: &[String], said: &str) -> Option<String> {
    let alike = || choices.iter().find(|choice| to_spoken_form(choice) == to_spoken_form(said));
    choices.iter().find(|choice| *choice == said).or_else(alike).cloned()
}

/// Returns the only choice that occurs in the text as whole words. A longer one counts more than a
/// part of it.
fn find_choice(choices: &[String], words: &str) -> Option<String> {
    let words = to_spoken_form(words);
    let is_alone = |start: usize, end: usize| {
        !words[..start].ends_with(char::is_alphanumeric)
            && !words[end..].starts_with(char::is_alphanumeric)
    };
    let mut found: Vec<(&String, usize, usize)> = Vec::new();
    for choice in choices {
        let said = to_spoken_form(choice);
        let places =
            words.match_indices(said.as_str()).map(|(at, _)| (choice, at, at + said.len()));
        found
            .extend(places.filter(|(_, start, end)| start < end && is_alone(*start, *end)).take(8));
    }
    let is_part = |(_, start, end): &(&String, usize, usize)| {
        found.iter().any(|(_, s, e)| s <= start && end <= e && e - s > end - start)
    };
    let mut whole = found.iter().filter(|place| !is_part(place)).map(|(choice, ..)| *choice);
    let first = whole.next()?;
    whole.all(|other| other == first).then(|| first.clone())
}

/// Splits "a, b and c" into its parts.
fn split_list(text: &str) -> Vec<String> {
    let text = text.replace(" and ", ",").replace(" or ", ",");
    let parts = text.split(',').map(|part| part.trim_matches([' ', '"', '\'', '`']));
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
