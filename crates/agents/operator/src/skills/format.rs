//! Reads and checks `SKILL.md`, the Agent Skills format.
//!
//! In addition to the fields of the format two keys of `metadata` are understood here: `run`, the
//! script that a call runs, and `parameters`, the JSON schema of its arguments.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::content::{Content, read_bounded};
use super::parameters::Parameters;

const MAX_NAME_BYTES: usize = 64;
const MAX_DESCRIPTION_CHARACTERS: usize = 1024;
const MAX_COMPATIBILITY_CHARACTERS: usize = 500;
const MAX_TEXT_BYTES: u64 = 256 * 1024;

/// Describes a skill.
#[derive(Debug, Clone)]
pub struct Skill {
    /// Its name; also that of its directory.
    pub name: String,
    /// Its purpose and when to use it.
    pub description: String,
    /// Its directory, without links.
    pub directory: PathBuf,
    /// The tools it was written for. Naming them does not grant them.
    pub allowed_tools: Vec<String>,
    /// The instructions.
    pub(crate) body: String,
    /// The script that a call runs, relative to the directory.
    pub(crate) run: Option<String>,
    pub(crate) parameters: Parameters,
    /// The files in it when it was read.
    pub(crate) content: Content,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Front {
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

impl Skill {
    /// Reads and checks a skill's directory. The error says what is wrong with it.
    pub(crate) fn read(directory: &Path) -> Result<Self, String> {
        let directory =
            directory.canonicalize().map_err(|error| format!("cannot be opened: {error}"))?;
        let text = read_bounded(&directory.join("SKILL.md"), MAX_TEXT_BYTES)?;
        let text = String::from_utf8(text).map_err(|_| "SKILL.md is not UTF-8".to_owned())?;
        let (front, body) = split(&text)?;
        let front: Front = serde_saphyr::from_str(front).map_err(|error| {
            let error = error.without_snippet();
            let reason = error.render_with_formatter(&serde_saphyr::UserMessageFormatter);
            format!("SKILL.md: {reason}")
        })?;
        check(&front, &directory)?;
        let content = Content::read(&directory)?;
        let run = front.metadata.get("run").cloned();
        if let Some(script) = &run
            && !content.has(script)
        {
            return Err(format!("metadata.run names {script:?}, which is no file in it"));
        }
        let parameters = match front.metadata.get("parameters") {
            Some(schema) => Parameters::parse(schema).map_err(|why| format!("metadata.{why}"))?,
            None if run.is_some() => Parameters::none(),
            None => Parameters::of_scripts(content.scripts()),
        };
        Ok(Self {
            name: front.name,
            description: front.description.trim().to_owned(),
            directory,
            allowed_tools: front
                .allowed_tools
                .iter()
                .flat_map(|tools| tools.split_whitespace())
                .map(str::to_owned)
                .collect(),
            body: body.trim().to_owned(),
            run,
            parameters,
            content,
        })
    }

    /// Returns the name of its tool.
    pub fn tool_name(&self) -> String {
        format!("skill_{}", self.name.replace('-', "_"))
    }

    /// Returns the SHA-256 over everything in it.
    pub fn digest(&self) -> &str {
        &self.content.digest
    }

    /// Returns the files in it, relative to its directory.
    pub fn files(&self) -> &[String] {
        &self.content.files
    }

    /// Tells whether a call can run a script.
    pub(crate) fn acts(&self) -> bool {
        self.run.is_some() || self.content.scripts().next().is_some()
    }
}

fn split(text: &str) -> Result<(&str, &str), String> {
    let text = text.trim_start_matches('\u{feff}');
    let rest = text
        .strip_prefix("---\n")
        .or_else(|| text.strip_prefix("---\r\n"))
        .ok_or("SKILL.md does not begin with ---")?;
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Ok((&rest[..end], &rest[end + line.len()..]));
        }
        end += line.len();
    }
    Err("the front matter of SKILL.md is not closed by ---".to_owned())
}

fn check(front: &Front, directory: &Path) -> Result<(), String> {
    let name = &front.name;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let well_formed = !name.is_empty()
        && name.len() <= MAX_NAME_BYTES
        && name.chars().all(plain)
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--");
    if !well_formed {
        return Err(format!(
            "the name {name:?} must be of at most {MAX_NAME_BYTES} lower-case letters, digits and \
             single hyphens inside"
        ));
    }
    if directory.file_name().is_none_or(|directory| directory != name.as_str()) {
        return Err(format!("the name {name:?} is not that of its directory"));
    }
    let length = front.description.trim().chars().count();
    if !(1..=MAX_DESCRIPTION_CHARACTERS).contains(&length) {
        return Err(format!(
            "the description must have 1 to {MAX_DESCRIPTION_CHARACTERS} characters"
        ));
    }
    let compatibility = front.compatibility.as_ref().map_or(0, |text| text.chars().count());
    if compatibility > MAX_COMPATIBILITY_CHARACTERS {
        return Err(format!(
            "compatibility is longer than {MAX_COMPATIBILITY_CHARACTERS} characters"
        ));
    }
    Ok(())
}
