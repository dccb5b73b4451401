//! Compares the arguments of a call with those of a label.

use std::collections::{BTreeMap, BTreeSet};

use super::arguments::{Argument, Arguments};

/// Tells whether all arguments are present, none is extra, and all are equal: texts without regard
/// to case and to white space around them, lists without regard to order. A null value counts as
/// absent.
pub(super) fn are_equal(wanted: &Arguments, got: &Arguments) -> bool {
    normalise_arguments(wanted) == normalise_arguments(got)
}

/// Returns the share of equal words, from 0 to 1: for each parameter that either side has the F1 of
/// the words, and of these the mean. Nothing against nothing is 1.
pub(super) fn word_overlap(wanted: &Arguments, got: &Arguments) -> f64 {
    let (wanted, got) = (normalise_arguments(wanted), normalise_arguments(got));
    let names: BTreeSet<&String> = wanted.keys().chain(got.keys()).collect();
    let parts = names.iter().map(|name| match (wanted.get(*name), got.get(*name)) {
        (Some(wanted), Some(got)) => f1_score(&count_words(wanted), &count_words(got)),
        _ => 0.0,
    });
    match u32::try_from(names.len()) {
        Ok(0) => 1.0,
        count => parts.sum::<f64>() / f64::from(count.unwrap_or(u32::MAX)),
    }
}

/// Normalizes arguments for the comparison.
fn normalise_arguments(arguments: &Arguments) -> BTreeMap<String, Argument> {
    let there = arguments.0.iter().filter(|(_, value)| **value != Argument::Null);
    there.map(|(name, value)| (name.clone(), fold_value(value))).collect()
}

fn fold_value(value: &Argument) -> Argument {
    match value {
        Argument::Text(text) => Argument::Text(text.trim().to_lowercase()),
        // 5 and 5.0 are the same number.
        #[expect(clippy::cast_precision_loss, reason = "no label has a number of 16 digits")]
        Argument::Integer(number) => Argument::Number(*number as f64),
        Argument::List(values) => {
            let mut values: Vec<Argument> = values.iter().map(fold_value).collect();
            values.sort_by_key(Argument::to_string);
            values.dedup();
            Argument::List(values)
        }
        Argument::Object(fields) => Argument::Object(Arguments(normalise_arguments(fields))),
        Argument::Null | Argument::Boolean(_) | Argument::Number(_) => value.clone(),
    }
}

/// Counts the words of a value. A text without a letter or digit is one word.
fn count_words(value: &Argument) -> BTreeMap<String, u32> {
    let text = match value {
        Argument::Text(text) => text.clone(),
        Argument::List(values) => {
            let mut all = BTreeMap::new();
            for (word, count) in values.iter().flat_map(count_words) {
                *all.entry(word).or_default() += count;
            }
            return all;
        }
        // A point or a minus is a part of a number.
        other => return BTreeMap::from([(other.to_string(), 1)]),
    };
    let mut all = BTreeMap::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        *all.entry(word.to_owned()).or_default() += 1;
    }
    if all.is_empty() && !text.is_empty() {
        all.insert(text, 1);
    }
    all
}

/// Returns the F1 score: twice the common words, divided by the words of both sides.
fn f1_score(wanted: &BTreeMap<String, u32>, got: &BTreeMap<String, u32>) -> f64 {
    let total: u32 = wanted.values().chain(got.values()).sum();
    if total == 0 {
        return 1.0;
    }
    let common = wanted.iter().map(|(word, count)| got.get(word).map_or(0, |c| *c.min(count)));
    f64::from(2 * common.sum::<u32>()) / f64::from(total)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn arguments(value: Value) -> Arguments {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn equal_is_what_means_the_same() {
        let equal = |a, b| are_equal(&arguments(a), &arguments(b));
        assert!(equal(json!({"path": "A.txt "}), json!({"path": "a.TXT"})));
        assert!(equal(json!({"n": 5}), json!({"n": 5.0})));
        assert!(equal(json!({"tags": ["b", "A"]}), json!({"tags": ["a", "B", "b"]})));
        assert!(equal(json!({}), json!({"limit": null})));
        assert!(!equal(json!({"n": 5}), json!({"n": "5"})));
        assert!(!equal(json!({"recursive": true}), json!({"recursive": false})));
        assert!(!equal(json!({"path": "a"}), json!({"path": "a", "limit": 1})));
        assert!(!equal(json!({"path": "a", "limit": 1}), json!({"path": "a"})));
    }

    #[test]
    fn overlap_is_the_mean_over_all_parameters_of_either_side() {
        let of = |a, b| word_overlap(&arguments(a), &arguments(b));
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        near(of(json!({}), json!({})), 1.0);
        near(of(json!({"path": "."}), json!({"path": "."})), 1.0);
        near(of(json!({"path": "."}), json!({"path": "/"})), 0.0);
        // Two of three words on one side, two of two on the other.
        near(of(json!({"q": "the red house"}), json!({"q": "red house"})), 0.8);
        near(of(json!({"q": "red", "n": 3}), json!({"q": "red"})), 0.5);
        near(of(json!({"tags": ["a", "b"]}), json!({"tags": ["b", "a"]})), 1.0);
        near(of(json!({"n": -1.5}), json!({"n": 1.5})), 0.0);
    }
}
