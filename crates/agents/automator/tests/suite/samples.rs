//! Jobs and schedulers for the tests.

use std::time::Duration;

use lango_automator::{AutomatorSettings, JobBook, NewJob, Scheduler};
use lango_protocol::Timestamp;
use lango_schedule::Zone;
use lango_store::{DatabaseLocation, Journal, WorkItem, WorkScope};

pub(crate) fn settings() -> AutomatorSettings {
    AutomatorSettings {
        zone: Zone::utc(),
        workspace: "/work".to_owned(),
        ..AutomatorSettings::default()
    }
}

pub(crate) async fn open_with(location: &DatabaseLocation, settings: AutomatorSettings) -> JobBook {
    let database = lango_store::testing::open(location).await;
    let journal = Journal::open(database.clone()).await.unwrap();
    JobBook::open(settings, database, journal).await.unwrap()
}

pub(crate) async fn open(location: &DatabaseLocation) -> JobBook {
    open_with(location, settings()).await
}

pub(crate) fn new_job(schedule: &str, task: &str) -> NewJob {
    NewJob::new(schedule, task)
}

pub(crate) fn scheduler(jobs: &JobBook) -> Scheduler {
    let scope = WorkScope { workspace: Some("/work".to_owned()), includes_clients: false };
    Scheduler::new(jobs.clone(), scope)
}

pub(crate) fn after(time: Timestamp, seconds: u64) -> Timestamp {
    time.plus(Duration::from_secs(seconds))
}

/// The runs of a job, the oldest first: state and result.
pub(crate) async fn runs(jobs: &JobBook, job: &str) -> Vec<WorkItem> {
    let mut runs = jobs.list_runs(Some(job), None, 1000).await.unwrap();
    runs.reverse();
    runs
}
