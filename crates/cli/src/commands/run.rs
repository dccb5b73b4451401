//! `lango run`: one message, one answer.

use std::io::{self, IsTerminal, Read};
use std::sync::Arc;
use std::time::Duration;

use lango_app::provider::{self, ModelOptions, ModelServer, ReadyModels, ServerConsent};
use lango_app::{
    Audience, Notice, OpenOptions, RunningAutomation, RunningTeam, TeamOptions, confinement,
    find_workspace,
};
use lango_automator::LocalRunner;
use lango_model::UserMessage;
use lango_protocol::{MessageOrigin, OutcomeStatus, SessionId};
use lango_runtime::TurnRequest;
use lango_store::Journal;

use super::turn::{StopSignals, follow_turn};
use super::{CommandContext, Printer, image};
use crate::failure::{ExitStatus, Failure};
use lango_arguments::{ApproveArguments, RunArguments, SessionChoice, TeamArguments};
use lango_terminal::Display;
use lango_terminal::write_stderr;
use lango_terminal::{AnswerSource, Choice, Choices, Terminal, TerminalApprover};
use lango_terminal::{choose_person, choose_value_prompt};

/// Limits the characters of a line about a remote agent.
pub(super) const MAX_NOTICE_CHARACTERS: usize = 600;

/// Limits how long work that is due may delay the end of the program.
const WORK_TIMEOUT: Duration = Duration::from_secs(10);

/// Limits what is read from standard input.
const MAX_INPUT_BYTES: u64 = 1024 * 1024;

pub(crate) async fn run(
    context: &CommandContext,
    arguments: RunArguments,
) -> Result<ExitStatus, Failure> {
    let (text, attachment) = read_message(&arguments.text)?;
    let images =
        arguments.images.iter().map(|path| image::read_image(path)).collect::<Result<_, _>>()?;
    let terminal = Terminal::person();
    let (team, answers) = open(context, arguments.team, &arguments.approve, terminal).await?;
    let session = choose_session(team.runtime.journal(), &arguments.session).await?;
    let printer = context.printer.of_turn((&arguments.output).into());
    let display =
        Display::new(printer, (&arguments.output).into(), answers, team.models.prices.clone());
    printer.introduce(&render_introduction(&team.models, &session));
    print_notices(printer, &team).await?;
    let message = UserMessage { text, attachment, task: None, images };
    let request = TurnRequest::new(session, message, MessageOrigin::Run);
    let automation = team.start_automation(introducing(printer), audience(printer));
    team.note_runner(LocalRunner::Command);
    let (followed, _) = follow_turn(team.runtime.start_turn(request), display).await?;
    if let Some(automation) = automation {
        finish_automation(printer, automation).await;
    }
    if followed.outcome.status == OutcomeStatus::NeedsInput {
        printer.introduce("answer it with: lango run --last \"…\"");
    }
    for command in team.background_commands() {
        let command = lango_text::make_visible_short(&command);
        printer.introduce(&format!("ended with this run: {command}"));
    }
    finish_team(printer, &team).await?;
    Ok(followed.status)
}

/// Opens the team for the user of this terminal. Also returns the source of answers to approvals.
pub(super) async fn open(
    context: &CommandContext,
    team: TeamArguments,
    approve: &ApproveArguments,
    terminal: Option<Terminal>,
) -> Result<(RunningTeam, AnswerSource), Failure> {
    let (team, mut models) = team_options(team);
    warn_about_workspace(context.printer, &team)?;
    if let (ModelOptions::Choose { consent, .. }, Some(terminal)) = (&mut models, &terminal) {
        *consent = Some(ask_about_server(context, terminal));
    }
    let person = choose_person(approve.approve, terminal.clone());
    let value_prompt = choose_value_prompt(approve.approve, terminal.clone());
    let options = OpenOptions { person, value_prompt, ..OpenOptions::new(team, models) };
    let approver = TerminalApprover::new(approve.approve, terminal);
    let answers = approver.answers();
    // The terminal gets its modes back before a signal ends the process: opening can ask questions.
    let mut signals = StopSignals::new()?;
    let assembly = tokio::select! {
        opened = context.app.open(options) => opened?,
        status = signals.next() => {
            return Err(Failure { status, message: "stopped before the team was ready".to_owned() });
        }
    };
    Ok((assembly.runtime(Arc::new(approver)), answers))
}

/// Asks the user at the terminal whether a model server that was found may be used, and remembers a
/// yes.
fn ask_about_server(context: &CommandContext, terminal: &Terminal) -> ServerConsent {
    let (terminal, printer) = (terminal.clone(), context.printer);
    let file = context.app.home.config_file.clone();
    let config = context.config().clone();
    ServerConsent::new(move |server: ModelServer| {
        let (terminal, file, config) = (terminal.clone(), file.clone(), config.clone());
        Box::pin(async move {
            let ModelServer { id, base_url, .. } = &server;
            let question = format!(
                "A program answers at {base_url}, the usual address of {id}. Nothing proves that it is \
                 {id}: any program on this machine can listen there.\nAs your model, it would get what \
                 you say and what agents read, and decide what they do.\nUse it as your model, now and \
                 in later runs?"
            );
            let _prompt_lock = terminal.prompt_lock().await;
            if terminal.ask(&question, Choices::YesNo).await != Some(Choice::Yes) {
                printer
                    .note("not used. To be asked no more: lango config set model.discover false");
                return false;
            }
            match provider::accept_server(&file, &config, &server) {
                Ok(()) => printer.note(&format!("to take it back: lango models revoke {id}")),
                // The yes holds for this run.
                Err(error) => printer.note(&format!("that could not be remembered: {error}")),
            }
            true
        })
    })
}

/// Warns about a workspace that contains the user's home.
pub(super) fn warn_about_workspace(printer: Printer, team: &TeamOptions) -> Result<(), Failure> {
    let workspace = find_workspace(team.workspace.as_deref())?;
    if let Some(warning) = confinement::warn_about_workspace(&workspace) {
        printer.note(&lango_text::make_visible(&format!("warning: {warning}")));
    }
    Ok(())
}

/// Converts the arguments to the options of the team and its models.
pub(super) fn team_options(arguments: TeamArguments) -> (TeamOptions, ModelOptions) {
    let TeamArguments { model, topology, max_rounds, workspace, record } = arguments;
    let models = ModelOptions::Choose { wanted: model, record, consent: None };
    (TeamOptions { topology, workspace, max_rounds }, models)
}

/// Returns a function that shows a line beside the answer.
pub(super) fn introducing(printer: Printer) -> Notice {
    Arc::new(move |line: &str| printer.introduce(&lango_text::make_visible(line)))
}

/// Says whether the user sees the lines of [`introducing`].
pub(super) fn audience(printer: Printer) -> Audience {
    if printer.introduces() { Audience::User } else { Audience::Log }
}

/// Lets work that was started end, and says what goes on later.
pub(super) async fn finish_automation(printer: Printer, automation: RunningAutomation) {
    let left = automation.finish(WORK_TIMEOUT).await;
    if left > 0 {
        let turns = lango_text::plural(left, "piece of work has", "pieces of work have");
        printer.introduce(&format!("{turns} not ended, and will go on with: lango worker"));
    }
}

/// Prints what a user should know first.
pub(super) async fn print_notices(printer: Printer, team: &RunningTeam) -> Result<(), Failure> {
    if printer.introduces() {
        team.collect_notices().await?.iter().for_each(|notice| printer.introduce(notice));
    }
    Ok(())
}

/// Waits for the work that follows the turns, and stops the background services.
pub(super) async fn finish_team(printer: Printer, team: &RunningTeam) -> Result<(), Failure> {
    team.wait_for_observers().await.iter().for_each(|error| printer.introduce(error));
    team.stop_servers().await;
    Ok(team.models.check_recording()?)
}

/// Returns the first line of a run: the model that answers, and why.
pub(super) fn render_introduction(models: &ReadyModels, session: &SessionId) -> String {
    let choice = &models.choice;
    format!("{} ({}) · session {session}", choice.id, choice.why)
}

/// Returns the session that a message belongs to.
pub(super) async fn choose_session(
    journal: &Journal,
    choice: &SessionChoice,
) -> Result<SessionId, Failure> {
    if choice.last {
        let latest = journal.find_latest_session().await?;
        return latest.ok_or_else(|| {
            Failure::usage("there is no conversation yet. Start one with: lango run \"…\"")
        });
    }
    let Some(wanted) = &choice.session else { return Ok(SessionId::generate()) };
    let found = journal.find_sessions(wanted.as_str()).await?;
    match found.as_slice() {
        [one] => Ok(one.clone()),
        many if many.contains(wanted) => Ok(wanted.clone()),
        [] => Ok(wanted.clone()),
        many => Err(ambiguous_session_error(wanted.as_str(), many)),
    }
}

pub(super) fn ambiguous_session_error(given: &str, found: &[SessionId]) -> Failure {
    let names: Vec<&str> = found.iter().take(5).map(SessionId::as_str).collect();
    Failure::usage(format!("{given:?} could be any of {}. Type more of it", names.join(", ")))
}

/// Returns the user's message and the text from standard input.
fn read_message(words: &[String]) -> Result<(String, Option<String>), Failure> {
    let dash = words.iter().any(|word| word == "-");
    let text: Vec<&str> = words.iter().filter(|word| *word != "-").map(String::as_str).collect();
    let text = text.join(" ").trim().to_owned();
    let input = if dash || !io::stdin().is_terminal() { read_input()? } else { None };
    match (text.is_empty(), input) {
        (false, input) => Ok((text, input)),
        (true, Some(input)) => Ok((input, None)),
        (true, None) => {
            Err(Failure::usage("there is nothing to ask. Type it: lango run \"your question\""))
        }
    }
}

fn read_input() -> Result<Option<String>, Failure> {
    // A user who forgot to close a pipe should see why nothing happens.
    let (done, waiting) = std::sync::mpsc::channel::<()>();
    let notice = std::thread::spawn(move || {
        if waiting.recv_timeout(Duration::from_secs(2))
            == Err(std::sync::mpsc::RecvTimeoutError::Timeout)
        {
            let notice = "lango: reading standard input; end it with Ctrl-D, or use </dev/null\n";
            write_stderr(notice);
        }
    });
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(MAX_INPUT_BYTES + 1).read_to_end(&mut bytes);
    drop(done);
    // The thread only writes a notice.
    let _ = notice.join();
    read.map_err(|error| Failure::usage(format!("cannot read standard input: {error}")))?;
    if bytes.len() as u64 > MAX_INPUT_BYTES {
        return Err(Failure::usage(
            "standard input is longer than 1 MiB. Put it into a file and name the file instead",
        ));
    }
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    Ok((!text.is_empty()).then_some(text))
}
