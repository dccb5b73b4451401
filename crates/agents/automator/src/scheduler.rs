//! Acts on the occurrences of jobs: writes the work of each, once.
//!
//! Any number of schedulers may look at one database. The occurrence's id is the id of its work, and
//! the job moves on to its next occurrence in the same commit, so that of several schedulers one
//! succeeds and the others write nothing.

use lango_protocol::{MessageOrigin, Sender, Space, Timestamp, TurnId};
use lango_runtime::{TurnRequest, store_work_request};
use lango_store::{
    Batch, Journal, Statement, StoreError, WorkFilter, WorkItem, WorkScope, WorkState,
};
use lango_text::plural;

use crate::AutomatorError;
use crate::job::{COLUMNS, CatchUp, Job, JobAction, Overlap, from_moment, read_jobs, to_moment};
use crate::job_workflow::begin_workflow;
use crate::jobs::{JOB_KIND, JobBook};
use crate::notify::REMINDER;

/// Sets how late an occurrence may be acted on before it counts as missed, in microseconds: a process
/// may be busy, or sleep between two looks.
const GRACE_MICROSECONDS: i64 = 60_000_000;

/// Limits the jobs that are acted on in one round.
const MAX_ROUND_COUNT: u32 = 200;

/// Writes the work of jobs when it is due.
#[derive(Clone)]
pub struct Scheduler {
    jobs: JobBook,
    scope: WorkScope,
}

/// What is done about the occurrences that are due.
enum Occasion {
    /// The work is written, and these occurrences before it were missed.
    Run { missed: u32 },
    /// Nothing runs, for this reason.
    Skip(String),
}

impl Scheduler {
    /// Creates a scheduler for the jobs of a scope.
    pub fn new(jobs: JobBook, scope: WorkScope) -> Self {
        Self { jobs, scope }
    }

    /// Acts on every occurrence that is due. Returns the reminders that this scheduler wrote.
    pub async fn fire_due(&self, now: Timestamp) -> Result<Vec<WorkItem>, AutomatorError> {
        let statement = Statement::new(format!(
            "SELECT {COLUMNS} FROM jobs WHERE state = 'active' AND next_due <= $1 \
             AND ($2 = '' OR workspace = $2) AND (CAST($3 AS BIGINT) = 1 OR client = '') \
             ORDER BY next_due, id LIMIT $4"
        ))
        .bind(now.as_microseconds())
        .bind(self.scope.workspace.as_deref().unwrap_or_default())
        .bind(self.scope.includes_clients)
        .bind(MAX_ROUND_COUNT);
        let mut reminders = Vec::new();
        for job in read_jobs(&self.jobs.database.query(statement).await?)? {
            let item = self.fire(&job, now).await?;
            reminders.extend(item.filter(|item| item.state == WorkState::Done));
        }
        Ok(reminders)
    }

    /// Acts on the occurrences of one job. Returns the work if this scheduler wrote it.
    async fn fire(&self, job: &Job, now: Timestamp) -> Result<Option<WorkItem>, AutomatorError> {
        let Some(due) = job.next_due else { return Ok(None) };
        let missed = job.schedule.missed(to_moment(due), to_moment(now));
        let last = from_moment(missed.last);
        let occasion = self.decide(job, last, missed.count, now).await?;
        let next = job.schedule.next_after(to_moment(now.max(last))).map(from_moment);
        let mut item = build_work(job, last, now)?;
        let mut start = Vec::new();
        match occasion {
            Occasion::Skip(reason) => {
                (item.state, item.result, item.ended_at) = (WorkState::Skipped, reason, Some(now));
            }
            Occasion::Run { missed } => {
                match job.action {
                    JobAction::Remind => remind(job, &mut item, now),
                    JobAction::Workflow => start = begin_workflow(job, &mut item, now)?,
                    JobAction::Run => {}
                }
                if missed > 0 {
                    let occurrences = plural(missed as usize, "occurrence", "occurrences");
                    tracing::warn!(job = job.id, "{occurrences} before this one were missed");
                }
            }
        }
        let advance = Statement::new(
            "UPDATE jobs SET next_due = $3, state = CASE WHEN CAST($3 AS BIGINT) IS NULL THEN 'ended' \
             ELSE state END WHERE id = $1 AND next_due = $2 AND state = 'active'",
        )
        .bind(job.id.as_str())
        .bind(due.as_microseconds())
        .bind(next.map(Timestamp::as_microseconds))
        .expect_rows(1);
        let mut batch = Batch::from(advance).with(Journal::build_work_entry(&item));
        if job.action == JobAction::Workflow && item.state == WorkState::Done {
            // What is told is the end of the run.
            batch.push(Journal::build_delivery(&item.id));
        }
        for statement in start {
            batch.push(statement);
        }
        match self.jobs.database.write(batch).await {
            Ok(_) => Ok(Some(item)),
            // Another scheduler was faster, or the occurrence was acted on before the clock was set
            // back: then only the job moves on.
            Err(StoreError::Conflict { .. }) => {
                self.pass_over(job, due, last, next).await?;
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Moves a job on from an occurrence whose work was written before.
    async fn pass_over(
        &self,
        job: &Job,
        due: Timestamp,
        last: Timestamp,
        next: Option<Timestamp>,
    ) -> Result<(), AutomatorError> {
        let statement = Statement::new(
            "UPDATE jobs SET next_due = $3 WHERE id = $1 AND next_due = $2 AND EXISTS \
             (SELECT 1 FROM work WHERE work.id = $4)",
        )
        .bind(job.id.as_str())
        .bind(due.as_microseconds())
        .bind(next.map(Timestamp::as_microseconds))
        .bind(job.occurrence_id(last));
        self.jobs.database.write(statement.into()).await?;
        Ok(())
    }

    async fn decide(
        &self,
        job: &Job,
        last: Timestamp,
        count: u32,
        now: Timestamp,
    ) -> Result<Occasion, AutomatorError> {
        let lateness = now.as_microseconds().saturating_sub(last.as_microseconds());
        if lateness > GRACE_MICROSECONDS && job.catch_up == CatchUp::Skip {
            let occurrences = plural(count as usize, "occurrence was", "occurrences were");
            return Ok(Occasion::Skip(format!("{occurrences} missed: no process ran jobs")));
        }
        if job.overlap == Overlap::Skip
            && job.action == JobAction::Workflow
            && let Some(run) = self.jobs.find_open_run(job).await?
        {
            return Ok(Occasion::Skip(format!("the run {run} has not ended")));
        }
        if job.overlap == Overlap::Skip {
            let filter =
                WorkFilter { parent: Some(&job.id), is_open: true, ..WorkFilter::default() };
            if let Some(open) = self.jobs.journal.list_work(filter, 1).await?.pop() {
                return Ok(Occasion::Skip(format!("the run {} has not ended", open.id)));
            }
        }
        Ok(Occasion::Run { missed: count.saturating_sub(1) })
    }
}

/// Makes the work of a reminder, which is done as soon as it is written.
pub(crate) fn remind(job: &Job, item: &mut WorkItem, now: Timestamp) {
    (item.state, item.result) = (WorkState::Done, format!("{REMINDER}{}", job.task));
    (item.started_at, item.ended_at) = (Some(now), Some(now));
}

/// Returns the work of an occurrence of a job.
pub(crate) fn build_work(
    job: &Job,
    occurrence: Timestamp,
    now: Timestamp,
) -> Result<WorkItem, AutomatorError> {
    let (session, turn) = (job.own_session()?, TurnId::generate());
    let request = build_request(&session, turn, &job.task, &job.space)?;
    Ok(WorkItem {
        id: job.occurrence_id(occurrence),
        kind: JOB_KIND.to_owned(),
        parent: job.id.clone(),
        space: job.space.clone(),
        workspace: job.workspace.clone(),
        depth: job.depth,
        session,
        turn,
        request,
        title: job.name.clone(),
        state: WorkState::Waiting,
        due_at: occurrence,
        created_at: now,
        started_at: None,
        ended_at: None,
        result: String::new(),
        reply_to: job.session.clone(),
        is_cancelled: false,
    })
}

/// Returns the stored request of a turn that does a task.
pub(crate) fn build_request(
    session: &lango_protocol::SessionId,
    turn: TurnId,
    task: &str,
    space: &Space,
) -> Result<String, StoreError> {
    let sender = match space {
        Space::Owner => None,
        Space::Client(caller) => {
            Some(Sender { caller: caller.clone(), message: None, trace: None })
        }
    };
    let request = TurnRequest {
        turn,
        sender,
        ..TurnRequest::new(session.clone(), task, MessageOrigin::Work)
    };
    store_work_request(&request)
}
