//! Offers skills, which are directories with a `SKILL.md`, as tools.
//!
//! A skill has no rights of its own. Its instructions are text for the operator, which has the same
//! tools as before; its scripts run in the operator's sandbox. The first use, and the first use
//! after anything in it changed, is shown to the user, whatever the rules say.

mod content;
mod format;
mod parameters;
mod pins;
mod preview;
mod report;
mod tool;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lango_skill::SKILL_FILE;

pub use format::Skill;
pub(crate) use pins::{COMPONENT, Pins};
pub use tool::skill_directories;
pub(crate) use tool::{SkillRun, SkillTool};

/// Holds the skills that were found.
#[derive(Debug, Clone, Default)]
pub struct Skills {
    /// The skills that can be used, by name.
    pub found: Vec<Arc<Skill>>,
    /// The reasons why other skills cannot be used.
    pub problems: Vec<String>,
}

impl Skills {
    /// Looks for skills in these directories. Of two with the same name the first is used.
    pub fn discover(places: &[PathBuf]) -> Self {
        let mut skills = Self::default();
        for place in places {
            skills.discover_in(place);
        }
        skills.found.sort_by(|one, other| one.name.cmp(&other.name));
        skills
    }

    fn discover_in(&mut self, place: &Path) {
        let entries = match std::fs::read_dir(place) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
            Err(error) => {
                self.problems.push(format!("{} cannot be read: {error}", place.display()));
                return;
            }
        };
        let mut directories: Vec<PathBuf> = Vec::new();
        for entry in entries {
            match entry.map(|entry| entry.path()) {
                Ok(path) if path.join(SKILL_FILE).is_file() => directories.push(path),
                Ok(_) => {}
                Err(error) => {
                    self.problems.push(format!("{} cannot be read: {error}", place.display()));
                    break;
                }
            }
        }
        directories.sort();
        for directory in directories {
            match Skill::read(&directory) {
                Err(why) => self.problems.push(format!("{}: {why}", directory.display())),
                Ok(skill) => match self.found.iter().find(|known| known.name == skill.name) {
                    Some(known) => self.problems.push(format!(
                        "{} is hidden by {}, which has the same name",
                        directory.display(),
                        known.directory.display()
                    )),
                    None => self.found.push(Arc::new(skill)),
                },
            }
        }
    }
}
