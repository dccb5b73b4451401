//! Reports the use of a skill to users.

use lango_protocol::CallReport;
use lango_text::code_span;
use serde::Serialize;

use super::Skill;

/// Reports to programs which files a skill consists of.
#[derive(Serialize)]
struct SkillFacts<'a> {
    name: &'a str,
    files: &'a [String],
}

/// Returns the skill as the subject of a sentence.
pub(super) fn subject(skill: &Skill) -> String {
    format!("The skill {}", code_span(&skill.name))
}

/// Shows the instructions of a skill.
pub(super) fn instructions(skill: &Skill) -> CallReport {
    let summary = format!("{} consists of instructions:", subject(skill));
    let facts = SkillFacts { name: &skill.name, files: &skill.content.files };
    let report = CallReport::new(summary).quoted(skill.body.as_str()).data(&facts);
    if skill.allowed_tools.is_empty() {
        return report;
    }
    report.note(format!("It was written for the tools {}.", skill.allowed_tools.join(", ")))
}
