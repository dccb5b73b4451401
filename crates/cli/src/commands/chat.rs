//! `lango chat`: a conversation, line by line.

use std::io::{self, IsTerminal, Write};

use lango_protocol::{Origin, SessionId};
use lango_runtime::TurnRequest;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::Setting;
use super::run::{NEWS_CHARACTERS, choose_session, introduction, make_ready};
use super::turn::follow;
use crate::arguments::ChatArguments;
use crate::display::{Display, one_line};
use crate::failure::{self, Failure};
use crate::terminal::Terminal;

const HELP: &str = "Type a message and press Enter.
  /new       start a new conversation
  /session   the id of this one, to go on later with: lango chat --session ID
  /help      this
  /quit      leave (or Ctrl-D)
Ctrl-C stops the turn that is under way.\n";

pub(crate) async fn chat(setting: &Setting, arguments: ChatArguments) -> Result<u8, Failure> {
    let input = Terminal::standard_input();
    // Approvals are asked in the same terminal the lines come from, and only in one.
    let person = io::stdin().is_terminal().then(|| input.clone());
    let mut ready = make_ready(setting, &arguments.team, &arguments.approve, person).await?;
    let mut session = choose_session(ready.runtime.journal(), &arguments.session).await?;
    let mut display = Display::chat(ready.answers, ready.models.prices.clone());
    let _ = display.introduce(&introduction(&ready.models, &session));
    ready.tell_notices(&display).await?;
    let _ = display.introduce("/help for help, /quit to leave");
    let mut news = ready.watch_remotes();
    let mut code = failure::ANSWERED;
    loop {
        let line = match next_line(&input, &mut news).await? {
            Next::Line(line) => line,
            Next::End => break,
            Next::Terminated => {
                ready.end_servers().await;
                return Ok(failure::TERMINATED);
            }
        };
        match line.trim() {
            "" => {}
            "/quit" | "/exit" => break,
            "/help" | "/?" => super::print(HELP)?,
            "/session" => super::print(&format!("{session}\n"))?,
            "/new" => {
                session = SessionId::generate();
                super::print(&format!("new conversation {session}\n"))?;
            }
            command if command.starts_with('/') => {
                super::print(&format!("unknown command {command}; /help lists them\n"))?;
            }
            text => {
                ready.look_again().await?;
                let request = TurnRequest::new(session.clone(), text, Origin::Chat);
                let turn = ready.runtime.start_turn(request);
                let (followed, shown) = follow(turn, display).await?;
                display = shown;
                code = followed.code;
                if code == failure::TERMINATED {
                    ready.end_servers().await;
                    return Ok(code);
                }
            }
        }
    }
    ready.settle(&display).await;
    ready.end_servers().await;
    ready.models.check_recording()?;
    // Somebody who was there saw how each turn ended; a script wants to know of the last.
    Ok(if io::stdin().is_terminal() { failure::ANSWERED } else { code })
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
