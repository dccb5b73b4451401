//! `lango skills` and `lango trust`: what the operator was taught, and who may teach it.

use std::path::Path;

use lango_operator::{Records, Skill, Skills};
use serde::Serialize;

use super::table::table;
use super::{Setting, print, print_json};
use crate::arguments::{SkillsCommand, TrustArguments};
use crate::failure::{self, Failure};
use crate::{config, wiring};

#[derive(Serialize)]
struct SkillView<'a> {
    name: &'a str,
    tool: String,
    description: &'a str,
    directory: String,
    digest: &'a str,
    state: &'static str,
    files: &'a [String],
    allowed_tools: &'a [String],
}

pub(crate) async fn skills(setting: &Setting, command: SkillsCommand) -> Result<u8, Failure> {
    let (database, _) = wiring::open_store(setting.config(), &setting.home).await?;
    let records = Records::default();
    records.connect(database).await?;
    let here = wiring::workspace(None)?;
    let trusted = wiring::is_trusted(setting.config(), &here);
    let skills = wiring::skills(setting.config(), &here);
    match command {
        SkillsCommand::List { json } => list(&skills, &records, &here, trusted, json)?,
        SkillsCommand::Show { name } => show(&skills, &records, &name)?,
    }
    Ok(failure::ANSWERED)
}

fn view<'a>(skill: &'a Skill, records: &Records) -> SkillView<'a> {
    SkillView {
        name: &skill.name,
        tool: skill.tool_name(),
        description: &skill.description,
        directory: skill.directory.display().to_string(),
        digest: skill.digest(),
        state: if records.is_pinned(skill) { "allowed" } else { "asks at its next use" },
        files: skill.files(),
        allowed_tools: &skill.allowed_tools,
    }
}

fn list(
    skills: &Skills,
    records: &Records,
    here: &Path,
    trusted: bool,
    json: bool,
) -> Result<(), Failure> {
    let views: Vec<SkillView<'_>> = skills.found.iter().map(|skill| view(skill, records)).collect();
    if json {
        return print_json(&views);
    }
    let mut text = if views.is_empty() {
        "There are no skills. They are directories with a SKILL.md in ~/.agents/skills.\n"
            .to_owned()
    } else {
        let row = |view: &SkillView<'_>| {
            vec![view.tool.clone(), view.state.to_owned(), view.description.to_owned()]
        };
        table(&["TOOL", "STATE", "DESCRIPTION"], &views.iter().map(row).collect::<Vec<_>>())
    };
    for problem in &skills.problems {
        text += &format!("not used: {}\n", lango_tool::visible(problem));
    }
    if !trusted && here.join(".agents/skills").is_dir() {
        text += "The skills of this directory are not used. If you trust it: lango trust\n";
    }
    print(&text)
}

fn show(skills: &Skills, records: &Records, name: &str) -> Result<(), Failure> {
    let named = |skill: &&std::sync::Arc<Skill>| skill.name == name || skill.tool_name() == name;
    let skill = skills.found.iter().find(named).ok_or_else(|| {
        Failure::usage(format!("there is no skill {name:?}. See: lango skills list"))
    })?;
    print_json(&view(skill, records))
}

pub(crate) fn trust(setting: &Setting, arguments: &TrustArguments) -> Result<u8, Failure> {
    let mut trusted = setting.config().trust.directories.clone();
    if arguments.list {
        let lines: String = trusted.iter().map(|directory| format!("{directory}\n")).collect();
        print(if lines.is_empty() { "No directory is trusted.\n" } else { &lines })?;
        return Ok(failure::ANSWERED);
    }
    let directory = wiring::workspace(arguments.directory.as_deref())?.display().to_string();
    let was = trusted.contains(&directory);
    trusted.retain(|known| *known != directory);
    if !arguments.revoke {
        trusted.push(directory.clone());
    }
    let quoted: Vec<String> =
        trusted.iter().map(|known| toml::Value::String(known.clone()).to_string()).collect();
    let list = format!("[{}]", quoted.join(", "));
    config::set(&setting.home.config_file, "trust.directories", &list)?;
    print(&match (arguments.revoke, was) {
        (false, _) => format!(
            "{directory} is trusted: the operator is offered its skills, and asks before the first \
             use of each.\nTo take it back: lango trust --revoke\n"
        ),
        (true, true) => format!("{directory} is not trusted any more.\n"),
        (true, false) => format!("{directory} was not trusted.\n"),
    })?;
    Ok(failure::ANSWERED)
}
