//! `lango resume`: going on with what was interrupted.

use lango_store::UnfinishedTurn;

use super::run::{introduction, make_ready};
use super::turn::follow;
use super::{Setting, print};
use crate::arguments::ResumeArguments;
use crate::display::Display;
use crate::failure::{self, Failure};
use crate::terminal::Terminal;
use crate::wiring;

pub(crate) async fn resume(setting: &Setting, arguments: ResumeArguments) -> Result<u8, Failure> {
    let journal = wiring::open_journal(setting.config(), &setting.home).await?;
    let mut turns = journal.unfinished_turns(None).await?;
    turns.retain(|turn| turn.running.is_none());
    turns.sort_by_key(|turn| turn.started_at);
    if let Some(wanted) = &arguments.session {
        turns.retain(|turn| turn.session.as_str().starts_with(wanted.as_str()));
    }
    let turn = match turns.as_slice() {
        [] => {
            print("There is nothing to resume.\n")?;
            return Ok(failure::ANSWERED);
        }
        [one] => one.clone(),
        [.., newest] if arguments.last => newest.clone(),
        many => return list(many),
    };
    drop(journal);
    let person = Terminal::person();
    let ready = make_ready(setting, &arguments.team, &arguments.approve, person).await?;
    let display = Display::new(&arguments.output, ready.answers, ready.models.prices.clone());
    let _ = display.introduce(&introduction(&ready.models, &turn.session));
    let handle = ready.runtime.resume_turn(turn.session, turn.turn);
    let (followed, _) = follow(handle, display).await?;
    ready.end_servers().await;
    ready.models.check_recording()?;
    Ok(followed.code)
}

fn list(turns: &[UnfinishedTurn]) -> Result<u8, Failure> {
    let mut text = String::from("Several turns can be resumed. Name one, or use --last:\n");
    for turn in turns {
        let words: String = turn.text.chars().filter(|c| !c.is_control()).take(60).collect();
        text.push_str(&format!("  lango resume {}   {words}\n", turn.session));
    }
    print(&text)?;
    Ok(failure::WRONG_USAGE)
}
