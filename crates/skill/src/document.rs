//! Reads and writes one `SKILL.md`.

use std::collections::BTreeMap;
use std::fmt;

use lango_text::split_front_matter;
use serde::Deserialize;

use crate::{SkillError, is_valid_name};

/// The name of the file that makes a directory a skill.
pub const SKILL_FILE: &str = "SKILL.md";

const MAX_COMPATIBILITY_CHARACTERS: usize = 500;
/// Names the key of `metadata` that has the script of a call.
const RUN_KEY: &str = "run";
/// Names the key of `metadata` that has the JSON schema of a call's arguments.
const PARAMETERS_KEY: &str = "parameters";

/// Represents a `SKILL.md`: a valid name and description, and the instructions.
///
/// In addition to the fields of the format two keys of its `metadata` are understood: `run`, the
/// script that a call runs, and `parameters`, the JSON schema of its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SkillDocument {
    /// The name; also that of its directory.
    pub name: String,
    /// The description: what it does and when to use it.
    pub description: String,
    /// The tools it was written for. Naming them does not grant them.
    pub allowed_tools: Vec<String>,
    /// The script that a call runs, relative to the directory.
    pub run: Option<String>,
    /// The JSON schema of a call's arguments, as a text.
    pub parameters: Option<String>,
    /// The instructions.
    pub body: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct FrontMatter {
    name: String,
    description: String,
    #[serde(default)]
    #[expect(dead_code, reason = "a field of the format that is not used here")]
    license: Option<String>,
    #[serde(default)]
    compatibility: Option<String>,
    #[serde(default)]
    metadata: BTreeMap<String, String>,
    #[serde(default)]
    allowed_tools: Option<String>,
}

impl SkillDocument {
    /// The characters that a description may have.
    pub const MAX_DESCRIPTION_CHARACTERS: usize = 1024;

    /// Reads the text of a `SKILL.md` and checks it.
    pub fn parse(text: &str) -> Result<Self, SkillError> {
        let (front, body) = split_front_matter(text)?;
        let mut front: FrontMatter = serde_saphyr::from_str(front).map_err(|error| {
            let error = error.without_snippet();
            let reason = error.render_with_formatter(&serde_saphyr::UserMessageFormatter);
            SkillError::FrontMatter(reason)
        })?;
        front.check()?;
        let tools = front.allowed_tools.iter().flat_map(|tools| tools.split_whitespace());
        Ok(Self {
            allowed_tools: tools.map(str::to_owned).collect(),
            name: front.name,
            description: front.description.trim().to_owned(),
            run: front.metadata.remove(RUN_KEY),
            parameters: front.metadata.remove(PARAMETERS_KEY),
            body: body.trim().to_owned(),
        })
    }
}

impl FrontMatter {
    fn check(&self) -> Result<(), SkillError> {
        if !is_valid_name(&self.name) {
            return Err(SkillError::Name(self.name.clone()));
        }
        let max_characters = SkillDocument::MAX_DESCRIPTION_CHARACTERS;
        if !(1..=max_characters).contains(&self.description.trim().chars().count()) {
            return Err(SkillError::Description { max_characters });
        }
        let max_characters = MAX_COMPATIBILITY_CHARACTERS;
        if self.compatibility.as_ref().is_some_and(|text| text.chars().count() > max_characters) {
            return Err(SkillError::Compatibility { max_characters });
        }
        Ok(())
    }
}

/// Writes the text of the `SKILL.md`, which [`SkillDocument::parse`] reads back.
impl fmt::Display for SkillDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "---\nname: {}\ndescription: {}", self.name, quote(&self.description))?;
        if !self.allowed_tools.is_empty() {
            writeln!(f, "allowed-tools: {}", quote(&self.allowed_tools.join(" ")))?;
        }
        let metadata = [(RUN_KEY, &self.run), (PARAMETERS_KEY, &self.parameters)];
        let mut metadata = metadata.iter().filter_map(|(key, value)| Some((key, value.as_ref()?)));
        if let Some((key, value)) = metadata.next() {
            writeln!(f, "metadata:\n  {key}: {}", quote(value))?;
        }
        for (key, value) in metadata {
            writeln!(f, "  {key}: {}", quote(value))?;
        }
        writeln!(f, "---\n{}", self.body)
    }
}

/// Quotes a text for YAML: a JSON string is valid YAML.
fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> SkillDocument {
        SkillDocument {
            name: "release-notes".to_owned(),
            description: "Writes: \"notes\" # for a release".to_owned(),
            body: "Look at the log.".to_owned(),
            ..SkillDocument::default()
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let plain = document();
        assert_eq!(
            plain.to_string(),
            "---\nname: release-notes\ndescription: \"Writes: \\\"notes\\\" # for a release\"\n---\n\
             Look at the log.\n"
        );
        let full = SkillDocument {
            allowed_tools: vec!["Bash".to_owned(), "Read".to_owned()],
            run: Some("scripts/release-notes.sh".to_owned()),
            parameters: Some(r#"{"type":"object","properties":{}}"#.to_owned()),
            description: "x\n---\nname: y".to_owned(),
            body: "---\nname: z\n---".to_owned(),
            ..document()
        };
        for written in [plain, full] {
            assert_eq!(SkillDocument::parse(&written.to_string()).unwrap(), written);
        }
    }

    #[test]
    fn every_field_of_the_format_is_understood() {
        let text = "\u{feff}---\r\nname: tidy\r\ndescription: ' Tidies. '\r\nlicense: MIT\r\n\
                    compatibility: a shell\r\nmetadata:\r\n  author: me\r\n  run: scripts/go.sh\r\n\
                    allowed-tools: Bash Read\r\n---\r\n\r\nDo it.\r\n";
        let read = SkillDocument::parse(text).unwrap();
        assert_eq!((read.name.as_str(), read.description.as_str()), ("tidy", "Tidies."));
        assert_eq!(read.allowed_tools, ["Bash", "Read"]);
        assert_eq!((read.run.as_deref(), read.parameters), (Some("scripts/go.sh"), None));
        assert_eq!(read.body, "Do it.");
    }

    #[test]
    fn what_is_wrong_is_said() {
        let long = format!("---\nname: a\ndescription: {}\n---\n", "x".repeat(1025));
        let compatibility =
            format!("---\nname: a\ndescription: b\ncompatibility: {}\n---\n", "x".repeat(501));
        for (text, said) in [
            ("no front matter", "SKILL.md does not begin with ---"),
            ("---\nname: a\n", "the front matter of SKILL.md is not closed by ---"),
            ("---\nname: a\ndescription: b\ncolour: red\n---\n", "colour"),
            ("---\nname: a\n---\n", "description"),
            ("---\nname: A b\ndescription: b\n---\n", "the name \"A b\" must be of at most 64"),
            ("---\nname: a\ndescription: ' '\n---\n", "the description must have 1 to 1024"),
            (&long, "the description must have 1 to 1024"),
            (&compatibility, "compatibility is longer than 500"),
        ] {
            let error = SkillDocument::parse(text).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
