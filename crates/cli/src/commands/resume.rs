//! `lango resume`: continues an interrupted turn.

use lango_store::UnfinishedTurn;

use super::run::{open, render_introduction};
use super::turn::follow_turn;
use super::{CommandContext, Printer};
use crate::failure::{ExitStatus, Failure};
use lango_arguments::ResumeArguments;
use lango_terminal::Display;
use lango_terminal::Terminal;

pub(crate) async fn resume(
    context: &CommandContext,
    arguments: ResumeArguments,
) -> Result<ExitStatus, Failure> {
    let journal = context.app.open_stores().await?.journal;
    let mut turns = journal.list_unfinished_turns(None).await?;
    turns.retain(|turn| turn.running.is_none());
    turns.sort_by_key(|turn| turn.started_at);
    if let Some(wanted) = &arguments.session {
        turns.retain(|turn| turn.session.as_str().starts_with(wanted.as_str()));
    }
    let turn = match turns.as_slice() {
        [] => {
            context.printer.print("There is nothing to resume.\n")?;
            return Ok(ExitStatus::Success);
        }
        [one] => one.clone(),
        [.., newest] if arguments.last => newest.clone(),
        many => return list(context.printer, many),
    };
    drop(journal);
    let terminal = Terminal::person();
    let (team, answers) = open(context, arguments.team, &arguments.approve, terminal).await?;
    let printer = context.printer.of_turn((&arguments.output).into());
    let display =
        Display::new(printer, (&arguments.output).into(), answers, team.models.prices.clone());
    printer.introduce(&render_introduction(&team.models, &turn.session));
    let handle = team.runtime.resume_turn(turn.session, turn.turn);
    let (followed, _) = follow_turn(handle, display).await?;
    team.stop_servers().await;
    team.models.check_recording()?;
    Ok(followed.status)
}

fn list(printer: Printer, turns: &[UnfinishedTurn]) -> Result<ExitStatus, Failure> {
    let mut text = String::from("Several turns can be resumed. Name one, or use --last:\n");
    for turn in turns {
        let words = lango_text::to_one_line(&turn.text, 60);
        text.push_str(&format!("  lango resume {}   {words}\n", turn.session));
    }
    printer.print(&text)?;
    Ok(ExitStatus::WrongUsage)
}
