//! Joins tiny sections, so that a document of many headings has no more passages than one of prose.

use super::Passage;
use super::weight::{MAX_WEIGHT, text_weight};

/// Limits the weight of a tiny section: eight tokens.
const MAX_TINY_WEIGHT: usize = 32;

/// Sets how many tiny sections a document may have before they are joined. In a document with fewer,
/// each section is found on its own.
const MAX_TINY_COUNT: usize = 200;

/// Collects the passages of a document.
#[derive(Default)]
pub(super) struct SectionList {
    done: Vec<CollectedPassage>,
    tiny_count: usize,
}

struct CollectedPassage {
    passage: Passage,
    /// The weight of one or more tiny sections; none for any other passage.
    tiny_weight: Option<usize>,
    /// True if it already holds several sections, each with its heading.
    is_joined: bool,
}

impl SectionList {
    /// Adds a passage. `is_section` is true if it is a whole section.
    pub(super) fn push(&mut self, passage: Passage, is_section: bool) {
        let tiny_weight = is_section
            .then(|| text_weight(&passage.text))
            .filter(|weight| *weight <= MAX_TINY_WEIGHT);
        let next = CollectedPassage { passage, tiny_weight, is_joined: false };
        if tiny_weight.is_some() {
            self.tiny_count += 1;
        }
        if self.tiny_count <= MAX_TINY_COUNT {
            self.done.push(next);
            return;
        }
        if self.tiny_count == MAX_TINY_COUNT + 1 && tiny_weight.is_some() {
            // The sections before were collected one by one.
            for earlier in std::mem::take(&mut self.done) {
                self.push_joined(earlier);
            }
        }
        self.push_joined(next);
    }

    fn push_joined(&mut self, next: CollectedPassage) {
        if let Some(last) = self.done.last_mut()
            && last.join(&next)
        {
            return;
        }
        self.done.push(next);
    }

    pub(super) fn into_passages(self) -> Vec<Passage> {
        self.done.into_iter().map(|collected| collected.passage).collect()
    }
}

impl CollectedPassage {
    /// Adds a tiny section to tiny sections under the same heading. Returns false if they do not fit
    /// together.
    fn join(&mut self, next: &Self) -> bool {
        let (Some(weight), Some(added)) = (self.tiny_weight, next.tiny_weight) else {
            return false;
        };
        let (next_parent, next_name) = split_path(&next.passage.heading);
        let (parent, name) = if self.is_joined {
            (self.passage.heading.as_str(), "")
        } else {
            split_path(&self.passage.heading)
        };
        let names = text_weight(next_name) + text_weight(name);
        let sum = weight + added + names;
        if parent != next_parent || sum > MAX_WEIGHT {
            return false;
        }
        if !self.is_joined {
            self.passage.text = with_name(name, &self.passage.text);
            self.passage.heading = parent.to_owned();
            self.is_joined = true;
        }
        self.passage.text.push_str("\n\n");
        self.passage.text.push_str(&with_name(next_name, &next.passage.text));
        self.passage.span = self.passage.span.with(next.passage.span);
        self.tiny_weight = Some(sum);
        true
    }
}

/// Returns the path of the headings above the last one, and the last one.
fn split_path(path: &str) -> (&str, &str) {
    path.rsplit_once(" > ").unwrap_or(("", path))
}

/// Returns a section with its heading, which may be all of its text.
fn with_name(name: &str, text: &str) -> String {
    if name.is_empty() || name == text { text.to_owned() } else { format!("{name}\n{text}") }
}

#[cfg(test)]
mod tests {
    use super::super::super::read::{DocumentKind, read_text};
    use super::super::cut_into_passages;
    use super::*;

    fn cut(text: &str) -> Vec<Passage> {
        let document = read_text(DocumentKind::Markdown, None, text.as_bytes().to_vec());
        cut_into_passages(&document.unwrap())
    }

    #[test]
    fn many_tiny_sections_are_joined_and_lose_no_word() {
        let text: String = (0..1_000).map(|n| format!("## Term {n}\n\nMeaning {n}.\n\n")).collect();
        let found = cut(&format!("# Glossary\n\nAll the terms.\n\n{text}"));
        assert!(found.len() < 60, "{}", found.len());
        let whole: String = found.iter().map(|passage| passage.text.as_str()).collect();
        for n in [0, 1, 199, 200, 201, 999] {
            assert!(whole.contains(&format!("Term {n}\nMeaning {n}.")), "{n}");
        }
        assert!(found[1..].iter().all(|passage| passage.heading == "Glossary"), "{found:?}");
        assert!(found.iter().all(|passage| text_weight(&passage.text) <= MAX_WEIGHT));
        let spans: Vec<u32> = found.iter().map(|passage| passage.span.first).collect();
        assert!(spans.is_sorted(), "{spans:?}");
    }

    #[test]
    fn a_few_tiny_sections_stay_as_they_are() {
        let text: String = (0..200).map(|n| format!("## Term {n}\n\nMeaning {n}.\n\n")).collect();
        assert_eq!(cut(&text).len(), 200);
    }

    #[test]
    fn headings_alone_are_joined_too() {
        let found = cut(&"# a\n".repeat(10_000));
        assert!(found.len() <= 10_000 / 100, "{}", found.len());
        assert_eq!(found.iter().map(|one| one.text.matches('a').count()).sum::<usize>(), 10_000);
    }
}
