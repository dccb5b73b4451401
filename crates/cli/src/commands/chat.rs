//! `lango chat`: a conversation, line by line.

use std::io::{self, IsTerminal};

use lango_automator::LocalRunner;
use lango_protocol::{MessageOrigin, SessionId};
use lango_runtime::TurnRequest;
use lango_text::to_one_line;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::CommandContext;
use super::run::{
    MAX_NOTICE_CHARACTERS, audience, choose_session, finish_automation, finish_team, introducing,
    open, print_notices, render_introduction,
};
use super::turn::follow_turn;
use crate::failure::{ExitStatus, Failure};
use lango_arguments::ChatArguments;
use lango_terminal::Display;
use lango_terminal::Terminal;
use lango_terminal::write_stderr;

const HELP: &str = "Type a message and press Enter. Pasted lines are one message.
  /new       start a new conversation
  /session   the id of this one, to go on later with: lango chat --session ID
  /help      this
  /quit      leave (or Ctrl-D)
Ctrl-C stops the turn that is under way.\n";

pub(crate) async fn chat(
    context: &CommandContext,
    arguments: ChatArguments,
) -> Result<ExitStatus, Failure> {
    // Questions are asked in the terminal that the lines come from, and only if it is one.
    let person = Terminal::on_standard_input();
    let input = person.clone().unwrap_or_else(Terminal::lines_of_standard_input);
    let (mut team, answers) = open(context, arguments.team, &arguments.approve, person).await?;
    let mut session = choose_session(team.runtime.journal(), &arguments.session).await?;
    let printer = context.printer;
    let mut display = Display::chat(printer, answers, team.models.prices.clone());
    printer.introduce(&render_introduction(&team.models, &session));
    print_notices(printer, &team).await?;
    printer.introduce("/help for help, /quit to leave");
    let mut news = team.watch_remotes();
    let automation = team.start_automation(introducing(printer), audience(printer));
    team.note_runner(LocalRunner::Chat);
    let mut status = ExitStatus::Success;
    loop {
        let line = match read_next_input(&input, &mut news).await? {
            NextInput::Line(line) => line,
            NextInput::End => break,
            NextInput::Terminated => {
                team.stop_servers().await;
                return Ok(ExitStatus::Terminated);
            }
        };
        match line.trim() {
            "" => {}
            "/quit" | "/exit" => break,
            "/help" | "/?" => printer.print(HELP)?,
            "/session" => printer.print(&format!("{session}\n"))?,
            "/new" => {
                session = SessionId::generate();
                printer.print(&format!("new conversation {session}\n"))?;
            }
            command if command.starts_with('/') => {
                printer.print(&format!("unknown command {command}; /help lists them\n"))?;
            }
            text => {
                team.load_approvals().await?;
                let request = TurnRequest::new(session.clone(), text, MessageOrigin::Chat);
                let turn = team.runtime.start_turn(request);
                let (followed, shown) = follow_turn(turn, display).await?;
                display = shown;
                status = followed.status;
                if status == ExitStatus::Terminated {
                    team.stop_servers().await;
                    return Ok(status);
                }
            }
        }
    }
    if let Some(automation) = automation {
        finish_automation(printer, automation).await;
    }
    finish_team(printer, &team).await?;
    // A user saw how each turn ended; a script needs the status of the last one.
    Ok(if io::stdin().is_terminal() { ExitStatus::Success } else { status })
}

/// The next input at the prompt.
enum NextInput {
    Line(String),
    /// The input ended, or the user left with Ctrl-C.
    End,
    /// The process got a termination signal.
    Terminated,
}

async fn read_next_input(
    input: &Terminal,
    news: &mut Option<mpsc::Receiver<String>>,
) -> Result<NextInput, Failure> {
    let is_terminal = io::stdin().is_terminal();
    let prompt = || {
        if is_terminal {
            write_stderr("\n> ");
        }
    };
    prompt();
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    // One future reads the line across all iterations: asking twice would lose a line.
    let mut line = std::pin::pin!(input.line());
    loop {
        let told = async {
            match news {
                Some(news) => news.recv().await,
                None => None,
            }
        };
        tokio::select! {
            Some(new) = told => {
                write_stderr(&format!("lango: {}\n", to_one_line(&new, MAX_NOTICE_CHARACTERS)));
                prompt();
            }
            line = &mut line => return Ok(line.map_or(NextInput::End, NextInput::Line)),
            _ = interrupt.recv() => return Ok(NextInput::End),
            _ = terminate.recv() => return Ok(NextInput::Terminated),
        }
    }
}
