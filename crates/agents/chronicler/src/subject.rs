//! Decides whether a statement supersedes an earlier one: same subject, another value.
//!
//! It is careful on purpose: an outdated memory costs a line in a prompt, but a wrongly superseded
//! one is lost to the user. The old one is kept and linked either way.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use lango_text::{split_words, word_coverage};
use regex::Regex;

use crate::clause::is_negative;
use crate::gate::is_duplicate;
use crate::pattern::compile_pattern;
use crate::text::{is_stop_word, rare_words, significant_words};

/// The kind of claim about a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClaimKind {
    Name,
    Home,
    Employer,
    Is,
    Called,
    Uses,
    Prefers,
}

/// Represents a parsed statement.
#[derive(Debug)]
struct SubjectClaim {
    relation: ClaimKind,
    subject: BTreeSet<String>,
    value: BTreeSet<String>,
}

macro_rules! patterns {
    ($($name:ident = $text:expr;)*) => {
        $(static $name: LazyLock<Regex> = LazyLock::new(|| compile_pattern($text));)*
    };
}

patterns! {
    NAME = r"\b(?:my (?:full |first )?name is|i go by) (.+)";
    NICKNAME = r"\bcall me (.+)";
    HOME = r"\bi(?: now| currently| have| 've|'ve| just| recently| finally| no longer)* (?:lives?|am living|am based|'m based|reside|resides|moved(?: from \w+)?|relocated(?: from \w+)?) (?:in|to|at) (.+)";
    EMPLOYER = r"\bi(?: now| currently| have|'ve| just| recently)* (?:works? (?:at|for)|joined|started (?:at|working (?:at|for))|am employed (?:at|by)|changed jobs? to) (.+)|\bmy (?:new )?employer is(?: now)? (.+)";
    PREFERS = r"\bi(?: now| really| strongly| generally| usually| mostly| much| would)* (?:prefers?|likes?|loves?|wants?|always uses?) (.+)";
    USES = r"^(.*?)\b(?:uses?|using|runs? on|is written in|is hosted on|deploys? (?:to|on)|switched (?:from .+? )?to|migrated (?:from .+? )?to|moved (?:from .+? )?to|standardi[sz]ed on|adopted|chose|picked|settled on|decided on) (.+)";
    CALLED = r"^(.*?)\b(?:is|are) (?:called|named) (.+)";
    IS = r"^(.*?)\b(?:is now|are now|will now be|is|are|was (?:moved|changed|postponed|renamed) to|has (?:moved|changed|been (?:moved|changed|postponed|renamed)) to|have moved to|moved to|got moved to|changed to|postponed to|brought forward to|will be|starts|begins|lives in|runs on) (.+)";
    CHANGING = r"\b(?:now|moved|changed|switched|migrated|instead|no longer|any ?more|from now on|not .+ but|renamed|replaced|postponed|brought forward|actually|correction|update|since|new|these days|relocated|left|dropped)\b";
    REPLACED = r"\b(?:instead of|rather than|no longer(?: (?:use|like|want|prefer|live in|work (?:at|for)|eat|drink|in|on|at))?|not any ?more|replaced|dropped|switched from|migrated from|moved (?:away )?from|changed from|left|stopped (?:using|eating|drinking)|over|not) ([\w][\w .+#/-]*?)(?: (?:to|with|by|for|in favou?r of|but|any ?more)\b|[,.;!]|$)";
    ADDRESSED = r"\b(?:the )?user(?:'s)?\b";
    OPENING = r"^(?:please |and |also |ok,? |btw,? |by the way,? |actually,? |correction:? |update:? |from now on,? |remember that |note that |fyi,? )+";
}

/// Lists the stems of subjects that have one value at a time.
const SINGLE_VALUED_SUBJECTS: &[&str] = &[
    "favourit",
    "favorit",
    "name",
    "address",
    "birthday",
    "email",
    "phon",
    "deadlin",
    "port",
    "version",
    "budget",
    "siz",
    "titl",
    "rol",
    "timezon",
    "languag",
    "colour",
    "color",
    "age",
    "editor",
    "shell",
    "employer",
    "manager",
    "boss",
    "rent",
    "salary",
    "capital",
    "due",
    "date",
    "launch",
    "releas",
    "meet",
    "standup",
    "appointment",
    "flight",
    "exam",
    "host",
    "domain",
    "url",
    "branch",
    "price",
    "limit",
    "number",
    "score",
    "status",
    "plan",
    "owner",
    "lead",
    "provider",
    "bank",
    "gym",
    "doctor",
    "dentist",
    "car",
    "office",
    "room",
    "code",
    "word",
    "theme",
    "font",
    "keyboard",
    "os",
    "laptop",
    "insurance",
    "stack",
    "databas",
    "framework",
];

/// Returns a statement in the form that is compared: lower case, the user as "I", without opening
/// words.
fn canonicalize(text: &str) -> String {
    let lower = text.to_lowercase().replace('’', "'");
    let first_person =
        |found: &regex::Captures<'_>| if found[0].ends_with("'s") { "my" } else { "i" };
    let addressed = ADDRESSED.replace_all(&lower, first_person);
    OPENING.replace(&addressed, "").into_owned()
}

fn captured_groups(pattern: &LazyLock<Regex>, text: &str) -> Option<Vec<String>> {
    let captures = pattern.captures(text)?;
    Some(captures.iter().skip(1).flatten().map(|group| group.as_str().to_owned()).collect())
}

/// Splits a value from the topic after it: its time, reason or purpose.
fn split_topic(value: &str) -> (String, String) {
    static TOPIC: LazyLock<Regex> = LazyLock::new(|| {
        compile_pattern(
            r"^(.*?)\b(?:for|when|in my|in our|in the|in all|as our|as my|as the|in|over|to|instead of|rather than)\b(.*)$",
        )
    });
    match captured_groups(&TOPIC, value) {
        Some(parts) if parts.len() == 2 && !parts[0].trim().is_empty() => {
            (parts[0].clone(), parts[1].clone())
        }
        _ => (value.to_owned(), String::new()),
    }
}

/// Removes words of time and change, which are neither subject nor value.
fn remove_change_words(words: BTreeSet<String>) -> BTreeSet<String> {
    const CHANGE: &[&str] = &[
        "new",
        "current",
        "currently",
        "anymor",
        "actual",
        "sinc",
        "last",
        "week",
        "month",
        "recent",
        "final",
        "longer",
    ];
    words.into_iter().filter(|word| !CHANGE.contains(&word.as_str())).collect()
}

fn parse_claim(text: &str) -> Option<SubjectClaim> {
    let line = canonicalize(text);
    let only = |relation, value: &str| SubjectClaim {
        relation,
        subject: BTreeSet::new(),
        value: remove_change_words(significant_words(value)),
    };
    if let Some(parts) = captured_groups(&NAME, &line) {
        return Some(only(ClaimKind::Name, &parts[0]));
    }
    if let Some(parts) = captured_groups(&NICKNAME, &line) {
        return Some(SubjectClaim {
            subject: ["nick".to_owned()].into(),
            ..only(ClaimKind::Name, &parts[0])
        });
    }
    if let Some(parts) = captured_groups(&HOME, &line) {
        return Some(only(ClaimKind::Home, &parts[0]));
    }
    if let Some(parts) = captured_groups(&EMPLOYER, &line) {
        return Some(only(ClaimKind::Employer, &parts[0]));
    }
    if let Some(parts) = captured_groups(&PREFERS, &line) {
        let (value, topic) = split_topic(&parts[0]);
        return Some(SubjectClaim {
            subject: significant_words(&topic),
            ..only(ClaimKind::Prefers, &value)
        });
    }
    let with_subject = |relation, parts: &[String]| {
        let (value, topic) = if relation == ClaimKind::Uses {
            split_topic(&parts[1])
        } else {
            (parts[1].clone(), String::new())
        };
        let mut subject = remove_change_words(significant_words(&parts[0]));
        subject.extend(significant_words(&topic));
        SubjectClaim { relation, subject, value: remove_change_words(significant_words(&value)) }
    };
    if let Some(parts) = captured_groups(&CALLED, &line) {
        return Some(with_subject(ClaimKind::Called, &parts));
    }
    let first_is = captured_groups(&IS, &line);
    let first_uses = captured_groups(&USES, &line);
    match (first_is, first_uses) {
        (Some(is), Some(uses)) if is[0].len() < uses[0].len() => {
            Some(with_subject(ClaimKind::Is, &is))
        }
        (_, Some(uses)) => Some(with_subject(ClaimKind::Uses, &uses)),
        (Some(is), None) => Some(with_subject(ClaimKind::Is, &is)),
        (None, None) => None,
    }
}

/// Tells whether `new`, which was said later, supersedes `old`. `similarity` is their similarity in
/// meaning, if it is known.
pub(crate) fn supersedes(new: &str, old: &str, similarity: Option<f32>) -> bool {
    if is_duplicate(new, old, similarity) {
        return false;
    }
    let line = canonicalize(new);
    let changing = CHANGING.is_match(&new.to_lowercase());
    if let (Some(later), Some(earlier)) = (parse_claim(new), parse_claim(old))
        && let Some(decided) = compare(&later, &earlier, new, old, changing, similarity)
    {
        return decided;
    }
    if replaces_by_name(&line, new, old) || (changing && differ_at_the_end(new, old)) {
        return true;
    }
    // About the same subject, and said to have changed. If other names differ, it is about another
    // person.
    let (later, earlier) = (significant_words(new), significant_words(old));
    let (smaller, larger) =
        if later.len() < earlier.len() { (&later, &earlier) } else { (&earlier, &later) };
    let least = if similarity.is_some() { 0.6 } else { 0.75 };
    changing
        && word_coverage(smaller, larger) >= least
        && similarity.is_none_or(|value| value >= 0.6)
}

/// Tells whether only the last word differs: "Answer in German", "answer in French".
fn differ_at_the_end(new: &str, old: &str) -> bool {
    let ordered_words = |text: &str| -> Vec<String> {
        split_words(&canonicalize(text)).filter(|word| !is_stop_word(word)).collect()
    };
    let (later, earlier) = (ordered_words(new), ordered_words(old));
    later.len() >= 2
        && later.len() == earlier.len()
        && later[..later.len() - 1] == earlier[..earlier.len() - 1]
}

/// Compares two claims of the same kind. Returns none if they say nothing about each other.
fn compare(
    later: &SubjectClaim,
    earlier: &SubjectClaim,
    new: &str,
    old: &str,
    changing: bool,
    similarity: Option<f32>,
) -> Option<bool> {
    let family = |relation| match relation {
        // "Our CI moved to X" and "our CI is X" are about the same.
        ClaimKind::Is | ClaimKind::Uses => ClaimKind::Is,
        other => other,
    };
    if family(later.relation) != family(earlier.relation) {
        return None;
    }
    if later.value.is_empty() || earlier.value.is_empty() || later.value == earlier.value {
        return None;
    }
    match later.relation {
        ClaimKind::Name | ClaimKind::Employer | ClaimKind::Called => {
            (later.subject == earlier.subject).then_some(true)
        }
        // "I moved to Neovim" is no new home.
        ClaimKind::Home => Some(similarity.is_none_or(|value| value >= 0.12)),
        ClaimKind::Prefers => {
            if later.subject.is_empty() && earlier.subject.is_empty() {
                return Some(changing && similarity.is_none_or(|value| value >= 0.5));
            }
            // The preferred thing and the other one have changed places.
            let swapped = !later.value.is_disjoint(&earlier.subject)
                && !later.subject.is_disjoint(&earlier.value);
            let same = !later.subject.is_empty() && later.subject == earlier.subject;
            (swapped || same).then_some(true)
        }
        ClaimKind::Is | ClaimKind::Uses => {
            if later.subject.is_empty() || later.subject != earlier.subject {
                return None;
            }
            if is_negative(new) != is_negative(old) {
                return Some(true);
            }
            let single =
                later.subject.iter().any(|word| SINGLE_VALUED_SUBJECTS.contains(&word.as_str()));
            let figures =
                |text: &str| split_words(text).any(|word| word.chars().any(|c| c.is_ascii_digit()));
            let same_shape = (figures(new) && figures(old))
                || (!rare_words(new).is_empty() && !rare_words(old).is_empty() && single);
            let uses = later.relation == ClaimKind::Uses;
            Some(changing || (!uses && (single || same_shape)))
        }
    }
}

/// Handles "not X any more" and "instead of X": `old` is superseded if it makes the same kind of
/// claim about X.
fn replaces_by_name(line: &str, new: &str, old: &str) -> bool {
    let Some(replaced) = captured_groups(&REPLACED, line) else { return false };
    let (gone, before) = (significant_words(&replaced[0]), significant_words(old));
    if gone.is_empty() || !gone.is_subset(&before) || is_negative(old) {
        return false;
    }
    let same_relation = match (parse_claim(new), parse_claim(old)) {
        (Some(later), Some(earlier)) => {
            later.relation == earlier.relation && !gone.is_disjoint(&earlier.value)
        }
        _ => false,
    };
    let shared =
        significant_words(new).intersection(&before).filter(|word| !gone.contains(*word)).count();
    same_relation || shared >= 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_can_be_read() {
        for pattern in [
            &NAME, &NICKNAME, &HOME, &EMPLOYER, &PREFERS, &USES, &CALLED, &IS, &CHANGING,
            &REPLACED, &ADDRESSED, &OPENING,
        ] {
            assert!(!pattern.as_str().is_empty());
        }
    }

    #[test]
    fn a_new_value_of_the_same_subject_takes_its_place() {
        for (old, new) in [
            ("I live in Bern", "I moved to Basel"),
            ("User lives in Bern", "I've just moved to Basel last week"),
            ("I work for Siemens", "I started at Bosch"),
            ("I prefer tabs for indentation", "I prefer spaces for indentation"),
            ("I prefer tabs over spaces", "I now prefer spaces over tabs"),
            ("The deadline is 1 December", "The deadline is now 15 December"),
            ("Our staging server is on port 8080", "Our staging server is on port 9090"),
            ("My favourite colour is green", "My favourite colour is blue"),
            ("We use Jenkins for CI", "We switched to GitHub Actions for CI"),
            ("We use Jenkins for CI", "We switched from Jenkins to GitHub Actions"),
            ("My dog is called Rex", "My dog is called Bello"),
            ("From now on answer in German", "From now on answer in French"),
            ("Our CI is Jenkins", "Our CI moved to Buildkite"),
            ("I drink coffee", "I no longer drink coffee"),
        ] {
            assert!(supersedes(new, old, None), "{old} -> {new}");
        }
    }

    #[test]
    fn what_can_both_be_true_stays() {
        for (old, new) in [
            ("I live in Bern", "My sister lives in Basel"),
            ("I live in Bern", "I work for Siemens"),
            ("My sister Vreni lives in Chur", "My brother Urs lives in Thun"),
            ("We use PostgreSQL for billing", "We use Redis for sessions"),
            ("We use PostgreSQL for billing", "We use Redis for billing"),
            ("I like tea", "I like coffee"),
            ("My dog is called Rex", "My cat is called Mimi"),
            ("My dog is brown", "My dog is old"),
            ("The deadline of Atlas is 1 December", "The deadline of Borealis is 5 December"),
            ("I'm allergic to peanuts", "I'm allergic to cats"),
            ("Anna's birthday is on 3 May", "Peter's birthday is on 9 June"),
            ("I live in Bern", "I live in Bern."),
        ] {
            assert!(!supersedes(new, old, Some(0.7)), "{old} -> {new}");
        }
    }

    #[test]
    fn moving_to_a_tool_is_no_new_home() {
        assert!(!supersedes("I moved to Neovim", "I live in Bern", Some(0.05)));
    }
}
