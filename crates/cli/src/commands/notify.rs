//! `lango notify`: shows notifications, and tests channels.

use lango_app::Stores;
use lango_arguments::NotifyCommand;
use lango_automator::DeliveryState;
use lango_notification::{Notification, NotificationEvent};
use lango_protocol::Timestamp;
use lango_text::to_one_line;

use super::CommandContext;
use super::cron::open as open_jobs;
use super::sessions::local_time;
use crate::failure::{ExitStatus, Failure};
use lango_terminal::render_table;

pub(crate) async fn notify(
    context: &CommandContext,
    command: NotifyCommand,
) -> Result<ExitStatus, Failure> {
    let printer = context.printer;
    match command {
        NotifyCommand::List { failed, limit, json } => {
            let jobs = open_jobs(context).await?;
            let state = failed.then_some(DeliveryState::Failed);
            let list = jobs.list_notifications(state, limit.clamp(1, 1000)).await?;
            if json {
                printer.json(&list)?;
                return Ok(ExitStatus::Success);
            }
            if list.is_empty() {
                printer.print("There are no notifications.\n")?;
                return Ok(ExitStatus::Success);
            }
            let rows: Vec<Vec<String>> = list
                .iter()
                .map(|one| {
                    vec![
                        local_time(one.at),
                        one.event.clone(),
                        one.channel.clone(),
                        one.state.to_owned(),
                        to_one_line(&one.title, 60),
                        to_one_line(&one.reason, 60),
                    ]
                })
                .collect();
            let header = ["TIME", "EVENT", "CHANNEL", "STATE", "TITLE", "REASON"];
            printer.print(&render_table(&header, &rows))?;
        }
        NotifyCommand::Test { channel: name } => {
            let Stores { database, .. } = context.app.open_stores().await?;
            let store = context.app.open_key_store(database).await?;
            let factory = context.app.channel_factory(store);
            let failed = |reason: String| {
                Failure::failed(format!("the channel {name} does not work: {reason}"))
            };
            let channel = factory.open(&name).await.map_err(|error| failed(error.to_string()))?;
            let now = Timestamp::now();
            let id = format!("test-{}", now.as_microseconds());
            let text = format!("Notifications of Lango arrive through the channel {name}.");
            let event = NotificationEvent::Success;
            let sample = Notification::new(id, event, "Lango: a test", &text, now);
            channel.deliver(&sample).await.map_err(|error| failed(error.to_string()))?;
            printer.print(&format!("The channel {name} took a test notification.\n"))?;
        }
    }
    Ok(ExitStatus::Success)
}
