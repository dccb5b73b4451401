//! `lango chat`: a conversation, line by line.

use std::io::{self, IsTerminal, Write};

use lango_protocol::{Origin, SessionId};
use lango_runtime::TurnRequest;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::CommandContext;
use super::run::{NEWS_CHARACTERS, choose_session, finish, introduction, open, tell_notices};
use super::turn::follow;
use crate::arguments::ChatArguments;
use crate::display::{Display, one_line};
use crate::failure::{ExitStatus, Failure};
use crate::terminal::Terminal;

const HELP: &str = "Type a message and press Enter.
  /new       start a new conversation
  /session   the id of this one, to go on later with: lango chat --session ID
  /help      this
  /quit      leave (or Ctrl-D)
Ctrl-C stops the turn that is under way.\n";

pub(crate) async fn chat(
    context: &CommandContext,
    arguments: ChatArguments,
) -> Result<ExitStatus, Failure> {
    let input = Terminal::standard_input();
    // Approvals are asked in the same terminal the lines come from, and only in one.
    let person = io::stdin().is_terminal().then(|| input.clone());
    let (mut team, answers) = open(context, arguments.team, &arguments.approve, person).await?;
    let mut session = choose_session(team.runtime.journal(), &arguments.session).await?;
    let printer = context.printer;
    let mut display = Display::chat(answers, team.models.prices.clone());
    printer.introduce(&introduction(&team.models, &session));
    tell_notices(printer, &team).await?;
    printer.introduce("/help for help, /quit to leave");
    let mut news = team.watch_remotes();
    let mut status = ExitStatus::Success;
    loop {
        let line = match next_line(&input, &mut news).await? {
            Next::Line(line) => line,
            Next::End => break,
            Next::Terminated => {
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
                team.look_again().await?;
                let request = TurnRequest::new(session.clone(), text, Origin::Chat);
                let turn = team.runtime.start_turn(request);
                let (followed, shown) = follow(turn, display).await?;
                display = shown;
                status = followed.status;
                if status == ExitStatus::Terminated {
                    team.stop_servers().await;
                    return Ok(status);
                }
            }
        }
    }
    finish(printer, &team).await?;
    // A person saw how each turn ended; a script wants to know of the last.
    Ok(if io::stdin().is_terminal() { ExitStatus::Success } else { status })
}

/// What comes next at the prompt.
enum Next {
    Line(String),
    /// The end of the input, or the person leaves with Ctrl-C.
    End,
    /// The process is told to go.
    Terminated,
}

async fn next_line(
    input: &Terminal,
    news: &mut Option<mpsc::Receiver<String>>,
) -> Result<Next, Failure> {
    let is_terminal = io::stdin().is_terminal();
    let prompt = || if is_terminal { io::stderr().write_all(b"\n> ") } else { Ok(()) };
    prompt()?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    // One that is waited for is not asked for twice: a line would be lost.
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
                writeln!(io::stderr(), "lango: {}", one_line(&new, NEWS_CHARACTERS))?;
                prompt()?;
            }
            line = &mut line => return Ok(line.map_or(Next::End, Next::Line)),
            _ = interrupt.recv() => return Ok(Next::End),
            _ = terminate.recv() => return Ok(Next::Terminated),
        }
    }
}
