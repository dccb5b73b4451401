//! `lango skills` and `lango trust`: the operator's skills, and the directories that may add some.

use lango_app::{Stores, config, find_skills, find_workspace, is_trusted, knowledge};
use lango_librarian::skills::{SkillDraft, SkillDrafts};
use lango_operator::{Records, Skill, Skills};
use lango_text::{make_lines_visible, make_visible};
use serde::Serialize;

use super::{CommandContext, Printer, ask_to_confirm};
use crate::failure::{ExitStatus, Failure};
use lango_arguments::{SkillsCommand, TrustArguments};
use lango_terminal::render_table;

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

pub(crate) async fn skills(
    context: &CommandContext,
    command: SkillsCommand,
) -> Result<ExitStatus, Failure> {
    let Stores { database, .. } = context.app.open_stores().await?;
    let records = Records::open(database).await?;
    let here = find_workspace(None)?;
    let trusted = is_trusted(context.config(), &here);
    let skills = find_skills(context.config(), &here);
    let drafts = knowledge::open_drafts(&context.app.home)?;
    match command {
        SkillsCommand::List { json } => {
            list(context.printer, &skills, &records, &list_drafts(&drafts)?, json)?;
            if !json && !trusted && here.join(".agents/skills").is_dir() {
                context.printer.print(
                    "The skills of this directory are not used. If you trust it: lango trust\n",
                )?;
            }
        }
        SkillsCommand::Show { name } => {
            show(context.printer, &skills, &records, &list_drafts(&drafts)?, &name)?;
        }
        SkillsCommand::Approve { name, yes } => {
            let is_draft = list_drafts(&drafts)?.iter().any(|draft| draft.name == name);
            return match find_skill(&skills, &name) {
                Some(_) if is_draft => Err(Failure::usage(format!(
                    "there is another skill {name}, which would hide it. See: lango skills show \
                     {name}"
                ))),
                Some(skill) => allow(context.printer, &records, skill, yes).await,
                None => approve(context.printer, &drafts, &name, yes).await,
            };
        }
        SkillsCommand::Discard { name } => {
            drafts.discard(&name)?;
            context.printer.print(&format!("Removed {name}. It was never in use.\n"))?;
        }
    }
    Ok(ExitStatus::Success)
}

fn list_drafts(drafts: &SkillDrafts) -> Result<Vec<SkillDraft>, Failure> {
    Ok(drafts.list()?)
}

#[derive(Serialize)]
struct DraftView<'a> {
    name: &'a str,
    description: String,
    state: &'static str,
    files: &'a [(String, String)],
}

/// An entry of the list: a skill, or a draft that waits for approval.
#[derive(Serialize)]
#[serde(untagged)]
enum SkillListEntry<'a> {
    Usable(SkillView<'a>),
    Waiting(DraftView<'a>),
}

impl<'a> DraftView<'a> {
    fn of(draft: &'a SkillDraft) -> Self {
        let (name, files) = (draft.name.as_str(), draft.files.as_slice());
        Self { name, description: draft.description(), state: "waits for approval", files }
    }
}

/// Renders a whole draft, as it would be used.
fn render_draft(draft: &SkillDraft) -> String {
    let file = |(path, text): &(String, String)| {
        let text = text.strip_suffix('\n').unwrap_or(text);
        format!("{}\n{}\n", make_visible(path), make_lines_visible(text, "  | "))
    };
    draft.files.iter().map(file).collect()
}

fn find_skill<'a>(skills: &'a Skills, name: &str) -> Option<&'a Skill> {
    let named = |skill: &&std::sync::Arc<Skill>| skill.name == name || skill.tool_name() == name;
    skills.found.iter().find(named).map(AsRef::as_ref)
}

/// Shows a skill whole, and records that the user allows it as it is.
async fn allow(
    printer: Printer,
    records: &Records,
    skill: &Skill,
    yes: bool,
) -> Result<ExitStatus, Failure> {
    let name = &skill.name;
    if records.is_pinned(skill) {
        printer.print(&format!("{name} is allowed as it is.\n"))?;
        return Ok(ExitStatus::Success);
    }
    let files = skill.render_whole().map_err(Failure::failed)?;
    printer.print(&format!("{}{files}\n", make_visible(&skill.directory.to_string_lossy())))?;
    let question = format!("Let {name} be used as it is?");
    if !yes && !ask_to_confirm(&question, &format!("approving {name}")).await? {
        printer.print("Nothing was changed.\n")?;
        return Ok(ExitStatus::Failure);
    }
    records.pin(skill).await?;
    printer.print(&format!("{name} is allowed until something in it changes.\n"))?;
    Ok(ExitStatus::Success)
}

async fn approve(
    printer: Printer,
    drafts: &SkillDrafts,
    name: &str,
    yes: bool,
) -> Result<ExitStatus, Failure> {
    let draft = drafts.read(name)?;
    printer.print(&render_draft(&draft))?;
    if !yes
        && !ask_to_confirm(&format!("Let {name} be used?"), &format!("approving {name}")).await?
    {
        printer
            .print(&format!("{name} still waits. To remove it: lango skills discard {name}\n"))?;
        return Ok(ExitStatus::Failure);
    }
    let place = drafts.approve(&draft)?;
    printer.print(&format!(
        "{name} is in {}. Its first use will be asked about.\n",
        place.display()
    ))?;
    Ok(ExitStatus::Success)
}

fn build_view<'a>(skill: &'a Skill, records: &Records) -> SkillView<'a> {
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
    printer: Printer,
    skills: &Skills,
    records: &Records,
    drafts: &[SkillDraft],
    json: bool,
) -> Result<(), Failure> {
    let views: Vec<SkillView<'_>> =
        skills.found.iter().map(|skill| build_view(skill, records)).collect();
    if json {
        let usable = views.into_iter().map(SkillListEntry::Usable);
        let waiting = drafts.iter().map(|draft| SkillListEntry::Waiting(DraftView::of(draft)));
        return Ok(printer.json(&usable.chain(waiting).collect::<Vec<_>>())?);
    }
    let mut text = if views.is_empty() {
        "There are no skills. They are directories with a SKILL.md in ~/.agents/skills.\n"
            .to_owned()
    } else {
        let row = |view: &SkillView<'_>| {
            vec![view.tool.clone(), view.state.to_owned(), view.description.to_owned()]
        };
        render_table(&["TOOL", "STATE", "DESCRIPTION"], &views.iter().map(row).collect::<Vec<_>>())
    };
    for problem in &skills.problems {
        text += &format!("not used: {}\n", lango_text::make_visible(problem));
    }
    for draft in drafts {
        let (name, what) = (&draft.name, make_visible(&draft.description()));
        text += &format!("waits for approval: {name}: {what} (lango skills approve {name})\n");
    }
    Ok(printer.print(&text)?)
}

fn show(
    printer: Printer,
    skills: &Skills,
    records: &Records,
    drafts: &[SkillDraft],
    name: &str,
) -> Result<(), Failure> {
    if let Some(draft) = drafts.iter().find(|draft| draft.name == name) {
        return Ok(printer.json(&DraftView::of(draft))?);
    }
    let skill = find_skill(skills, name).ok_or_else(|| {
        Failure::usage(format!("there is no skill {name:?}. See: lango skills list"))
    })?;
    Ok(printer.json(&build_view(skill, records))?)
}

pub(crate) fn trust(
    context: &CommandContext,
    arguments: &TrustArguments,
) -> Result<ExitStatus, Failure> {
    let mut trusted = context.config().trust.directories.clone();
    if arguments.list {
        let lines: String = trusted.iter().map(|directory| format!("{directory}\n")).collect();
        context.printer.print(if lines.is_empty() {
            "No directory is trusted.\n"
        } else {
            &lines
        })?;
        return Ok(ExitStatus::Success);
    }
    let directory = find_workspace(arguments.directory.as_deref())?.display().to_string();
    let was = trusted.contains(&directory);
    trusted.retain(|known| *known != directory);
    if !arguments.revoke {
        trusted.push(directory.clone());
    }
    let quoted: Vec<String> =
        trusted.iter().map(|known| toml::Value::String(known.clone()).to_string()).collect();
    let list = format!("[{}]", quoted.join(", "));
    config::set_key(&context.app.home.config_file, "trust.directories", &list)?;
    context.printer.print(&match (arguments.revoke, was) {
        (false, _) => format!(
            "{directory} is trusted: the operator is offered its skills, and asks before the first \
             use of each. The MCP servers in its .mcp.json are used once you approve each of them: lango mcp list.\n\
             To take it back: lango trust --revoke\n"
        ),
        (true, true) => format!("{directory} is not trusted any more.\n"),
        (true, false) => format!("{directory} was not trusted.\n"),
    })?;
    Ok(ExitStatus::Success)
}
