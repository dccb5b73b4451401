//! `lango workflow`: checks, runs and shows workflows, and takes decisions about their steps.

use std::path::Path;

use lango_automator::{AutomatorError, DueTime, JobBook, NewRun, WorkflowRunView, Workflows};
use lango_protocol::Space;
use lango_text::{make_visible, to_one_line};
use lango_workflow::{
    Definition, InputType, MAX_DEFINITION_BYTES, Problem, WorkflowError, draw_svg, draw_text,
};
use serde::Serialize;
use serde_json::{Map, Value};

use super::cron::open;
use super::sessions::local_time;
use super::workflow_progress::run_and_follow;
use super::{CommandContext, Printer, ask_to_confirm};
use crate::failure::{ExitStatus, Failure};
use lango_arguments::{WorkflowCommand, WorkflowRunArguments};
use lango_terminal::render_table;

/// Limits the characters of a cell.
const MAX_CELL_CHARACTERS: usize = 90;
/// The name of the person who decides at a terminal.
const DECIDER: &str = "the owner";

#[derive(Serialize)]
struct ValidationView {
    file: String,
    valid: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    problems: Vec<ProblemView>,
}

#[derive(Serialize)]
struct ProblemView {
    line: u32,
    column: u32,
    reason: String,
}

pub(crate) async fn workflow(
    context: &CommandContext,
    command: WorkflowCommand,
    space: &Space,
) -> Result<ExitStatus, Failure> {
    let printer = context.printer;
    match command {
        WorkflowCommand::Validate { file, json } => return validate(printer, &file, json),
        WorkflowCommand::Run(arguments) => {
            return Box::pin(run(context, arguments, space)).await;
        }
        _ => {}
    }
    let jobs = open(context).await?;
    let workflows = Workflows::new(jobs.clone());
    let goes_on = matches!(
        command,
        WorkflowCommand::Approve { .. }
            | WorkflowCommand::Retry { .. }
            | WorkflowCommand::Reject { .. }
    );
    match command {
        WorkflowCommand::Validate { .. } | WorkflowCommand::Run(_) => {}
        WorkflowCommand::Save { file, json } => {
            let (text, _) = read_definition(&file)?;
            let saved = workflows.save(&text, space).await?;
            if json {
                printer.json(&saved)?;
            } else {
                let name = &saved.name;
                printer.print(&format!("Saved {name}. Run it: lango workflow run {name}\n"))?;
            }
        }
        WorkflowCommand::Status { run, json } => {
            print_run(printer, &workflows, &run, space, json).await?;
        }
        WorkflowCommand::List { limit, json } => {
            list(printer, &workflows, space, limit.clamp(1, 1000), json).await?;
        }
        WorkflowCommand::History { name, limit, json } => {
            let limit = limit.clamp(1, 1000);
            let runs = workflows.list_ended(name.as_deref(), space, limit).await?;
            match runs.as_slice() {
                runs if json => printer.json(&runs)?,
                [] => printer.print("No run of a workflow has ended yet.\n")?,
                runs => print_runs(printer, runs)?,
            }
        }
        WorkflowCommand::Show { name } => {
            let text = find_text(&workflows, &name, space).await?;
            printer.write_result(&text)?;
        }
        WorkflowCommand::Graph { workflow, svg } => {
            let (_, definition) = find_definition(&workflows, &workflow, space).await?;
            match svg {
                Some(file) => {
                    std::fs::write(&file, draw_svg(&definition))?;
                    printer.print(&format!("Drew {} as {}\n", definition.name, file.display()))?;
                }
                None => printer.print(&draw_text(&definition))?,
            }
        }
        WorkflowCommand::Approve { run, step, output, json } => {
            let found = workflows.find(&run, space).await?;
            let output = output.map_or(Value::Null, |output| {
                serde_json::from_str(&output).unwrap_or(Value::String(output))
            });
            workflows.approve(&found, &step, DECIDER, output).await?;
            decided(printer, &workflows, &found.id, space, "goes on", json).await?;
        }
        WorkflowCommand::Reject { run, step, json } => {
            let found = workflows.find(&run, space).await?;
            workflows.reject(&found, &step, DECIDER).await?;
            decided(printer, &workflows, &found.id, space, "goes on without it", json).await?;
        }
        WorkflowCommand::Retry { run, step, json } => {
            let found = workflows.find(&run, space).await?;
            workflows.retry(&found, &step).await?;
            decided(printer, &workflows, &found.id, space, "goes on", json).await?;
        }
        WorkflowCommand::Cancel { run, json } => {
            let found = workflows.find(&run, space).await?;
            let is_cancelled = workflows.cancel(&found).await?;
            let what = if is_cancelled { "is cancelled" } else { "had ended" };
            decided(printer, &workflows, &found.id, space, what, json).await?;
        }
        WorkflowCommand::Remove { name, yes, json } => {
            return remove(printer, &workflows, &name, yes, json, space).await;
        }
    }
    if goes_on { tell_absence(printer, &jobs).await } else { Ok(ExitStatus::Success) }
}

fn validate(printer: Printer, file: &Path, json: bool) -> Result<ExitStatus, Failure> {
    let shown = file.display().to_string();
    let (name, problems) = match Definition::parse(&read_file(file)?) {
        Ok(definition) => (Some(definition.name), Vec::new()),
        Err(error) => (None, error.problems().to_vec()),
    };
    let is_valid = problems.is_empty();
    if json {
        let view = |problem: Problem| {
            let Problem { line, column, reason } = problem;
            ProblemView { line, column, reason }
        };
        let problems = problems.into_iter().map(view).collect();
        printer.json(&ValidationView { file: shown, valid: is_valid, name, problems })?;
    } else {
        for problem in &problems {
            printer.print(&format!("{shown}:{problem}\n"))?;
        }
        if let Some(name) = name {
            printer.print(&format!("{shown}: the workflow {name} is valid\n"))?;
        }
    }
    Ok(if is_valid { ExitStatus::Success } else { ExitStatus::WrongUsage })
}

fn read_file(file: &Path) -> Result<String, Failure> {
    let cannot = |reason: &dyn std::fmt::Display| {
        Failure::usage(format!("{} cannot be read: {reason}", file.display()))
    };
    let size = std::fs::metadata(file).map_err(|error| cannot(&error))?.len();
    if size > MAX_DEFINITION_BYTES as u64 * 2 {
        return Err(cannot(&format!("it has more than {MAX_DEFINITION_BYTES} bytes")));
    }
    std::fs::read_to_string(file).map_err(|error| cannot(&error))
}

/// Reads a file that must be a valid workflow.
fn read_definition(file: &Path) -> Result<(String, Definition), Failure> {
    let text = read_file(file)?;
    let definition = Definition::parse(&text).map_err(|error| invalid(file, &error))?;
    Ok((text, definition))
}

fn invalid(file: &Path, error: &WorkflowError) -> Failure {
    let shown = file.display();
    let line = |problem: &Problem| format!("{shown}:{problem}");
    let lines: Vec<String> = error.problems().iter().map(line).collect();
    Failure::usage(format!("the workflow is not valid:\n{}", lines.join("\n")))
}

/// Tells whether a name means a file.
fn is_file(name: &str) -> bool {
    let path = Path::new(name);
    let is_yaml = path.extension().is_some_and(|end| end == "yaml" || end == "yml");
    is_yaml || name.contains('/') || path.is_file()
}

async fn find_definition(
    workflows: &Workflows,
    name: &str,
    space: &Space,
) -> Result<(String, Definition), Failure> {
    if is_file(name) {
        return read_definition(Path::new(name));
    }
    let text = find_text(workflows, name, space).await?;
    let definition = Definition::parse(&text).map_err(AutomatorError::from)?;
    Ok((text, definition))
}

/// Returns the definition of a saved workflow, or of a run.
async fn find_text(workflows: &Workflows, name: &str, space: &Space) -> Result<String, Failure> {
    match workflows.find_saved(name, space).await {
        Ok(saved) => Ok(saved.text),
        Err(AutomatorError::UnknownWorkflow(name)) => match workflows.find(&name, space).await {
            Ok(run) => Ok(run.definition),
            Err(_) => Err(AutomatorError::UnknownWorkflow(name).into()),
        },
        Err(error) => Err(error.into()),
    }
}

/// Reads inputs as they are typed, by the types of the definition.
pub(super) fn read_inputs(
    definition: &Definition,
    given: &[String],
) -> Result<Map<String, Value>, Failure> {
    let mut inputs = Map::new();
    for input in given {
        let Some((name, text)) = input.split_once('=') else {
            return Err(Failure::usage(format!("{input:?} is no input. Write --input NAME=VALUE")));
        };
        let declared = definition.inputs.iter().find(|input| input.name == name);
        let is_text = declared.is_none_or(|input| input.kind == InputType::String);
        let value = if is_text {
            Value::String(text.to_owned())
        } else {
            serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
        };
        inputs.insert(name.to_owned(), value);
    }
    Ok(inputs)
}

async fn run(
    context: &CommandContext,
    arguments: WorkflowRunArguments,
    space: &Space,
) -> Result<ExitStatus, Failure> {
    let printer = context.printer;
    let WorkflowRunArguments { workflow, inputs, detach, team, json } = arguments;
    if *space != Space::Owner && !detach {
        return Err(Failure::usage(
            "the work of an API client is run by the server. Start it with --detach",
        ));
    }
    let jobs = open(context).await?;
    let (definition, parsed) =
        find_definition(&Workflows::new(jobs.clone()), &workflow, space).await?;
    let inputs = read_inputs(&parsed, &inputs)?;
    let new = NewRun { definition, inputs, space: space.clone(), session: None };
    if !detach {
        return Box::pin(run_and_follow(context, new, team, json)).await;
    }
    let workflows = Workflows::new(jobs.clone());
    let run = workflows.start(new).await?;
    if json {
        printer.json(&workflows.show(&run).await?)?;
    } else {
        printer.print(&format!("Started {} as {}.\n", run.name, run.id))?;
    }
    tell_absence(printer, &jobs).await
}

async fn tell_absence(printer: Printer, jobs: &JobBook) -> Result<ExitStatus, Failure> {
    if let Some(notice) = jobs.describe_absence(DueTime::Now).await? {
        printer.note(&notice);
    }
    Ok(ExitStatus::Success)
}

async fn list(
    printer: Printer,
    workflows: &Workflows,
    space: &Space,
    limit: u32,
    json: bool,
) -> Result<(), Failure> {
    let saved = workflows.list_saved(space).await?;
    let mut runs = Vec::new();
    for run in workflows.list(space, limit).await? {
        runs.push(WorkflowRunView { steps: Vec::new(), ..workflows.show(&run).await? });
    }
    if json {
        return Ok(printer.json(&serde_json::json!({ "workflows": saved, "runs": runs }))?);
    }
    if saved.is_empty() && runs.is_empty() {
        let text = "There are no workflows. Run one: lango workflow run FILE.yaml\n";
        return Ok(printer.print(text)?);
    }
    if !saved.is_empty() {
        let row = |one: &lango_automator::SavedWorkflow| {
            let description = to_one_line(&one.description, MAX_CELL_CHARACTERS);
            vec![one.name.clone(), local_time(one.updated), description]
        };
        let rows: Vec<Vec<String>> = saved.iter().map(row).collect();
        printer.print(&render_table(&["WORKFLOW", "SAVED", "DESCRIPTION"], &rows))?;
    }
    if runs.is_empty() { Ok(()) } else { print_runs(printer, &runs) }
}

fn print_runs(printer: Printer, runs: &[WorkflowRunView]) -> Result<(), Failure> {
    let row = |run: &WorkflowRunView| {
        let reason = to_one_line(&run.reason, MAX_CELL_CHARACTERS);
        let created = local_time(run.created);
        vec![run.id.clone(), run.name.clone(), created, run.state.to_owned(), reason]
    };
    let rows: Vec<Vec<String>> = runs.iter().map(row).collect();
    let header = ["RUN", "WORKFLOW", "BEGAN", "STATE", "REASON"];
    Ok(printer.print(&render_table(&header, &rows))?)
}

/// Prints a run with its steps.
async fn print_run(
    printer: Printer,
    workflows: &Workflows,
    run: &str,
    space: &Space,
    json: bool,
) -> Result<(), Failure> {
    let view = workflows.show(&workflows.find(run, space).await?).await?;
    if json {
        return Ok(printer.json(&view)?);
    }
    printer.print(&render_run(&view))?;
    Ok(())
}

pub(super) fn render_run(view: &WorkflowRunView) -> String {
    let reason = if view.reason.is_empty() { String::new() } else { format!(": {}", view.reason) };
    let mut text = format!("{} ({}) is {}{}\n\n", view.name, view.id, view.state, reason);
    let row = |step: &lango_automator::StepView| {
        let output = step.describe_output();
        let more = if step.reason.is_empty() { output } else { step.reason.clone() };
        let indent = if step.is_item { "  " } else { "" };
        let name = format!("{indent}{}", step.step);
        vec![name, step.state.to_owned(), to_one_line(&more, MAX_CELL_CHARACTERS)]
    };
    let rows: Vec<Vec<String>> = view.steps.iter().map(row).collect();
    text.push_str(&render_table(&["STEP", "STATE", "RESULT"], &rows));
    for (name, value) in &view.outputs {
        text.push_str(&format!("\n{name}: {}\n", make_visible(&value.to_string())));
    }
    text
}

async fn decided(
    printer: Printer,
    workflows: &Workflows,
    run: &str,
    space: &Space,
    what: &str,
    json: bool,
) -> Result<(), Failure> {
    let run = workflows.find(run, space).await?;
    if json {
        return Ok(printer.json(&workflows.show(&run).await?)?);
    }
    Ok(printer.print(&format!("{} {what}.\n", run.id))?)
}

async fn remove(
    printer: Printer,
    workflows: &Workflows,
    name: &str,
    yes: bool,
    json: bool,
    space: &Space,
) -> Result<ExitStatus, Failure> {
    let saved = workflows.list_saved(space).await?.into_iter().find(|one| one.name == name);
    let run = match &saved {
        Some(_) => None,
        None => Some(workflows.find(name, space).await?),
    };
    let what = run.as_ref().map_or(name, |run| &run.id);
    if !yes && !ask_to_confirm(&format!("Remove {what}?"), "removing a workflow").await? {
        printer.print("Nothing was removed.\n")?;
        return Ok(ExitStatus::Success);
    }
    match &run {
        Some(run) => workflows.remove(run).await?,
        None => workflows.remove_saved(name, space).await?,
    }
    if json {
        printer.json(&serde_json::json!({ "removed": what }))?;
    } else {
        printer.print(&format!("{what} was removed.\n"))?;
    }
    Ok(ExitStatus::Success)
}
