//! Defines the tools that write drafts and list skills.

use lango_protocol::{CallReport, Space};
use lango_text::{code_span, make_lines_visible, make_visible, plural, to_one_line};
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ListedSkill, NewSkill, SkillSources};
use crate::reporting::{MAX_NAME_CHARACTERS, MAX_REMARK_CHARACTERS, describe_activity};

/// Describes the state of a draft.
const DRAFT_STATE: &str = "inactive until a person approves it";

/// Implements `create_skill`.
pub(crate) struct CreateSkill(pub(crate) SkillSources);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateArguments {
    /// Lower-case letters, digits and single hyphens inside.
    name: String,
    /// What it does and when to use it.
    description: String,
    /// What an agent that uses it is told. This or a script.
    instructions: Option<String>,
    /// A shell script that it runs. This or instructions.
    script: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct CreateOutput {
    created: String,
    state: &'static str,
    next: String,
}

impl CreateArguments {
    fn skill(&self) -> NewSkill {
        NewSkill {
            name: self.name.clone(),
            description: self.description.clone(),
            instructions: self.instructions.clone(),
            script: self.script.clone(),
        }
    }
}

impl Tool for CreateSkill {
    type Arguments = CreateArguments;
    type Output = CreateOutput;
    const NAME: &'static str = "create_skill";
    const DESCRIPTION: &'static str = "Writes a new skill with instructions or a script. It stays \
         inactive until a person approves it.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        given: CreateArguments,
        context: ToolContext,
    ) -> Result<CreateOutput, ToolError> {
        if *context.space.own() != Space::Owner {
            return Err(ToolError::Forbidden("only the owner's turns write skills".to_owned()));
        }
        let usable = (self.0.usable)();
        let taken = |name: &str| usable.iter().any(|skill| skill.name == name);
        let draft = self.0.drafts.create(&given.skill(), taken)?;
        let command = approval_command(&draft.name);
        let next = format!("the user can look at it and approve it with: {command}");
        Ok(CreateOutput { created: draft.name, state: DRAFT_STATE, next })
    }

    fn describe(&self, given: &CreateArguments) -> Option<String> {
        describe_activity("Writing the skill", &given.name)
    }

    fn report(&self, _: &CreateArguments, output: &CreateOutput) -> Option<CallReport> {
        let (name, state) = (code_span(&output.created), output.state);
        let command = code_span(&approval_command(&output.created));
        let report = CallReport::new(format!("Wrote the skill {name}, {state}."))
            .note(format!("To look at it and approve it: {command}"));
        Some(report.data(output))
    }

    fn propose(&self, given: &CreateArguments) -> Option<Proposal> {
        // The call itself refuses an invalid skill.
        let skill = given.skill().check_and_clean().ok()?;
        let mut summary = format!("Write the skill {}, {DRAFT_STATE}", make_visible(&skill.name));
        for file in skill.render_files() {
            let text = file.text.strip_suffix('\n').unwrap_or(&file.text);
            summary +=
                &format!("\n{}\n{}", make_visible(&file.path), make_lines_visible(text, "  | "));
        }
        Some(Proposal::of(summary, [&skill.name]))
    }
}

/// Returns the command with which a person approves a draft.
fn approval_command(name: &str) -> String {
    format!("lango skills approve {name}")
}

/// Implements `list_skills`.
pub(crate) struct ListSkills(pub(crate) SkillSources);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListArguments {}

#[derive(Debug, Serialize)]
pub(crate) struct ListOutput {
    skills: Vec<ListedSkill>,
}

impl Tool for ListSkills {
    type Arguments = ListArguments;
    type Output = ListOutput;
    const NAME: &'static str = "list_skills";
    const DESCRIPTION: &'static str =
        "The skills there are, with where they come from and whether they can be used.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(&self, _: ListArguments, context: ToolContext) -> Result<ListOutput, ToolError> {
        let mut skills = (self.0.usable)();
        // Drafts are the owner's, like everything that was not approved.
        if *context.space.own() != Space::Owner {
            return Ok(ListOutput { skills });
        }
        skills.extend(self.0.drafts.list()?.iter().map(|draft| ListedSkill {
            name: draft.name.clone(),
            description: draft.description(),
            origin: "created by the librarian".to_owned(),
            state: DRAFT_STATE.to_owned(),
        }));
        Ok(ListOutput { skills })
    }

    fn describe(&self, _: &ListArguments) -> Option<String> {
        Some("Listing the skills".to_owned())
    }

    fn report(&self, _: &ListArguments, output: &ListOutput) -> Option<CallReport> {
        let skills = &output.skills;
        let report = if skills.is_empty() {
            CallReport::new("There are no skills yet.")
        } else {
            let line = |skill: &ListedSkill| {
                let description = to_one_line(&skill.description, MAX_REMARK_CHARACTERS);
                let state = to_one_line(&skill.state, MAX_NAME_CHARACTERS);
                format!("- {}: {description} ({state})", code_span(&skill.name))
            };
            let lines: Vec<String> = skills.iter().map(line).collect();
            let number = plural(lines.len(), "skill", "skills");
            CallReport::new(format!("{number}:")).markdown(lines.join("\n"))
        };
        Some(report.data(skills))
    }
}
