//! Reads the directory of a skill.

use std::path::{Path, PathBuf};

use lango_skill::{SKILL_FILE, SkillDocument};

use super::content::{Content, read_bounded};
use super::parameters::Parameters;

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

impl Skill {
    /// Reads and checks a skill's directory. The error says what is wrong with it.
    pub(crate) fn read(directory: &Path) -> Result<Self, String> {
        let directory =
            directory.canonicalize().map_err(|error| format!("cannot be opened: {error}"))?;
        let text = read_bounded(&directory.join(SKILL_FILE), MAX_TEXT_BYTES)?;
        let text = String::from_utf8(text).map_err(|_| "SKILL.md is not UTF-8".to_owned())?;
        let document = SkillDocument::parse(&text).map_err(|error| error.to_string())?;
        let name = &document.name;
        if directory.file_name().is_none_or(|directory| directory != name.as_str()) {
            return Err(format!("the name {name:?} is not that of its directory"));
        }
        let content = Content::read(&directory)?;
        if let Some(script) = &document.run
            && !content.has(script)
        {
            return Err(format!("metadata.run names {script:?}, which is no file in it"));
        }
        let parameters = match &document.parameters {
            Some(schema) => Parameters::parse(schema).map_err(|why| format!("metadata.{why}"))?,
            None if document.run.is_some() => Parameters::none(),
            None => Parameters::of_scripts(content.scripts()),
        };
        let SkillDocument { name, description, allowed_tools, run, body, .. } = document;
        Ok(Self { name, description, directory, allowed_tools, body, run, parameters, content })
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
