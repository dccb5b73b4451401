//! Causes faults, one after the other and in parallel, until the time is over.

use std::fmt;
use std::ops::Range;
use std::time::{Duration, Instant};

use anyhow::Result;
use lango_store::{Journal, WorkFilter, WorkState};

use crate::random::Random;
use crate::stage::Stage;

/// Longer than a lease, so that another process takes over meanwhile.
const LONG_PAUSE: Duration = Duration::from_secs(35);

/// How often it is looked for work before a worker is killed, and how far apart.
const WORK_CHECK_COUNT: u32 = 30;
const WORK_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Tells whether work has started and not ended.
async fn runs_work(journal: Option<&Journal>) -> bool {
    let Some(journal) = journal else { return false };
    let filter = WorkFilter { is_open: true, ..WorkFilter::default() };
    let open = journal.list_work(filter, 1000).await.unwrap_or_default();
    open.iter().any(|item| item.state == WorkState::Started)
}

/// Waits for a moment in which work runs, if it comes soon. Returns whether it did.
async fn wait_for_work(journal: Option<&Journal>) -> bool {
    for _ in 0..WORK_CHECK_COUNT {
        if runs_work(journal).await {
            return true;
        }
        if journal.is_none() {
            return false;
        }
        tokio::time::sleep(WORK_CHECK_INTERVAL).await;
    }
    false
}

/// How many faults there were, by kind.
#[derive(Debug, Default)]
pub(crate) struct FaultCounts {
    pub(crate) kills: u32,
    /// The kills while work had started and not ended.
    pub(crate) busy_kills: u32,
    stops: u32,
    pauses: u32,
    cuts: u32,
    silences: u32,
}

impl fmt::Display for FaultCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kills, busy_kills, stops, pauses, cuts, silences } = self;
        write!(
            f,
            "{kills} kills ({busy_kills} while work ran), {stops} restarts, {pauses} pauses, {cuts} cut and {silences} silent connections"
        )
    }
}

/// Causes faults for a time, with so many milliseconds between them, and says so when they are over. The
/// journal tells whether work runs that begins by itself.
pub(crate) async fn cause(
    stage: Stage,
    journal: Option<Journal>,
    time: Duration,
    seed: u64,
    pace: Range<u64>,
) -> Result<FaultCounts> {
    let begin = Instant::now();
    let mut random = Random::new(seed);
    let mut counts = FaultCounts::default();
    let mut has_paused_long = false;
    while begin.elapsed() < time {
        tokio::time::sleep(random.milliseconds(pace.clone())).await;
        let index = usize::try_from(random.below(stage.fleet.len() as u64)).unwrap_or(0);
        let kinds = if stage.proxy.is_some() { 10 } else { 7 };
        match (random.below(kinds), &stage.proxy) {
            (0..=3, _) => {
                counts.kills += 1;
                counts.busy_kills += u32::from(wait_for_work(journal.as_ref()).await);
                stage.fleet.kill(index).await;
                tokio::time::sleep(random.milliseconds(0..600)).await;
                stage.fleet.start(index).await?;
            }
            (4, _) => {
                counts.stops += 1;
                stage.fleet.stop(index).await;
                stage.fleet.start(index).await?;
            }
            (5..=6, _) => {
                counts.pauses += 1;
                let left = time.saturating_sub(begin.elapsed());
                let is_long = !has_paused_long && left > LONG_PAUSE;
                has_paused_long |= is_long;
                let pause = if is_long { LONG_PAUSE } else { random.milliseconds(100..3000) };
                let stage = stage.clone();
                // Other faults happen meanwhile.
                tokio::spawn(async move { stage.fleet.pause(index, pause).await });
            }
            (7..=8, Some(proxy)) => {
                counts.cuts += 1;
                proxy.cut();
            }
            (_, Some(proxy)) => {
                counts.silences += 1;
                proxy.silence();
                tokio::time::sleep(random.milliseconds(200..4000)).await;
                proxy.open();
            }
            _ => {}
        }
    }
    stage.calm.send_replace(true);
    Ok(counts)
}
