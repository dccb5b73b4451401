//! Finding words in text, and names where they are declared.

use std::collections::HashMap;
use std::path::Path;

use super::rules::Pattern;
use crate::rust_source::{code_only, tokens};

/// Keywords before the name of a type.
const TYPE_KEYWORDS: [&str; 5] = ["struct", "enum", "trait", "type", "union"];

/// A replaced word or name where it was found.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Match {
    /// The line, from 1; none where it is in the name of the file.
    pub(super) line: Option<usize>,
    /// The word as it is written there.
    pub(super) text: String,
}

/// A file, prepared for many rules.
pub(super) struct Source<'a> {
    is_rust: bool,
    name: Text<'a>,
    text: Text<'a>,
    declarations: Vec<Declaration>,
}

/// A name that Rust code declares.
struct Declaration {
    keyword: String,
    name: String,
    line: usize,
}

impl<'a> Source<'a> {
    pub(super) fn new(file: &'a str, text: &'a str) -> Self {
        let is_rust = Path::new(file).extension().is_some_and(|extension| extension == "rs");
        Self {
            is_rust,
            name: Text::new(file.rsplit('/').next().unwrap_or(file)),
            text: Text::new(text),
            declarations: if is_rust { declarations(text) } else { Vec::new() },
        }
    }

    /// Returns all that a rule finds.
    pub(super) fn matches(&self, pattern: &Pattern) -> Vec<Match> {
        match pattern {
            Pattern::Phrases { phrases, except } => {
                let find = |text: &Text<'_>| text.find(phrases, except, self.is_rust);
                let in_name = find(&self.name).into_iter();
                let in_name = in_name.map(|(_, text)| Match { line: None, text });
                let in_text = find(&self.text).into_iter();
                let in_text = in_text.map(|(line, text)| Match { line: Some(line), text });
                in_name.chain(in_text).collect()
            }
            Pattern::Types(names) => self.declared(&TYPE_KEYWORDS, |name| names.contains(&name)),
            Pattern::Participles { irregular, except } => {
                let is_participle = |name: &str| name.ends_with("ed") || irregular.contains(&name);
                self.declared(&TYPE_KEYWORDS, |name| {
                    words(name).len() == 1 && is_participle(name) && !except.contains(&name)
                })
            }
            Pattern::Functions(names) => self.declared(&["fn"], |name| names.contains(&name)),
            Pattern::Constants(parts) => self.declared(&["const", "static"], |name| {
                name.split('_').any(|part| parts.contains(&part))
            }),
        }
    }

    fn declared(&self, keywords: &[&str], is_wanted: impl Fn(&str) -> bool) -> Vec<Match> {
        let declarations = self
            .declarations
            .iter()
            .filter(|one| keywords.contains(&&*one.keyword) && is_wanted(&one.name));
        let found = |one: &Declaration| Match { line: Some(one.line), text: one.name.clone() };
        declarations.map(found).collect()
    }
}

fn declarations(text: &str) -> Vec<Declaration> {
    const KEYWORDS: [&str; 8] =
        ["struct", "enum", "trait", "type", "union", "fn", "const", "static"];
    let mut declarations = Vec::new();
    for (index, line) in code_only(text).lines().enumerate() {
        for pair in tokens(line).windows(2) {
            if KEYWORDS.contains(&pair[0]) {
                let (keyword, name) = (pair[0].to_owned(), pair[1].to_owned());
                declarations.push(Declaration { keyword, name, line: index + 1 });
            }
        }
    }
    declarations
}

/// A text and its words.
struct Text<'a> {
    whole: &'a str,
    words: Vec<Word<'a>>,
    /// The positions of each word, in lower case.
    places: HashMap<String, Vec<usize>>,
}

/// A word of a text; a part of a name is one too.
struct Word<'a> {
    text: &'a str,
    begin: usize,
}

impl<'a> Text<'a> {
    fn new(text: &'a str) -> Self {
        let words = words(text);
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, word) in words.iter().enumerate() {
            places.entry(word.text.to_ascii_lowercase()).or_default().push(at);
        }
        Self { whole: text, words, places }
    }

    /// Returns the phrases with their lines. A phrase may go on in the next line of a comment.
    fn find(&self, phrases: &[&str], except: &[&str], is_rust: bool) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        for phrase in phrases {
            let first = phrase.split(' ').next().unwrap_or_default();
            for at in self.places.get(first).into_iter().flatten().copied() {
                let word = &self.words[at];
                // The type of Rust that owns something on the heap.
                let is_type = is_rust && word.text == "Box";
                if !is_type && self.is_at(at, phrase) && !self.is_excepted(at, first, except) {
                    let last = &self.words[at + phrase.split(' ').count() - 1];
                    let line = self.whole[..word.begin].matches('\n').count() + 1;
                    let end = last.begin + last.text.len();
                    found.push((line, self.whole[word.begin..end].to_owned()));
                }
            }
        }
        found.sort_unstable();
        found
    }

    fn is_excepted(&self, at: usize, first: &str, except: &[&str]) -> bool {
        except.iter().any(|exception| {
            let offset = exception.split(' ').position(|part| part == first);
            let begin = offset.and_then(|offset| at.checked_sub(offset));
            begin.is_some_and(|begin| self.is_at(begin, exception))
        })
    }

    /// Returns whether the words from `at` on are a phrase, with nothing but space between them.
    fn is_at(&self, at: usize, phrase: &str) -> bool {
        let mut end = None;
        let mut here = self.words[at..].iter();
        phrase.split(' ').all(|part| {
            here.next().is_some_and(|word| {
                let gap = end.map_or("", |end| &self.whole[end..word.begin]);
                end = Some(word.begin + word.text.len());
                word.text.eq_ignore_ascii_case(part)
                    && gap.chars().all(|c| c.is_whitespace() || "-_/!=\\".contains(c))
            })
        })
    }
}

/// Splits a text into words, and names such as `snake_case` and `CamelCase` into their parts.
fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut begin = None;
    let mut characters = text.char_indices().peekable();
    let mut previous = ' ';
    while let Some((at, character)) = characters.next() {
        if character.is_alphabetic() {
            let next = characters.peek().map_or(' ', |(_, next)| *next);
            let begins_part = character.is_uppercase()
                && (previous.is_lowercase() || (previous.is_uppercase() && next.is_lowercase()));
            if begins_part && let Some(begin) = begin.replace(at) {
                words.push(Word { text: &text[begin..at], begin });
            }
            begin.get_or_insert(at);
        } else if let Some(begin) = begin.take() {
            words.push(Word { text: &text[begin..at], begin });
        }
        previous = character;
    }
    words.extend(begin.map(|begin| Word { text: &text[begin..], begin }));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrases(text: &str, phrase: &'static str) -> Vec<(usize, String)> {
        Text::new(text).find(&[phrase], &["text box", "box model"], true)
    }

    #[test]
    fn a_text_is_split_into_words_and_parts_of_names() {
        let words = words("HTTPDoor::open_door(handOver) nobody's ÄrgerX 2nd");
        let found: Vec<&str> = words.iter().map(|word| word.text).collect();
        assert_eq!(
            found,
            ["HTTP", "Door", "open", "door", "hand", "Over", "nobody", "s", "Ärger", "X", "nd"]
        );
    }

    #[test]
    fn a_phrase_is_found_however_it_is_written() {
        let text = "hand over\nHandOver hand_over HAND-OVER\n/// it is a hand\n    /// over there\n\
                    hand, over; handover; the overhand";
        let lines: Vec<usize> = phrases(text, "hand over").iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 2, 2, 2, 3]);
    }

    #[test]
    fn only_whole_words_are_found() {
        assert!(phrases("doorway indoors Doors outdoor", "door").is_empty());
        assert_eq!(phrases("a Door", "door"), [(1, "Door".to_owned())]);
    }

    #[test]
    fn what_is_meant_otherwise_is_no_finding() {
        let text = "Box::new(x) as Box<dyn T>; a text box; box_model; .boxed()";
        assert!(phrases(text, "box").is_empty());
        assert_eq!(phrases("the model in the box", "box"), [(1, "box".to_owned())]);
        assert_eq!(Text::new("class Box:").find(&["box"], &[], false).len(), 1);
    }

    #[test]
    fn names_are_found_where_they_are_declared() {
        let code = "struct Heard;\nfn a() -> Heard { Enum::Heard }\n// struct Heard\n\
                    pub type Heard = u8; const MOST: u8 = 1; const MOST_BYTES: u8 = 2;\n\
                    const MOSTLY: u8 = 3; x(MOST)\n\
                    enum Renewed {} struct RenewedLease; struct Speed; const AT_MOST: u8 = 4;";
        let found = |file, pattern: &Pattern| -> Vec<(Option<usize>, String)> {
            let matches = Source::new(file, code).matches(pattern);
            matches.into_iter().map(|one| (one.line, one.text)).collect()
        };
        let heard = |line| (Some(line), "Heard".to_owned());
        assert_eq!(found("a.rs", &Pattern::Types(&["Heard"])), [heard(1), heard(4)]);
        assert!(found("a.md", &Pattern::Types(&["Heard"])).is_empty());
        let most = |name: &str| (Some(4), name.to_owned());
        assert_eq!(
            found("a.rs", &Pattern::Constants(&["MOST"])),
            [most("MOST"), most("MOST_BYTES"), (Some(6), "AT_MOST".to_owned())]
        );
        let participles = Pattern::Participles { irregular: &["Heard"], except: &["Speed"] };
        let renewed = (Some(6), "Renewed".to_owned());
        assert_eq!(found("a.rs", &participles), [heard(1), heard(4), renewed]);
        assert_eq!(found("a.rs", &Pattern::Functions(&["a"])).len(), 1);
    }
}
