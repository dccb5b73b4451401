//! Represents a new skill and the files that it is written as.

use lango_skill::{NAME_RULE, SKILL_FILE, SkillDocument, is_valid_name};

use crate::LibrarianError;
use crate::text::{check_line, check_text};

const MAX_TEXT_CHARACTERS: usize = 60_000;

/// Represents a skill to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSkill {
    /// Lower-case letters, digits and single hyphens inside; also the name of its directory.
    pub name: String,
    /// The description: what it does and when to use it.
    pub description: String,
    /// The instructions for an agent.
    pub instructions: Option<String>,
    /// A script that runs instead or in addition.
    pub script: Option<String>,
}

/// Represents a file of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SkillFile {
    /// The path relative to the skill.
    pub(super) path: String,
    pub(super) text: String,
    pub(super) executable: bool,
}

impl NewSkill {
    /// Checks the skill and returns it as it would be written.
    pub(super) fn check_and_clean(&self) -> Result<Self, LibrarianError> {
        check_name(&self.name)?;
        let text = |what, text: &Option<String>| {
            text.as_deref()
                .filter(|text| !text.trim().is_empty())
                .map(|text| check_text(what, text, MAX_TEXT_CHARACTERS))
                .transpose()
        };
        let instructions = text("instructions", &self.instructions)?;
        let script = text("script", &self.script)?;
        if instructions.is_none() && script.is_none() {
            let why = "or script must be given".to_owned();
            return Err(LibrarianError::Text { what: "instructions", why });
        }
        let max_characters = SkillDocument::MAX_DESCRIPTION_CHARACTERS;
        let description = check_line("description", &self.description, max_characters)?;
        Ok(Self { name: self.name.clone(), description, instructions, script })
    }

    /// Returns the files of a checked skill.
    pub(super) fn render_files(&self) -> Vec<SkillFile> {
        let script_path = format!("scripts/{}.sh", self.name);
        let body = self.instructions.clone().unwrap_or_else(|| format!("Runs {script_path}."));
        let document = SkillDocument {
            name: self.name.clone(),
            description: self.description.clone(),
            run: self.script.is_some().then(|| script_path.clone()),
            body,
            ..SkillDocument::default()
        };
        let text = document.to_string();
        let mut files = vec![SkillFile { path: SKILL_FILE.to_owned(), text, executable: false }];
        if let Some(script) = &self.script {
            let first = if script.starts_with("#!") { "" } else { "#!/bin/sh\n" };
            let text = format!("{first}{script}\n");
            files.push(SkillFile { path: script_path, text, executable: true });
        }
        files
    }
}

/// Checks that a name is safe as a directory name.
pub(super) fn check_name(name: &str) -> Result<(), LibrarianError> {
    if is_valid_name(name) {
        return Ok(());
    }
    Err(LibrarianError::Text { what: "name", why: NAME_RULE.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill() -> NewSkill {
        NewSkill {
            name: "release-notes".to_owned(),
            description: "Writes: \"notes\" # for a release".to_owned(),
            instructions: Some("Look at the log.".to_owned()),
            script: None,
        }
    }

    #[test]
    fn the_file_has_its_front_matter() {
        let files = skill().check_and_clean().unwrap().render_files();
        assert_eq!(
            files[0].text,
            "---\nname: release-notes\ndescription: \"Writes: \\\"notes\\\" # for a release\"\n---\n\
             Look at the log.\n"
        );
        let scripted = NewSkill { script: Some("echo hi".to_owned()), ..skill() };
        let files = scripted.check_and_clean().unwrap().render_files();
        assert!(files[0].text.contains("metadata:\n  run: \"scripts/release-notes.sh\"\n---"));
        assert_eq!(files[1].text, "#!/bin/sh\necho hi\n");
        assert!(files[1].executable && files[1].path == "scripts/release-notes.sh");
    }

    #[test]
    fn what_is_no_skill_is_refused() {
        for name in ["", "A", "a b", "../x", "a/b", "-a", "a-", "a--b", ".x", &*"a".repeat(65)] {
            assert!(
                NewSkill { name: name.to_owned(), ..skill() }.check_and_clean().is_err(),
                "{name}"
            );
        }
        let empty = NewSkill { instructions: Some(" ".to_owned()), ..skill() };
        assert!(empty.check_and_clean().unwrap_err().to_string().contains("script must be given"));
        assert!(NewSkill { description: "\n".to_owned(), ..skill() }.check_and_clean().is_err());
        let injected = NewSkill { description: "x\n---\nname: y".to_owned(), ..skill() };
        assert!(
            injected.check_and_clean().unwrap().render_files()[0]
                .text
                .contains("\"x --- name: y\"")
        );
    }
}
