//! Assembles an agent's answer: pieces as they arrive, and the whole at the end.

use super::wire::{Artifact, FileSource, Part, Task};

/// Larger data and files are mentioned, but their content is not included.
const MAX_DATA_BYTES: usize = 64 * 1024;
const MAX_FILE_BYTES: usize = 8 * 1024;

/// The results of a task so far.
#[derive(Debug, Default)]
pub(crate) struct Results {
    artifacts: Vec<CollectedArtifact>,
}

#[derive(Debug)]
struct CollectedArtifact {
    id: String,
    parts: Vec<Part>,
    /// The number of bytes of its texts that were already shown.
    shown: usize,
}

impl Results {
    /// Adds an artifact or a piece of one, and returns the new text.
    pub(crate) fn add(&mut self, artifact: Artifact, append: bool) -> String {
        let known = self.artifacts.iter_mut().find(|known| known.id == artifact.id);
        let Some(known) = known else {
            let new = text_of(&artifact.parts);
            let parts = merged(Vec::new(), artifact.parts);
            self.artifacts.push(CollectedArtifact { id: artifact.id, parts, shown: new.len() });
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

    /// Merges a whole task, for example after a stream broke, and returns the new text.
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

    /// Returns the text of all artifacts, in the order in which they began.
    pub(crate) fn text(&self) -> String {
        let texts = self.artifacts.iter().map(|artifact| render_parts(&artifact.parts));
        texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
    }
}

impl CollectedArtifact {
    /// Replaces the content. Text that was already shown is not shown again; if the beginning
    /// differs, the whole text appears only at the end.
    fn replace(&mut self, parts: Vec<Part>) -> String {
        let (old, all) = (text_of(&self.parts), text_of(&parts));
        self.parts = merged(Vec::new(), parts);
        let begins_alike = old.get(..self.shown).is_some_and(|shown| all.starts_with(shown));
        let new = if begins_alike { all[self.shown..].to_owned() } else { String::new() };
        self.shown = all.len();
        new
    }
}

/// Appends parts. Consecutive texts become one text, because some agents keep the pieces of a
/// result as separate parts.
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

/// Renders parts for a person: texts unchanged, data and files described.
pub(crate) fn render_parts(parts: &[Part]) -> String {
    let texts = parts.iter().map(render_part);
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

fn render_part(part: &Part) -> String {
    match part {
        Part::Text(text) => text.clone(),
        Part::Data(data) => {
            // A JSON value always has a text.
            let text = serde_json::to_string_pretty(data).unwrap_or_default();
            if text.len() > MAX_DATA_BYTES {
                return format!("(data of {} bytes, not shown)", text.len());
            }
            fenced("json", &text)
        }
        Part::File { name, media_type, source: FileSource::Url(url) } => {
            let name = label(name, "file");
            let kind = kind(media_type);
            // Other schemes are not links to the web.
            if url.starts_with("https://") || url.starts_with("http://") {
                let url: String = url.chars().filter(|c| !c.is_whitespace() && *c != '>').collect();
                format!("[{name}](<{url}>){kind}")
            } else {
                format!("({name}{kind}, at an address that is not on the web)")
            }
        }
        Part::File { name, media_type, source: FileSource::Bytes(bytes) } => {
            let (name, kind) = (label(name, "file"), kind(media_type));
            let is_text =
                media_type.starts_with("text/") || media_type.starts_with("application/json");
            match std::str::from_utf8(bytes) {
                Ok(text) if is_text && text.len() <= MAX_FILE_BYTES => {
                    format!("{name}{kind}:\n{}", fenced("", text))
                }
                _ => format!("({name}{kind}, {} bytes, not shown)", bytes.len()),
            }
        }
    }
}

/// Returns a fenced block whose content cannot close it.
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
    use crate::remote::wire::{State, Status, TaskIds};

    fn artifact(id: &str, text: &str) -> Artifact {
        Artifact { id: id.into(), parts: vec![Part::Text(text.into())] }
    }

    fn task(artifacts: Vec<Artifact>) -> Task {
        let status = Status { state: State::Working, message: Vec::new() };
        Task { ids: TaskIds::default(), status, artifacts, last_message: Vec::new() }
    }

    #[test]
    fn pieces_come_once_and_in_order() {
        let mut results = Results::default();
        assert_eq!(results.add(artifact("a", "one "), false), "one ");
        assert_eq!(results.add(artifact("a", "two "), true), "two ");
        // The stream broke; the whole task has the missing text.
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
        let file = |name: &str, kind: &str, source| Part::File {
            name: name.into(),
            media_type: kind.into(),
            source,
        };
        assert_eq!(render_parts(&[Part::Data(json!({"a": 1}))]), "```json\n{\n  \"a\": 1\n}\n```");
        let sly = render_parts(&[Part::Data(json!("``` out"))]);
        assert!(sly.starts_with("````json\n") && sly.ends_with("\n````"), "{sly}");
        let text = file("notes.txt", "text/plain", FileSource::Bytes(b"hi".to_vec()));
        assert_eq!(render_parts(&[text]), "notes.txt, text/plain:\n```\nhi\n```");
        let image = file("", "image/png", FileSource::Bytes(vec![0; 9000]));
        assert_eq!(render_parts(&[image]), "(file, image/png, 9000 bytes, not shown)");
        let link = file("a](http://evil)", "", FileSource::Url("https://x/y z".into()));
        assert_eq!(render_parts(&[link]), "[ahttp://evil](<https://x/yz>)");
        let local = file("a", "", FileSource::Url("file:///etc/passwd".into()));
        assert!(!render_parts(&[local]).contains("/etc"));
    }
}
