//! What can be split by structure: lists, and words such as "and then".

/// A plan that is longer is not one that was written as a list of things to do now.
const MOST_STEPS: usize = 12;

/// What separates two steps of a sentence, longest first.
const SEPARATORS: [&str; 14] = [
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

/// The steps of a request, each a part of its words; empty if it has no such structure.
pub(crate) fn steps(words: &str) -> Vec<&str> {
    let listed = listed(words);
    let found = if listed.len() > 1 { listed } else { in_a_sentence(words) };
    if (2..=MOST_STEPS).contains(&found.len()) { found } else { Vec::new() }
}

/// The lines of a numbered or bulleted list.
fn listed(words: &str) -> Vec<&str> {
    words.lines().filter_map(item).map(trimmed).filter(|step| !step.is_empty()).collect()
}

fn item(line: &str) -> Option<&str> {
    let line = line.trim();
    if let Some(rest) = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")) {
        return Some(rest);
    }
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let marked = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "));
    marked.filter(|_| rest.len() < line.len())
}

/// Steps with words between them. What stands in quotes is not looked into.
fn in_a_sentence(words: &str) -> Vec<&str> {
    let lower = words.to_ascii_lowercase();
    let mut found = Vec::new();
    let (mut start, mut at) = (0, 0);
    let mut quote = None;
    while let Some(c) = words[at..].chars().next() {
        match quote {
            Some(open) if c == open => quote = None,
            None if matches!(c, '"' | '`') => quote = Some(c),
            None => {
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
    let steps: Vec<&str> = found.into_iter().map(trimmed).filter(|step| !step.is_empty()).collect();
    let told = steps.iter().skip(1).any(|step| tells(step));
    if steps.len() > 1 && !told { steps } else { Vec::new() }
}

/// Whether words tell what happened rather than what to do: "…, then a cow came".
fn tells(step: &str) -> bool {
    const SUBJECTS: [&str; 18] = [
        "a", "an", "the", "i", "we", "you", "he", "she", "it", "they", "my", "our", "your", "his",
        "her", "their", "this", "there",
    ];
    let first = step.split_whitespace().next().unwrap_or_default();
    SUBJECTS.iter().any(|subject| subject.eq_ignore_ascii_case(first))
}

/// A step without the words that only say which it is.
fn trimmed(step: &str) -> &str {
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
mod tests {
    use super::*;

    #[test]
    fn lists_and_sequences_are_split() {
        assert_eq!(
            steps("First list the files in src, then read README.md and finally make a folder x"),
            ["list the files in src", "read README.md", "make a folder x"]
        );
        assert_eq!(
            steps("Do this:\n1. read a.txt\n2) delete b.txt\n"),
            ["read a.txt", "delete b.txt"]
        );
        assert_eq!(steps("- one\n- two"), ["one", "two"]);
    }

    #[test]
    fn what_has_no_structure_is_left_alone() {
        assert!(steps("plan my wedding").is_empty());
        assert!(steps("run \"make and then make test\"").is_empty());
        assert!(steps("read a and b").is_empty());
        assert!(steps("I ran it at noon, then a cow happened").is_empty());
        assert!(steps("1. only one").is_empty());
    }

    #[test]
    fn every_step_is_a_part_of_the_words() {
        let words = "Ärger: öffne a.txt, then ß, and then “x, then y”";
        for step in steps(words) {
            assert!(words.contains(step));
        }
    }
}
