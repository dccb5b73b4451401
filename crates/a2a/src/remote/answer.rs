//! What an agent said, put together: pieces as they come, and the whole at the end.

use super::wire::{Artifact, FilePlace, Part, Task};

/// Data and files of more than this are named, not shown.
const MOST_DATA: usize = 64 * 1024;
const MOST_FILE: usize = 8 * 1024;

/// The results of a task so far.
#[derive(Debug, Default)]
pub(crate) struct Results {
    artifacts: Vec<Collected>,
}

#[derive(Debug)]
struct Collected {
    id: String,
    parts: Vec<Part>,
    /// Bytes of its texts that were given out as they came.
    shown: usize,
}

impl Results {
    /// Takes an artifact or a piece of one, and gives out the words that are new.
    pub(crate) fn add(&mut self, artifact: Artifact, append: bool) -> String {
        let known = self.artifacts.iter_mut().find(|known| known.id == artifact.id);
        let Some(known) = known else {
            let new = text_of(&artifact.parts);
            let parts = merged(Vec::new(), artifact.parts);
            self.artifacts.push(Collected { id: artifact.id, parts, shown: new.len() });
            return new;
        };
        if append {
            let new = text_of(&artifact.parts);
            known.shown += new.len();
            known.parts = merged(std::mem::take(&mut known.parts), artifact.parts);
            return new;
        }
        known.replace(artifact.parts)
    }

    /// Takes a task as a whole, such as after a stream broke off, and gives out the words that are
    /// new.
    pub(crate) fn take(&mut self, task: &Task) -> String {
        let mut new = String::new();
        for artifact in &task.artifacts {
            match self.artifacts.iter_mut().find(|known| known.id == artifact.id) {
                Some(known) => new.push_str(&known.replace(artifact.parts.clone())),
                None => new.push_str(&self.add(artifact.clone(), false)),
            }
        }
        new
    }

    /// Everything, in the order in which it began.
    pub(crate) fn text(&self) -> String {
        let texts = self.artifacts.iter().map(|artifact| in_words(&artifact.parts));
        texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
    }
}

impl Collected {
    /// Puts other content in the place of what was there. What was shown already is not shown again;
    /// where the beginning differs, the whole comes at the end.
    fn replace(&mut self, parts: Vec<Part>) -> String {
        let (old, all) = (text_of(&self.parts), text_of(&parts));
        self.parts = merged(Vec::new(), parts);
        let begins_alike = old.get(..self.shown).is_some_and(|shown| all.starts_with(shown));
        let new = if begins_alike { all[self.shown..].to_owned() } else { String::new() };
        self.shown = all.len();
        new
    }
}

/// Adds parts to others. Texts in a row are one text: an agent that sends a result in pieces keeps
/// them as parts.
fn merged(mut parts: Vec<Part>, more: Vec<Part>) -> Vec<Part> {
    for part in more {
        match (parts.last_mut(), part) {
            (Some(Part::Text(end)), Part::Text(more)) => end.push_str(&more),
            (_, part) => parts.push(part),
        }
    }
    parts
}

fn text_of(parts: &[Part]) -> String {
    let text = |part: &Part| match part {
        Part::Text(text) => Some(text.clone()),
        _ => None,
    };
    parts.iter().filter_map(text).collect()
}

/// Parts as a person reads them: texts as they are, data and files in words.
pub(crate) fn in_words(parts: &[Part]) -> String {
    let texts = parts.iter().map(part_in_words);
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

fn part_in_words(part: &Part) -> String {
    match part {
        Part::Text(text) => text.clone(),
        Part::Data(data) => {
            let text = serde_json::to_string_pretty(data).unwrap_or_default();
            if text.len() > MOST_DATA {
                return format!("(data of {} bytes, not shown)", text.len());
            }
            fenced("json", &text)
        }
        Part::File { name, media_type, place: FilePlace::Url(url) } => {
            let name = label(name, "file");
            let kind = kind(media_type);
            // Anything else would not be a link to the web.
            if url.starts_with("https://") || url.starts_with("http://") {
                let url: String = url.chars().filter(|c| !c.is_whitespace() && *c != '>').collect();
                format!("[{name}](<{url}>){kind}")
            } else {
                format!("({name}{kind}, at an address that is not on the web)")
            }
        }
        Part::File { name, media_type, place: FilePlace::Bytes(bytes) } => {
            let (name, kind) = (label(name, "file"), kind(media_type));
            let is_text =
                media_type.starts_with("text/") || media_type.starts_with("application/json");
            match std::str::from_utf8(bytes) {
                Ok(text) if is_text && text.len() <= MOST_FILE => {
                    format!("{name}{kind}:\n{}", fenced("", text))
                }
                _ => format!("({name}{kind}, {} bytes, not shown)", bytes.len()),
            }
        }
    }
}

/// A block that its content cannot end.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}")
}

fn label(name: &str, otherwise: &str) -> String {
    let name: String = name
        .chars()
        .filter(|c| !c.is_control() && !matches!(c, '[' | ']' | '(' | ')' | '<' | '>'))
        .take(100)
        .collect();
    if name.trim().is_empty() { otherwise.to_owned() } else { name }
}

fn kind(media_type: &str) -> String {
    match label(media_type, "") {
        none if none.is_empty() => String::new(),
        kind => format!(", {kind}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::remote::wire::{Names, State, Status};

    fn artifact(id: &str, text: &str) -> Artifact {
        Artifact { id: id.into(), parts: vec![Part::Text(text.into())] }
    }

    fn task(artifacts: Vec<Artifact>) -> Task {
        let status = Status { state: State::Working, message: Vec::new() };
        Task { names: Names::default(), status, artifacts, said: Vec::new() }
    }

    #[test]
    fn pieces_come_once_and_in_order() {
        let mut results = Results::default();
        assert_eq!(results.add(artifact("a", "one "), false), "one ");
        assert_eq!(results.add(artifact("a", "two "), true), "two ");
        // The stream broke off; the task as a whole has what was missed.
        assert_eq!(results.take(&task(vec![artifact("a", "one two three ")])), "three ");
        assert_eq!(results.take(&task(vec![artifact("a", "one two three ")])), "");
        assert_eq!(results.add(artifact("a", "four"), true), "four");
        assert_eq!(results.add(artifact("b", "five"), false), "five");
        assert_eq!(results.text(), "one two three four\n\nfive");
    }

    #[test]
    fn what_was_taken_back_is_not_shown_twice() {
        let mut results = Results::default();
        results.add(artifact("a", "wrong"), false);
        assert_eq!(results.add(artifact("a", "right"), false), "");
        assert_eq!(results.text(), "right");
        assert_eq!(results.add(artifact("a", " now"), true), " now");
    }

    #[test]
    fn data_and_files_are_told_in_words() {
        let file = |name: &str, kind: &str, place| Part::File {
            name: name.into(),
            media_type: kind.into(),
            place,
        };
        assert_eq!(in_words(&[Part::Data(json!({"a": 1}))]), "```json\n{\n  \"a\": 1\n}\n```");
        let sly = in_words(&[Part::Data(json!("``` out"))]);
        assert!(sly.starts_with("````json\n") && sly.ends_with("\n````"), "{sly}");
        let text = file("notes.txt", "text/plain", FilePlace::Bytes(b"hi".to_vec()));
        assert_eq!(in_words(&[text]), "notes.txt, text/plain:\n```\nhi\n```");
        let image = file("", "image/png", FilePlace::Bytes(vec![0; 9000]));
        assert_eq!(in_words(&[image]), "(file, image/png, 9000 bytes, not shown)");
        let link = file("a](http://evil)", "", FilePlace::Url("https://x/y z".into()));
        assert_eq!(in_words(&[link]), "[ahttp://evil](<https://x/yz>)");
        let local = file("a", "", FilePlace::Url("file:///etc/passwd".into()));
        assert!(!in_words(&[local]).contains("/etc"));
    }
}
