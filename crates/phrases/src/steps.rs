//! Splits a request by its structure: lists, and words such as "and then".

/// Limits the steps of a plan; a longer list is not one of things to do now.
const MAX_STEP_COUNT: usize = 12;

/// Lists the separators of two steps in a sentence, longest first.
const SEPARATORS: [&str; 18] = [
    ", and also ",
    " and also ",
    "; also ",
    ". also ",
    ", and after that ",
    " and after that ",
    ", after that ",
    ". after that ",
    "; after that ",
    ", and then ",
    " and then ",
    "; then ",
    ". then ",
    ", then ",
    ", finally ",
    " and finally ",
    ". finally, ",
    ". finally ",
];

/// Classifies the structure of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestStructure<'a> {
    /// One request, as far as can be seen.
    One,
    /// A numbered or bulleted list of things to do.
    List(Vec<&'a str>),
    /// Parts with words such as "and then" between them. The word "then" has many other uses.
    Sequence(Vec<&'a str>),
    /// A list, but what stands around it says something about it, or it is too long: not things to
    /// do one after the other.
    OtherList,
}

impl<'a> RequestStructure<'a> {
    /// Returns the structure of a text. Every step is a part of it.
    pub fn of(words: &'a str) -> Self {
        let items = words
            .lines()
            .filter_map(parse_list_item)
            .map(strip_ordinal)
            .filter(|step| !step.is_empty());
        let items: Vec<&str> = items.collect();
        if items.len() > 1 {
            let plain = is_only_a_list(words) && items.len() <= MAX_STEP_COUNT;
            return if plain { Self::List(items) } else { Self::OtherList };
        }
        let parts = split_sentence(words);
        if (2..=MAX_STEP_COUNT).contains(&parts.len()) { Self::Sequence(parts) } else { Self::One }
    }

    /// Returns the steps, if there are several.
    pub fn steps(self) -> Vec<&'a str> {
        match self {
            Self::List(steps) | Self::Sequence(steps) => steps,
            Self::One | Self::OtherList => Vec::new(),
        }
    }
}

/// Returns the parts of a text that says how many there are: "2 things: the size of a.txt, and docs".
pub fn split_counted(text: &str) -> Option<Vec<&str>> {
    const THINGS: [&str; 8] =
        ["things", "questions", "requests", "tasks", "favours", "favors", "steps", "jobs"];
    const COUNTS: [&str; 4] = ["two", "three", "four", "five"];
    let (lead, rest) = text.split_once(':')?;
    let lead = lead.to_lowercase();
    let words: Vec<&str> = lead.split_whitespace().collect();
    let at = words.iter().position(|word| THINGS.contains(word)).filter(|_| words.len() <= 6)?;
    let said = *words.get(at.checked_sub(1)?)?;
    let count = match COUNTS.iter().position(|word| *word == said) {
        Some(at) => at + 2,
        None => said.parse().ok()?,
    };
    if rest.contains(['"', '`', '“']) {
        return None;
    }
    let split = |separators: &[&str]| -> Vec<&'_ str> {
        let mut parts = vec![rest];
        for separator in separators {
            parts = parts.into_iter().flat_map(|part| part.split(separator)).collect();
        }
        let parts = parts.into_iter().map(|part| part.trim().trim_end_matches(['.', ',']));
        parts.filter(|part| !part.is_empty()).collect()
    };
    [&["; and ", "; ", "\n"][..], &[", and ", ", "], &[", and ", ", ", " and "]]
        .into_iter()
        .map(split)
        .find(|parts| parts.len() == count && count > 1)
}

/// Tells whether the text around a list says no more than "do this".
fn is_only_a_list(words: &str) -> bool {
    const NEUTRAL: [&str; 22] = [
        "please",
        "do",
        "this",
        "these",
        "the",
        "following",
        "steps",
        "things",
        "tasks",
        "now",
        "in",
        "order",
        "for",
        "me",
        "can",
        "could",
        "you",
        "i",
        "need",
        "want",
        "to",
        "todo",
    ];
    let around = words.lines().filter(|line| parse_list_item(line).is_none());
    let mut around = around.flat_map(|line| line.split(|c: char| !c.is_alphanumeric()));
    let neutral = |word: &str| NEUTRAL.iter().any(|known| known.eq_ignore_ascii_case(word));
    around.all(|word| word.is_empty() || neutral(word))
}

/// Tells whether the text before a list negates it.
pub fn is_negated(words: &str) -> bool {
    let lead = words.lines().take_while(|line| parse_list_item(line).is_none());
    let mut lead = lead.flat_map(|line| line.split(|c: char| c.is_whitespace() || c == ','));
    let against = ["not", "don't", "dont", "never", "without", "nothing", "none", "stop", "avoid"];
    lead.any(|word| against.iter().any(|no| no.eq_ignore_ascii_case(word)))
}

fn parse_list_item(line: &str) -> Option<&str> {
    let line = line.trim();
    if let Some(rest) = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")) {
        return Some(rest);
    }
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let marked = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "));
    marked.filter(|_| rest.len() < line.len())
}

/// Splits a sentence into steps. Quotations are not split.
fn split_sentence(words: &str) -> Vec<&str> {
    let lower = words.to_ascii_lowercase();
    let mut found = Vec::new();
    let (mut start, mut at) = (0, 0);
    let mut quote = None;
    while let Some(c) = words[at..].chars().next() {
        match quote {
            Some(open) if c == open => quote = None,
            None if matches!(c, '"' | '`') => quote = Some(c),
            None => {
                if let Some(length) = reminder_joint(&lower, start, at) {
                    found.push(&words[start..at]);
                    start = at + length;
                    at = start;
                    continue;
                }
                if let Some(separator) = SEPARATORS.iter().find(|s| lower[at..].starts_with(**s)) {
                    found.push(&words[start..at]);
                    start = at + separator.len();
                    at = start;
                    continue;
                }
            }
            Some(_) => {}
        }
        at += c.len_utf8();
    }
    found.push(&words[start..]);
    let steps: Vec<&str> =
        found.into_iter().map(strip_ordinal).filter(|step| !step.is_empty()).collect();
    let told = steps.iter().skip(1).any(|step| is_narrative(step) || is_end_of_input(step));
    if steps.len() > 1 && !told { steps } else { Vec::new() }
}

/// Returns the length of "and" between something to remember and a reminder: "remember that …, and remind me".
fn reminder_joint(lower: &str, start: usize, at: usize) -> Option<usize> {
    const REMEMBERS: [&str; 6] = [
        "remember that ",
        "remember my ",
        "remember our ",
        "remember the ",
        "keep in mind that ",
        "note that ",
    ];
    let joint = [", and ", " and ", ". ", ", "].into_iter().find(|joint| {
        lower[at..].strip_prefix(joint).is_some_and(|rest| rest.starts_with("remind me "))
    })?;
    REMEMBERS.iter().any(|words| lower[start..at].contains(words)).then_some(joint.len())
}

/// Tells whether a step only ends what the one before types: "then enter", "and then be submitted".
fn is_end_of_input(step: &str) -> bool {
    const ENDS: [&str; 12] = [
        "enter",
        "press enter",
        "hit enter",
        "return",
        "submit",
        "submit it",
        "submit that",
        "send it",
        "press return",
        "hit return",
        "be submitted",
        "submit the form",
    ];
    let step = step.trim_end_matches(['.', '!', ' ']);
    ENDS.iter().any(|end| end.eq_ignore_ascii_case(step))
}

/// Tells whether a text reports events rather than asks for them: "…, then a cow came".
fn is_narrative(step: &str) -> bool {
    const SUBJECTS: [&str; 18] = [
        "a", "an", "the", "i", "we", "you", "he", "she", "it", "they", "my", "our", "your", "his",
        "her", "their", "this", "there",
    ];
    let first = step.split_whitespace().next().unwrap_or_default();
    SUBJECTS.iter().any(|subject| subject.eq_ignore_ascii_case(first))
}

/// Returns a step without its ordinal words.
fn strip_ordinal(step: &str) -> &str {
    let mut step = step.trim().trim_end_matches([',', ';']);
    for word in ["first", "second", "third", "then", "next", "finally", "please", "and"] {
        let begins = step.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word));
        if begins && let Some(rest) = step[word.len()..].strip_prefix([' ', ',', ':']) {
            step = rest.trim_start();
        }
    }
    step
}

#[cfg(test)]
mod tests;
