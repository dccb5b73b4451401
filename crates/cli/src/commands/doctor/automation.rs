//! Checks the work that runs by itself: whether a process runs it, and whether notifications arrive.

use lango_app::Stores;
use lango_automator::{DeliveryState, DueTime, JobBook, JobState};
use lango_notification::DesktopChannel;
use lango_protocol::Space;

use super::{CheckState, DoctorCheck, build_check};
use crate::commands::CommandContext;
use lango_app::config::ChannelKindName;

/// Limits the notifications that are shown.
const MAX_SHOWN_COUNT: u32 = 3;

pub(super) async fn examine(
    context: &CommandContext,
    stores: &Stores,
    checks: &mut Vec<DoctorCheck>,
) {
    let opened = crate::commands::cron::open(context).await;
    // An automator that is not enabled has nothing to check.
    let Ok(jobs) = opened else { return };
    checks.extend(examine_jobs(&jobs).await);
    checks.extend(examine_notifications(context, &jobs, stores).await);
}

async fn examine_jobs(jobs: &JobBook) -> Option<DoctorCheck> {
    let what = "jobs";
    let active = match jobs.list(Some(&Space::Owner)).await {
        Ok(list) => list.iter().filter(|job| job.state == JobState::Active).count(),
        Err(error) => return Some(build_check(what, Err(error.to_string()))),
    };
    if active == 0 {
        return None;
    }
    let count = lango_text::plural(active, "active job", "active jobs");
    match jobs.describe_absence(DueTime::Later).await {
        Ok(None) => Some(build_check(what, Ok(count))),
        Ok(Some(notice)) => {
            let detail = format!("{count}. {notice}, or as a service: lango daemon install");
            Some(DoctorCheck { what, state: CheckState::Note, detail })
        }
        Err(error) => Some(build_check(what, Err(error.to_string()))),
    }
}

async fn examine_notifications(
    context: &CommandContext,
    jobs: &JobBook,
    stores: &Stores,
) -> Option<DoctorCheck> {
    let what = "notifications";
    let channels = &context.config().automator.channels;
    let mut notes = Vec::new();
    let has_desktop = channels.values().any(|one| one.kind == ChannelKindName::Desktop);
    if has_desktop && !DesktopChannel::is_likely() {
        notes
            .push("there is no desktop session here, so that the desktop channel fails".to_owned());
    }
    let store = match context.app.open_key_store(stores.database.clone()).await {
        Ok(store) => store,
        Err(error) => return Some(build_check(what, Err(error.to_string()))),
    };
    let factory = context.app.channel_factory(store);
    for name in channels.keys() {
        if let Err(error) = factory.open(name).await {
            notes.push(format!("the channel {name} does not work: {error}"));
        }
    }
    for state in [DeliveryState::Failed, DeliveryState::Unknown] {
        match jobs.list_notifications(Some(state), MAX_SHOWN_COUNT).await {
            Ok(list) => notes.extend(list.into_iter().map(|one| {
                format!("{} through {}: {} ({})", one.state, one.channel, one.title, one.reason)
            })),
            Err(error) => return Some(build_check(what, Err(error.to_string()))),
        }
    }
    if notes.is_empty() {
        let names: Vec<&str> = channels.keys().map(String::as_str).collect();
        let described = format!("channels: {}", names.join(", "));
        return (!names.is_empty()).then(|| build_check(what, Ok(described)));
    }
    let detail = notes.iter().map(|note| lango_text::make_visible(note)).collect::<Vec<_>>();
    Some(DoctorCheck { what, state: CheckState::Note, detail: detail.join("\n") })
}
