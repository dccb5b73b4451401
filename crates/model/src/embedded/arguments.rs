//! The arguments of a call: parts of the user's own words, numbers that stand in them, and choices.
//! Nothing else can become one.

use std::ops::Range;

use lango_tool::ToolDeclaration;
use serde_json::{Map, Value};

use super::amounts::{Amount, amounts};
use super::question::{Question, asked_name};
use super::reading::{Answer, Reader};
use super::schema::{Kind, Parameter, parameters};

/// What was found for a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Filled {
    pub(crate) arguments: Map<String, Value>,
    /// Required parameters that the words do not give.
    pub(crate) missing: Vec<Parameter>,
}

/// Finds the arguments of a call in the user's words. `given` were told in answer to a question.
pub(crate) fn fill(
    reader: &Reader,
    tool: &ToolDeclaration,
    words: &str,
    given: &[(String, String)],
) -> Filled {
    let asked: Vec<Parameter> = parameters(tool)
        .into_iter()
        .filter(|parameter| parameter.kind != Kind::Other || parameter.required)
        .collect();
    let has_numbers = !amounts(words).is_empty();
    let asked_about = |parameter: &Parameter| {
        // Without a number in the words there is none to be found.
        has_numbers || !matches!(parameter.kind, Kind::Integer | Kind::Number)
    };
    let questions: Vec<Question> = asked
        .iter()
        .filter(|parameter| asked_about(parameter))
        .map(|parameter| Question::about(asked_name(tool), &as_trained(reader, tool, parameter)))
        .collect();
    let mut answers = reader.answers(words, &questions).into_iter();
    let mut arguments = Map::new();
    let mut missing = Vec::new();
    for parameter in asked {
        let answer = asked_about(&parameter).then(|| answers.next()).flatten();
        let answer = answer.unwrap_or(Answer::Nothing);
        let told = given.iter().find(|(name, _)| *name == parameter.name);
        let value = match told {
            Some((_, text)) => value(&parameter, &Answer::Span(0..text.len()), text),
            None => value(&parameter, &answer, words),
        };
        match value {
            Some(value) => {
                arguments.insert(parameter.name, value);
            }
            None if parameter.required => missing.push(parameter),
            None => {}
        }
    }
    Filled { arguments, missing }
}

/// The parameter with the words of the training, where the tool is a known one.
fn as_trained(reader: &Reader, tool: &ToolDeclaration, parameter: &Parameter) -> Parameter {
    let known = reader
        .catalogue
        .find(&tool.name)
        .and_then(|(_, known)| known.parameters.iter().find(|known| known.name == parameter.name));
    // What can be chosen is decided by what is offered now.
    match known {
        Some(known) if !matches!(known.kind, Kind::Choice(_)) => known.clone(),
        Some(known) => Parameter { kind: parameter.kind.clone(), ..known.clone() },
        None => parameter.clone(),
    }
}

/// A value of the parameter's kind. Everything comes from `words`, except for the offered choices.
fn value(parameter: &Parameter, answer: &Answer, words: &str) -> Option<Value> {
    match (&parameter.kind, answer) {
        (Kind::Choice(choices), Answer::Choice(at)) => choices.get(*at).cloned().map(Value::String),
        (Kind::Choice(choices), Answer::Span(span)) => {
            let said = &words[cleaned(words, span.clone())];
            let meant = choices.iter().find(|choice| choice.eq_ignore_ascii_case(said))?;
            Some(Value::String(meant.clone()))
        }
        (Kind::Boolean, Answer::Choice(_)) => Some(Value::Bool(true)),
        (Kind::Boolean, Answer::Span(span)) => match words[span.clone()].trim() {
            "yes" | "true" => Some(Value::Bool(true)),
            "no" | "false" => Some(Value::Bool(false)),
            _ => None,
        },
        (Kind::Integer | Kind::Number, Answer::Span(span)) => {
            let inside = |a: &Amount| a.place.start < span.end && a.place.end > span.start;
            let amount = amounts(words).into_iter().find(inside)?;
            number(amount.for_parameter(&parameter.name), parameter.kind == Kind::Integer)
        }
        (Kind::Text, Answer::Span(span)) => {
            let text = &words[cleaned(words, span.clone())];
            (!text.is_empty()).then(|| Value::String(text.to_owned()))
        }
        (Kind::List, Answer::Span(span)) => {
            let parts = listed(&words[cleaned(words, span.clone())]);
            (!parts.is_empty()).then(|| parts.into_iter().map(Value::String).collect())
        }
        _ => None,
    }
}

fn number(value: f64, whole: bool) -> Option<Value> {
    const LARGEST: f64 = 9e15;
    if value.fract() == 0.0 && value.abs() < LARGEST {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
        return Some(Value::from(value as i64));
    }
    if whole { None } else { serde_json::Number::from_f64(value).map(Value::Number) }
}

const QUOTES: &str = "\"'`“”‘’«»";

/// A part of a text without quotes and the sentence's own punctuation around it.
pub(crate) fn cleaned(text: &str, span: Range<usize>) -> Range<usize> {
    let part = &text[span.clone()];
    let left = part.trim_start_matches(|c: char| {
        c.is_whitespace() || QUOTES.contains(c) || matches!(c, ',' | ':' | ';')
    });
    let start = span.start + part.len() - left.len();
    let mut kept = left;
    loop {
        let shorter = match kept.chars().next_back() {
            Some(last)
                if last.is_whitespace()
                    || QUOTES.contains(last)
                    || matches!(last, ',' | ';' | ':' | '!' | '?') =>
            {
                &kept[..kept.len() - last.len_utf8()]
            }
            // A name may be made of dots, and end with them.
            Some('.') if kept != "." && !kept.ends_with("..") && !kept.ends_with("/.") => {
                &kept[..kept.len() - 1]
            }
            _ => break,
        };
        kept = shorter;
    }
    start..start + kept.len()
}

/// The parts of "a, b and c".
fn listed(text: &str) -> Vec<String> {
    let text = text.replace(" and ", ",").replace(" or ", ",");
    let parts = text.split(',').map(|part| part.trim_matches([' ', '"', '\'', '`']));
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn punctuation_of_the_sentence_is_not_part_of_a_value() {
        let of = |text: &str| text[cleaned(text, 0..text.len())].to_owned();
        for (text, expected) in [
            ("`notes.txt`.", "notes.txt"),
            ("\"a b\"?", "a b"),
            (".", "."),
            ("src/.", "src/."),
            ("..", ".."),
            ("v1.2.", "v1.2"),
            (" ‘x’, ", "x"),
            ("?!", ""),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
    }

    #[test]
    fn lists_are_taken_apart() {
        assert_eq!(listed("a, `b` and c"), ["a", "b", "c"]);
    }
}
