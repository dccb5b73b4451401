//! Stores drafts on disk.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use lango_skill::{SKILL_FILE, SkillDocument};

use super::NewSkill;
use super::format::{SkillFile, check_name};
use crate::LibrarianError;

/// Limits a file that is shown.
const MAX_FILE_BYTES: u64 = 256 * 1024;

/// Holds the directories of drafts and of approved skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillDrafts {
    /// The directory of drafts, which is not searched for skills.
    pub pending: PathBuf,
    /// The user's own skills.
    pub own: PathBuf,
}

/// Represents a skill that waits for approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillDraft {
    /// The name.
    pub name: String,
    /// The files by relative path, with their text.
    pub files: Vec<(String, String)>,
}

impl SkillDraft {
    /// Returns the draft's description, or the reason why it is no skill.
    pub fn description(&self) -> String {
        let Some((_, text)) = self.files.iter().find(|(path, _)| path == SKILL_FILE) else {
            return format!("(there is no {SKILL_FILE} that can be read)");
        };
        match SkillDocument::parse(text) {
            Ok(document) => document.description,
            Err(error) => format!("(it cannot be used: {error})"),
        }
    }
}

impl SkillDrafts {
    /// Writes a new draft completely or not at all. `taken` tells whether a usable skill has this
    /// name already.
    pub fn create(
        &self,
        skill: &NewSkill,
        taken: impl Fn(&str) -> bool,
    ) -> Result<SkillDraft, LibrarianError> {
        let skill = skill.check_and_clean()?;
        let directory = self.pending.join(&skill.name);
        if taken(&skill.name) || self.own.join(&skill.name).exists() || directory.exists() {
            return Err(LibrarianError::SkillExists { name: skill.name });
        }
        let files = skill.render_files();
        let unwritable = |error: io::Error| LibrarianError::Files {
            what: format!("the skill {} could not be written", skill.name),
            reason: error.to_string(),
        };
        let temporary = self.pending.join(format!(".{}.{}", skill.name, std::process::id()));
        write_files(&temporary, &files).and_then(|()| fs::rename(&temporary, &directory)).map_err(
            |error| {
                // Only the first error matters.
                let _ = fs::remove_dir_all(&temporary);
                unwritable(error)
            },
        )?;
        let files = files.into_iter().map(|file| (file.path, file.text)).collect();
        Ok(SkillDraft { name: skill.name, files })
    }

    /// Returns all drafts, by name.
    pub fn list(&self) -> Result<Vec<SkillDraft>, LibrarianError> {
        let unreadable = |error: io::Error| LibrarianError::Files {
            what: format!("{} cannot be read", self.pending.display()),
            reason: error.to_string(),
        };
        let entries = match fs::read_dir(&self.pending) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(unreadable)?,
        };
        let mut drafts = Vec::new();
        for entry in entries {
            let name = entry.map_err(unreadable)?.file_name().to_string_lossy().into_owned();
            // A half-written draft has a name that no skill can have.
            if check_name(&name).is_ok() {
                drafts.push(self.read(&name)?);
            }
        }
        drafts.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(drafts)
    }

    /// Returns a draft by its name.
    pub fn read(&self, name: &str) -> Result<SkillDraft, LibrarianError> {
        let directory = self.draft_directory(name)?;
        let mut files = Vec::new();
        for path in [SKILL_FILE.to_owned(), format!("scripts/{name}.sh")] {
            let file = directory.join(&path);
            if fs::symlink_metadata(&file)
                .is_ok_and(|file| file.is_file() && file.len() <= MAX_FILE_BYTES)
            {
                let text = fs::read_to_string(&file).map_err(|error| LibrarianError::Files {
                    what: format!("{} cannot be read", file.display()),
                    reason: error.to_string(),
                })?;
                files.push((path, text));
            }
        }
        Ok(SkillDraft { name: name.to_owned(), files })
    }

    /// Moves a draft, exactly as a person saw it, to the user's own skills.
    pub fn approve(&self, seen: &SkillDraft) -> Result<PathBuf, LibrarianError> {
        let name = &seen.name;
        if self.read(name)? != *seen {
            return Err(LibrarianError::Files {
                what: format!("the skill {name} was not approved"),
                reason: "it has changed since it was shown".to_owned(),
            });
        }
        let target = self.own.join(name);
        if target.exists() {
            return Err(LibrarianError::SkillExists { name: name.clone() });
        }
        let failed = |error: io::Error| LibrarianError::Files {
            what: format!("the skill {name} could not be moved to {}", target.display()),
            reason: error.to_string(),
        };
        // Written anew and not moved: it may be another file system, and only the files that were
        // seen may go.
        let file = |(path, text): &(String, String)| SkillFile {
            executable: path.starts_with("scripts/"),
            path: path.clone(),
            text: text.clone(),
        };
        let files: Vec<SkillFile> = seen.files.iter().map(file).collect();
        let temporary = self.own.join(format!(".{name}.{}", std::process::id()));
        write_files(&temporary, &files).and_then(|()| fs::rename(&temporary, &target)).map_err(
            |error| {
                // Only the first error matters.
                let _ = fs::remove_dir_all(&temporary);
                failed(error)
            },
        )?;
        fs::remove_dir_all(self.pending.join(name)).map_err(failed)?;
        Ok(target)
    }

    /// Removes a draft.
    pub fn discard(&self, name: &str) -> Result<(), LibrarianError> {
        let directory = self.draft_directory(name)?;
        fs::remove_dir_all(&directory).map_err(|error| LibrarianError::Files {
            what: format!("{} could not be removed", directory.display()),
            reason: error.to_string(),
        })
    }

    fn draft_directory(&self, name: &str) -> Result<PathBuf, LibrarianError> {
        check_name(name)?;
        let directory = self.pending.join(name);
        if fs::symlink_metadata(&directory).is_ok_and(|directory| directory.is_dir()) {
            return Ok(directory);
        }
        Err(LibrarianError::NoDraft { name: name.to_owned() })
    }
}

/// Writes files below a new directory.
fn write_files(directory: &Path, files: &[SkillFile]) -> io::Result<()> {
    for file in files {
        let path = directory.join(&file.path);
        if let Some(parent) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        }
        let mode = if file.executable { 0o700 } else { 0o600 };
        let mut open = OpenOptions::new().write(true).create_new(true).mode(mode).open(&path)?;
        open.write_all(file.text.as_bytes())?;
    }
    Ok(())
}
