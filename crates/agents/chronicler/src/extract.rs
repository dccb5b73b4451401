//! Extracts the user's sentences about themselves, their work or their wishes.
//!
//! It uses rules, not a model: the sentence is kept as it was said. The rules would rather miss a
//! sentence than keep one that is not meant to last; `bench/README.md` shows how often they do
//! either.

use std::sync::LazyLock;

use regex::Regex;

use crate::gate::{self, is_empty_talk};
use crate::pattern::compile_pattern;
use crate::record::{MemoryKind, Priority};
use crate::text::{find_sentences, rare_words};

/// Represents a sentence that states something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExtractedStatement {
    /// The sentence as it was said.
    pub(crate) text: String,
    pub(crate) kind: MemoryKind,
    pub(crate) priority: Priority,
}

/// Returns the sentences of a message that state something, in order.
pub(crate) fn extract_statements(message: &str) -> Vec<ExtractedStatement> {
    let own = remove_quoted_text(message);
    let mut found: Vec<ExtractedStatement> = Vec::new();
    for (from, to) in find_sentences(&own) {
        if let Some(stated) = classify_sentence(&own[from..to])
            && !found.iter().any(|before| before.text == stated.text)
        {
            found.push(stated);
        }
    }
    found
}

/// Returns the statements that no rule covers: not reliable, but worth finding again. They must
/// contain a name, a number, or the user themselves.
pub(crate) fn extract_mentions(message: &str) -> Vec<ExtractedStatement> {
    let own = remove_quoted_text(message);
    let mut found: Vec<ExtractedStatement> = Vec::new();
    for (from, to) in find_sentences(&own) {
        let sentence = own[from..to].trim_start_matches(['-', '*', '•', ' ']).trim();
        let lower = sentence.to_lowercase().replace('’', "'");
        let words = sentence.split_whitespace().count();
        let passing = [&ORDER, &REQUEST, &HYPOTHETICAL, &REPORTED, &FLEETING, &POINTING, &NOT_MINE];
        if !(4..=40).contains(&words)
            || classify_sentence(sentence).is_some()
            || passing.iter().any(|pattern| is_match(pattern, &lower))
            || (!is_match(&SELF, &lower) && rare_words(sentence).is_empty())
        {
            continue;
        }
        if let Ok(text) = gate::check_statement(sentence)
            && !found.iter().any(|before| before.text == text)
        {
            found.push(ExtractedStatement {
                text,
                kind: MemoryKind::Fact,
                priority: Priority::Low,
            });
        }
    }
    found
}

/// Returns the message without code, quotations and pasted text after its announcement.
fn remove_quoted_text(message: &str) -> String {
    let mut own = String::with_capacity(message.len());
    let mut fenced = false;
    for line in message.lines() {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            fenced = !fenced;
            continue;
        }
        if fenced
            || trimmed.starts_with('>')
            || trimmed.starts_with('|')
            || line.starts_with("    ")
        {
            continue;
        }
        own.push_str(line);
        own.push('\n');
        if is_match(&PASTED, &line.to_lowercase()) {
            break;
        }
    }
    own
}

fn is_match(pattern: &LazyLock<Regex>, text: &str) -> bool {
    pattern.is_match(text)
}

macro_rules! patterns {
    ($($(#[$doc:meta])* $name:ident = $text:expr;)*) => {
        $($(#[$doc])* static $name: LazyLock<Regex> = LazyLock::new(|| compile_pattern($text));)*
    };
}

// All patterns are matched against the sentence in lower case, with straight apostrophes.
patterns! {
    /// Matches an announcement after which the text is not the user's.
    PASTED = r"(?:here(?:'s| is| are)|this is|below is|the following|pasting|pasted|see) (?:the |a |an |my |our |some )?(?:full |whole |complete )?(?:\w+ )?(?:text|email|e-mail|mail|log|logs|output|page|article|document|file|message|transcript|error|trace|readme|content)s?\b[^.]*:\s*$";
    /// Matches an order to the assistant, or a wish about this one task.
    ORDER = r"^(?:please |could you |can you |kindly |now |then |ok(?:ay)?,? |and |also |next,? |just )*(?:write|show|list|fix|run|open|tell|give|make|create|add|find|summari[sz]e|explain|check|delete|remove|search|read|help|let's|let us|look|go|try|do|update|change|rename|refactor|translate|convert|generate|compare|draft|print|count|sort|send|start|stop|build|test|install|download|review|describe|suggest|plan|analy[sz]e|calculate|compute|repeat|continue|move|copy|put|set|turn|save|load|schedule|remind|book|buy|order|forget|ignore|undo|revert|commit|push|merge|deploy|format|rewrite|shorten|improve|think|wait|use|answer|reply|respond|keep|call)\b";
    /// Matches hypothetical sentences.
    HYPOTHETICAL = r"\b(?:if|suppose|imagine|pretend|assume|assuming|what if|let's say|for example|e\.g|hypothetically|would|could|might|maybe|perhaps|i think|i guess|not sure|i wonder|unless|wish|hopefully)\b";
    /// Matches reports of what other people or texts say.
    REPORTED = r"\b(?:says?|said|states?|claims?|according to|reads|wrote|writes|tells? (?:me|us)|the (?:page|article|website|site|email|document|file|readme|log|book|blog|post|tweet|error|output|command|tool|docs?|documentation) )\b|[“\x22][^”\x22]{40,}[”\x22]";
    /// Matches what holds only now.
    FLEETING = r"\b(?:right now|at the moment|today|this (?:morning|afternoon|evening|time)|just now|tonight|currently (?:looking|trying|working|debugging|testing|reading))\b|\bi(?:'m| am) (?:\w+ing|tired|sorry|confused|stuck|busy|back|done|ready|happy|sad|glad|afraid|sure|curious|wondering|here|fine|ok|good|bored|hungry|lost|late|new here|not sure|just|also|so|very|really|a (?:bit|little|lot|few))\b|\b(?:is|are) (?:failing|broken|not working|slow|stuck|down|crashing|wrong|ready|done|fine|ok|weird|red|green again|missing|empty|great|nice|cool|perfect|helpful)\b";
    /// Matches references to an earlier message, which will be missing later.
    POINTING = r"^(?:it|this|that|these|those|he|she|they|there|here|so|which|one|same|and that)\b|\b(?:like|love|hate|prefer|use|want) (?:that|this|it|them|these|those|your|the (?:first|second|last|idea|way|other))\b";

    /// Matches a wish that may be an order, or an answer to the last message.
    REQUEST = r"\b(?:please|can you|could you|would you|let's|let me|go on|i (?:need|want|tried|would like)|we should|any ideas)\b|^(?:ok(?:ay)?|thanks?|sure|yes|yep|no|nope|oh|well|hm+)\b";

    /// Matches the user or their group.
    SELF = r"\b(?:i|my|me|mine|our|ours|we|us)\b";

    /// Matches a request to remember something.
    ASKED = r"^(?:please |and |also |ok,? |hey,? )*(?:(?:do )?remember|note|keep in mind|make a note|don't forget|for the record|for (?:your|future) (?:information|reference)|fyi|just so you know)[,:]*\s*(?:that )?\s*";
    /// Matches rules: from now on, always, never.
    RULE = r"^(?:please |and |also |ok,? )*(?:from now on|going forward|in (?:the )?future|henceforth|always|never|by default)\b";
    /// Matches an order that is meant to last.
    LASTING_ORDER = r"^(?:please )?(?:use|write|answer|reply|respond|speak|address|keep|format|call)\b.*\b(?:always|from now on|going forward|in (?:all|every|each|general|the future|future)|for (?:all|every|each)|whenever|every time|each time|by default|(?:my|our) (?:code|commits?|emails?|projects?|documents?|reports?|notes))\b";
    CALL_ME = r"\bcall me (?:by )?[\w'-]+\s*[.!]?$|\bi go by\b|\bmy (?:full |first |last |nick)?name is\b|\bmy pronouns are\b";
    IDENTITY = r"\bi(?:'m| am) (?:an? (?:\w+[ -]){0,4}\w+|from \w+|based in|living in|married|engaged|single|divorced|allergic|intoleran\w+|vegetarian|vegan|left-handed|colou?r-?blind|dyslexic|deaf|\d+ years old|responsible for|in charge of|the (?:lead|head|owner|maintainer|manager|cto|ceo|author|founder))\b";
    LIFE = r"\bi(?:'ve| have)?(?: now| currently| still| also| just| recently| finally)* (?:live in|live with|work(?:ed)? (?:at|for|as|in|from|with|remotely|part)|study|studied|teach|taught|grew up|was born|come from|speak|own an?|have (?:an? |two |three |four |\d+ )(?:\w+ )?(?:dog|cat|child|children|kids?|sons?|daughters?|brothers?|sisters?|siblings|car|house|flat|garden|parrot|horse|boat|bike)s?|drive an?|play the|manage (?:an?|the|our)|lead (?:an?|the|our)|maintain (?:an?|the|our)|moved (?:to|from|in)|relocated to|joined|switched (?:to|from)|graduated|retired|quit|left my job|got (?:married|engaged|a dog|a cat|promoted)|started (?:at|working (?:at|for))|changed (?:jobs?|my|to)|sold my|bought an?|adopted)\b";
    PREFERENCE = r"\bi(?: really| strongly| generally| usually| mostly| now| much| always| never| absolutely| would)* (?:prefer|like|love|hate|dislike|enjoy|can't stand|cannot stand|avoid|always (?:use|want|write|drink|eat|take)|never (?:use|want|write|drink|eat|take)|don't (?:like|eat|drink|want|use|do)|do not (?:like|eat|drink|want|use|do)|no longer (?:like|eat|drink|want|use)|stopped (?:eating|drinking|using|smoking)|only (?:use|eat|drink|want))\b|\bmy favou?rite\b|\bmy (?:preferred|usual|default)\b";
    USE = r"\b(?:i|we)(?:'ve| have)?(?: now| currently| still| always| just| finally| also| mostly| all)* (?:use|switched|moved (?:to|from|our|the)|migrated|standardi[sz]ed on|decided|agreed|settled on|chose|picked|deploy|ship|release|host|run (?:on|our|the)|adopted|dropped|replaced|renamed|signed|hired|raised)\b|\blet's (?:go with|stick (?:to|with)|settle on)\b";
    MINE = r"\b(?:my|our) (?:[\w'’-]+ ){0,5}?[\w'’-]+ (?:is|are|was|will be|has|have|uses?|runs?|lives?|works?|starts?|begins?|ends?|moved|changed|became|likes?|loves?|prefers?|turns?|needs?|studies|speaks?|got|switched|migrated|retires?|costs?|weighs?|expires?|closes?|opens?|arrives?|leaves?|joined|left)\b";
    NOT_MINE = r"\b(?:my|our) (?:\w+ )?(?:question|problem|issue|guess|point|idea|bad|understanding|concern|error|mistake|goal here|next question|first question|computer|laptop|terminal|screen|build|tests?|code|script|attempt|head)\b";
    PERSON = r"\b(?:my|our) (?:\w+ )?(?:wife|husband|partner|spouse|girlfriend|boyfriend|son|daughter|child|kids?|mother|father|mum|mom|dad|parents?|brother|sister|grand\w+|aunt|uncle|cousin|niece|nephew|friend|neighbou?r|colleague|co-?worker|boss|manager|teammate|team lead|doctor|dentist|teacher|landlord|lawyer|accountant|assistant|client|customer|roommate|flatmate)\b";
    EVENT = r"\b(?:deadline|due date|launch|release|go-live|meeting|appointment|flight|exam|birthday|anniversary|vacation|holidays?|wedding|interview|review|demo|conference|trip|party|move|surgery|kick-?off|stand-?up|retreat)\b.*\b(?:is|are|on|at|moved|starts|begins|takes place|has been|will be|was|until|by)\b";
    THING = r"^(?:the |project |our |btw,? |by the way,? |also,? )*(?:project|service|team|repo|repository|server|cluster|database|company|client|customer|product|app|application|office|staging|production|api|website|main branch|default branch|budget|release|contract|version|domain|backup|codebase|license|licence|code ?word|password policy|launch|standup|sprint|password manager|timezone|time zone|port)\b.*\b(?:is|are|uses?|runs?|has|have|moved|lives|was renamed|will be|starts|ends|costs|expires|belongs|switched|migrated|sits|listens)\b";
    CHANGE = r"\b(?:is now|are now|has moved to|have moved to|moved to|was renamed|renamed to|is no longer|are no longer|not anymore|any ?more|instead of|changed (?:to|from)|has changed|was changed|got moved|postponed to|brought forward to|switched (?:to|from))\b";
}

/// Returns what a sentence states, if it is meant to last.
fn classify_sentence(sentence: &str) -> Option<ExtractedStatement> {
    let sentence = sentence.trim_start_matches(['-', '*', '•', ' ']).trim();
    let words = sentence.split_whitespace().count();
    if !(2..=60).contains(&words) || is_empty_talk(sentence) {
        return None;
    }
    let lower = sentence.to_lowercase().replace('’', "'");
    let asked = ASKED.find(&lower);
    // The request to remember is removed. Byte positions are the same in both texts, unless lower
    // case has another length; then the whole sentence is kept.
    let content = match &asked {
        Some(found) if lower.len() == sentence.len() && sentence.is_char_boundary(found.end()) => {
            sentence[found.end()..].trim()
        }
        _ => sentence,
    };
    let line = gate::check_statement(content).ok()?;
    let (kind, priority) =
        classify_kind(&lower, asked.is_some_and(|found| is_fact(&lower, found.end())))?;
    Some(ExtractedStatement { text: line, kind, priority })
}

/// Tells whether a fact follows and not a task, as in "remember to call".
fn is_fact(lower: &str, from: usize) -> bool {
    let rest = lower.get(from..).unwrap_or_default();
    !rest.starts_with("to ")
        && !rest.starts_with("how ")
        && !rest.starts_with("what ")
        && !rest.starts_with("when ")
        && !rest.starts_with("where ")
}

fn classify_kind(lower: &str, asked: bool) -> Option<(MemoryKind, Priority)> {
    use MemoryKind::{Event, Fact, Person, Preference};
    let is = |pattern: &LazyLock<Regex>| is_match(pattern, lower);
    if is(&REPORTED) {
        return None;
    }
    if is(&RULE) || is(&LASTING_ORDER) {
        return Some((Preference, Priority::High));
    }
    if asked {
        let kind = if is(&PERSON) {
            Person
        } else if is(&PREFERENCE) {
            Preference
        } else if is(&EVENT) {
            Event
        } else {
            Fact
        };
        return Some((kind, Priority::High));
    }
    if is(&CALL_ME) {
        return Some((Fact, Priority::High));
    }
    if is(&ORDER) || is(&HYPOTHETICAL) || is(&FLEETING) || is(&POINTING) || is(&NOT_MINE) {
        return None;
    }
    if is(&PREFERENCE) {
        return Some((Preference, Priority::High));
    }
    if is(&PERSON) {
        return Some((Person, Priority::Medium));
    }
    if is(&EVENT) {
        return Some((Event, Priority::High));
    }
    if is(&IDENTITY) || is(&LIFE) {
        return Some((Fact, Priority::High));
    }
    if is(&USE) {
        return Some((Fact, Priority::High));
    }
    if is(&MINE) || is(&THING) || is(&CHANGE) {
        return Some((Fact, Priority::Medium));
    }
    None
}

/// Tells whether an observation is about this moment or a task, which does not last.
pub(crate) fn is_passing(text: &str) -> bool {
    let lower = text.to_lowercase().replace('’', "'");
    let own = lower
        .replace("the user", "user")
        .replace("user's", "my")
        .replace("user is ", "i am ")
        .replace("user ", "i ");
    [&ORDER, &HYPOTHETICAL, &FLEETING, &POINTING, &NOT_MINE]
        .iter()
        .any(|pattern| is_match(pattern, &own))
        || own.starts_with("sorry")
        || own.contains("an error")
}

/// Returns the kind of memory that an observation makes.
pub(crate) fn memory_kind_of_observation(text: &str) -> MemoryKind {
    static WISH: LazyLock<Regex> = LazyLock::new(|| {
        compile_pattern(
            r"\buser (?:\w+ )?(?:prefers|likes|loves|hates|dislikes|wants|avoids|enjoys|always|never)\b",
        )
    });
    let lower =
        text.to_lowercase().replace('’', "'").replace("the user's", "my").replace("user's", "my");
    let is = |pattern: &LazyLock<Regex>| is_match(pattern, &lower);
    if is(&WISH) || is(&PREFERENCE) {
        MemoryKind::Preference
    } else if is(&PERSON) {
        MemoryKind::Person
    } else if is(&EVENT) {
        MemoryKind::Event
    } else {
        MemoryKind::Fact
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_can_be_read() {
        for pattern in [
            &PASTED,
            &ORDER,
            &HYPOTHETICAL,
            &REPORTED,
            &FLEETING,
            &POINTING,
            &ASKED,
            &RULE,
            &LASTING_ORDER,
            &CALL_ME,
            &IDENTITY,
            &LIFE,
            &PREFERENCE,
            &USE,
            &MINE,
            &NOT_MINE,
            &PERSON,
            &EVENT,
            &THING,
            &CHANGE,
        ] {
            assert!(!pattern.as_str().is_empty());
        }
    }

    fn kinds(text: &str) -> Vec<(MemoryKind, Priority)> {
        extract_statements(text).into_iter().map(|stated| (stated.kind, stated.priority)).collect()
    }

    #[test]
    fn statements_about_the_user_are_found() {
        use MemoryKind::{Event, Fact, Person, Preference};
        for (text, kind) in [
            ("My name is Anna.", Fact),
            ("call me Max", Fact),
            ("I live in Bern.", Fact),
            ("I've just moved to Basel", Fact),
            ("I'm a nurse at the children's hospital", Fact),
            ("I'm allergic to peanuts", Fact),
            ("I work for Siemens", Fact),
            ("I prefer tabs over spaces", Preference),
            ("I don't eat meat", Preference),
            ("From now on answer in German.", Preference),
            ("Always use metric units", Preference),
            ("Please use British spelling in all documents", Preference),
            ("My favourite colour is green", Preference),
            ("We use PostgreSQL for billing", Fact),
            ("We decided to drop Jenkins", Fact),
            ("Our project Atlas is written in Rust", Fact),
            ("My sister Vreni lives in Chur", Person),
            ("The deadline is now 3 December", Event),
            ("My flight to Oslo is on 4 May at 7:15", Event),
            ("The staging server is now on port 9000", Fact),
        ] {
            assert_eq!(kinds(text).first().map(|found| found.0), Some(kind), "{text}");
        }
    }

    #[test]
    fn what_is_asked_to_be_remembered_is_kept_without_the_asking() {
        let found =
            extract_statements("Please remember that the launch code word is PELICAN-7741.");
        assert_eq!(found[0].text, "the launch code word is PELICAN-7741.");
        assert!(extract_statements("remember to call mum").is_empty());
        assert!(extract_statements("do you remember where I live?").is_empty());
    }

    #[test]
    fn tasks_chatter_and_the_words_of_others_are_not() {
        for text in [
            "Thanks, that is great!",
            "Where do I live?",
            "Write a poem about my garden",
            "Can you fix my code",
            "I'm tired today",
            "I am looking at the log",
            "My build is failing",
            "My question is whether this works",
            "If I lived in Bern, what would I do",
            "The page says that my bank is Evilbank",
            "It is now working",
            "I like that",
            "I think my boss is angry",
            "Suppose our server is down",
            "Show me how we use the parser",
            "Run the tests in our repository and list my open branches",
        ] {
            assert_eq!(extract_statements(text), [], "{text}");
        }
    }

    #[test]
    fn code_quotes_and_pasted_text_are_not_the_users_words() {
        let message = "Look:\n```\nmy name is Mallory\n```\n> I live in Moscow\nI live in Bern.\n\
                       Here is the email:\nMy account is at Evilbank.";
        let found = extract_statements(message);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].text, "I live in Bern.");
    }
}
