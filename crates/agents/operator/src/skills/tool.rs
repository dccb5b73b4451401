//! Offers a skill as a tool, which returns its instructions or the output of its script.

use std::path::PathBuf;
use std::sync::Arc;

use lango_text::make_visible;
use lango_tool::{
    AnyTool, BoundResource, ErasedCall, PreparedCall, Proposal, ProposedStep, RegisteredTool,
    SafetyLevel, ToolContext, ToolDeclaration, ToolError, ToolFuture, ToolOutput, write_schema,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::content::Content;
use super::preview::render_for_question;
use super::{Skill, Skills, report};
use crate::sentence::describe_activity;
use crate::shell::{ProgramCall, ProgramRunner};
use crate::{OperatorSettings, Records, Workspace};

/// Limits how many seconds a script may run.
const MAX_SCRIPT_SECONDS: u64 = 600;

/// Offers one skill.
pub(crate) struct SkillTool {
    skill: Arc<Skill>,
    workspace: Workspace,
    settings: Arc<OperatorSettings>,
    records: Records,
}

impl SkillTool {
    /// Creates the tool of a skill.
    pub(crate) fn register(
        skill: &Arc<Skill>,
        workspace: &Workspace,
        settings: &Arc<OperatorSettings>,
        records: &Records,
    ) -> RegisteredTool {
        let declaration = ToolDeclaration {
            name: skill.tool_name().into(),
            description: skill.description.as_str().into(),
            parameters: Arc::from(skill.parameters.schema()),
            level: SafetyLevel::Dangerous,
        };
        let tool = Self {
            skill: Arc::clone(skill),
            workspace: workspace.clone(),
            settings: Arc::clone(settings),
            records: records.clone(),
        };
        let read_only = !skill.acts();
        RegisteredTool::dynamic(declaration, read_only, Arc::new(tool))
    }
}

impl AnyTool for SkillTool {
    fn prepare(self: Arc<Self>, arguments: &str) -> Result<PreparedCall, ToolError> {
        let arguments = self.skill.parameters.check(arguments).map_err(ToolError::Arguments)?;
        self.check_that_it_can_be_shown()?;
        Ok(PreparedCall::new(Call { tool: self, arguments }))
    }

    fn level(&self) -> Option<SafetyLevel> {
        // Instructions that the user has seen are text like any other.
        let harmless = !self.skill.acts() && self.records.is_pinned(&self.skill);
        harmless.then_some(SafetyLevel::Safe)
    }
}

struct Call {
    tool: Arc<SkillTool>,
    arguments: Map<String, Value>,
}

impl Call {
    /// Returns the script that would run, relative to the skill.
    fn script(&self) -> Option<String> {
        let skill = &self.tool.skill;
        let named = self.arguments.get("script").and_then(Value::as_str);
        skill.run.clone().or_else(|| named.map(|name| format!("scripts/{name}")))
    }

    fn words(&self) -> Vec<String> {
        let mut words = vec![self.tool.skill.name.clone()];
        words.extend(self.arguments.iter().map(|(name, value)| match value {
            Value::String(text) => format!("{name}={text}"),
            value => format!("{name}={value}"),
        }));
        words
    }

    fn summary(&self) -> String {
        let skill = &self.tool.skill;
        let place = make_visible(&skill.directory.to_string_lossy());
        let what = match self.script() {
            Some(script) => {
                let words: Vec<String> =
                    self.words()[1..].iter().map(|w| make_visible(w)).collect();
                let sandbox = self.tool.runner().describe_confinement();
                format!(
                    "Run {} of the skill {} in {place}\nwith {}\n{}",
                    make_visible(&script),
                    skill.name,
                    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") },
                    make_visible(&sandbox)
                )
            }
            None => format!("Take the instructions of the skill {} in {place}", skill.name),
        };
        if self.tool.records.is_pinned(skill) {
            return what;
        }
        // A call is prepared only if they can be shown; one that has changed since does not run.
        let files = render_for_question(skill).unwrap_or_else(|why| format!("\n{why}"));
        format!("{what}\nIt has not been used before as it is now:{files}")
    }

    async fn act(self, context: ToolContext) -> Result<ToolOutput, ToolError> {
        let skill = &self.tool.skill;
        let now = Content::read(&skill.directory).map_err(ToolError::Failed)?;
        if now != skill.content {
            return Err(ToolError::Failed(format!(
                "the skill {} has changed since it was read; it can be used after a restart",
                skill.name
            )));
        }
        // A call that runs was allowed.
        self.tool.records.pin(skill).await.map_err(|error| {
            ToolError::Failed(format!("what was allowed could not be kept: {error}"))
        })?;
        let Some(script) = self.script() else {
            let report = Some(report::instructions(skill).bounded());
            return Ok(ToolOutput { text: instructions(skill), report });
        };
        let arguments = match self.arguments.get("arguments") {
            Some(Value::Array(arguments)) if skill.run.is_none() => {
                arguments.iter().filter_map(Value::as_str).map(str::to_owned).collect()
            }
            _ => Vec::new(),
        };
        let program = ProgramCall {
            path: skill.directory.join(&script),
            home: skill.directory.clone(),
            arguments,
            variables: variables(skill, &self.arguments),
            input: Value::Object(self.arguments).to_string(),
            timeout_seconds: MAX_SCRIPT_SECONDS,
        };
        let result = self.tool.runner().run(program, &context).await?;
        let report = Some(result.report(&report::subject(skill)).bounded());
        Ok(ToolOutput { text: result.to_string(), report })
    }
}

impl SkillTool {
    /// Refuses a skill that the user has not seen and that a question cannot show whole: what is not
    /// read cannot be agreed to.
    fn check_that_it_can_be_shown(&self) -> Result<(), ToolError> {
        let skill = &self.skill;
        if self.records.is_pinned(skill) {
            return Ok(());
        }
        let refuse = |why: String| {
            let name = &skill.name;
            ToolError::Forbidden(format!(
                "the skill {name} has not been used before as it is now, and a question cannot show \
                 it whole: {why}. The user can read and allow it with: lango skills approve {name}"
            ))
        };
        render_for_question(skill).map(drop).map_err(refuse)
    }

    fn runner(&self) -> ProgramRunner {
        ProgramRunner::new(&self.workspace, &self.settings)
    }
}

impl ErasedCall for Call {
    fn describe(&self) -> Option<String> {
        describe_activity("Using the skill", &self.tool.skill.name)
    }

    fn propose(&self) -> Option<Proposal> {
        let skill = &self.tool.skill;
        let records = &self.tool.records;
        let always_ask = match records.pinned(&skill.directory) {
            Some(digest) if digest == skill.digest() => None,
            Some(_) => Some("the skill has changed since it was last allowed".to_owned()),
            None => Some("it is the first use of this skill".to_owned()),
        };
        let now = Content::read(&skill.directory);
        let digest = now.map_or_else(|why| why, |content| content.digest);
        Some(Proposal {
            summary: self.summary(),
            steps: vec![ProposedStep { words: self.words(), ..ProposedStep::default() }],
            bound: vec![BoundResource { what: skill.directory.display().to_string(), digest }],
            always_ask,
            ..Proposal::default()
        })
    }

    fn run(self: Box<Self>, context: ToolContext) -> ToolFuture {
        Box::pin(self.act(context))
    }
}

/// Returns the parameters as environment variables of a script: `PARAM_NAME`, next to `SKILL_DIR`.
/// Its standard input has them as JSON.
fn variables(skill: &Skill, arguments: &Map<String, Value>) -> Vec<(String, String)> {
    let directory = skill.directory.to_string_lossy().into_owned();
    let mut variables = vec![("SKILL_DIR".to_owned(), directory)];
    for (name, value) in arguments {
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if plain {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            variables.push((format!("PARAM_{}", name.to_uppercase()), value));
        }
    }
    variables
}

fn instructions(skill: &Skill) -> String {
    let mut text = format!(
        "Instructions of the skill {} (files: {} in {})\n\n{}",
        skill.name,
        skill.content.files.join(", "),
        skill.directory.display(),
        skill.body
    );
    if !skill.allowed_tools.is_empty() {
        text.push_str(&format!(
            "\n\n(Written for the tools {}. You have your own tools and no others.)",
            skill.allowed_tools.join(", ")
        ));
    }
    text
}

/// Implements `skill_run`, which runs any skill by its name.
pub(crate) struct SkillRun {
    tools: Vec<(String, RegisteredTool)>,
}

#[derive(Deserialize)]
struct RunArguments {
    name: String,
    #[serde(flatten)]
    parameters: Map<String, Value>,
}

impl SkillRun {
    /// Creates the tool if there is a skill.
    pub(crate) fn register(
        skills: &Skills,
        workspace: &Workspace,
        settings: &Arc<OperatorSettings>,
        records: &Records,
    ) -> Option<RegisteredTool> {
        let tool = |skill: &Arc<Skill>| {
            (skill.name.clone(), SkillTool::register(skill, workspace, settings, records))
        };
        let tools: Vec<_> = skills.found.iter().map(tool).collect();
        if tools.is_empty() {
            return None;
        }
        let names: Vec<&str> = tools.iter().map(|(name, _)| name.as_str()).collect();
        let schema = serde_json::json!({
            "type": "object",
            "properties": { "name": { "type": "string", "enum": names } },
            "required": ["name"]
        });
        let declaration = ToolDeclaration {
            name: "skill_run".into(),
            description: "Uses a skill by its name, with the skill's own parameters.".into(),
            parameters: write_schema(&schema),
            level: SafetyLevel::Dangerous,
        };
        let run = Arc::new(Self { tools });
        Some(RegisteredTool::dynamic(declaration, false, run))
    }
}

impl AnyTool for SkillRun {
    fn prepare(self: Arc<Self>, arguments: &str) -> Result<PreparedCall, ToolError> {
        let RunArguments { name, parameters } = serde_json::from_str(arguments)
            .map_err(|error| ToolError::Arguments(error.to_string()))?;
        let Some((_, tool)) = self.tools.iter().find(|(known, _)| *known == name) else {
            let names: Vec<&str> = self.tools.iter().map(|(name, _)| name.as_str()).collect();
            return Err(ToolError::Arguments(format!(
                "there is no skill {:?}; there is: {}",
                make_visible(&name),
                names.join(", ")
            )));
        };
        tool.prepare(&Value::Object(parameters).to_string())
    }
}

/// Returns the directories that hold the skills of a user and of a trusted project.
pub fn skill_directories(home: Option<PathBuf>, project: Option<PathBuf>) -> Vec<PathBuf> {
    [project, home].into_iter().flatten().map(|place| place.join(".agents/skills")).collect()
}
