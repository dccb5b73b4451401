use std::collections::BTreeSet;

use lango_automator::{CatchUp, JobAction, JobState, NewJob, Overlap};
use lango_protocol::{Space, Timestamp};
use lango_store::{DatabaseLocation, WorkState};

use crate::samples::{after, new_job, open, runs, scheduler};

/// Ends all runs of a job that have not ended, as if they had been done.
async fn end_all(jobs: &lango_automator::JobBook, job: &str) {
    for run in runs(jobs, job).await {
        if run.state == WorkState::Waiting {
            assert!(jobs.journal().start_work(&run, 1000).await.unwrap());
            jobs.journal().end_work(&run.id, WorkState::Done, "").await.unwrap();
        }
    }
}

pub(crate) async fn r16_of_many_schedulers_one_acts_on_each_occurrence(location: DatabaseLocation) {
    let jobs = open(&location).await;
    let job = jobs
        .add(NewJob { overlap: Some(Overlap::Queue), ..new_job("every 10m", "look") })
        .await
        .unwrap();
    let mut others = Vec::new();
    for _ in 0..5 {
        others.push(open(&location).await);
    }
    let first = job.next_due.unwrap();
    for occurrence in 0..20 {
        let now = after(first, occurrence * 600 + 1);
        let fires = others.iter().map(|jobs| {
            let scheduler = scheduler(jobs);
            tokio::spawn(async move { scheduler.fire_due(now).await.map(drop) })
        });
        for fire in fires.collect::<Vec<_>>() {
            fire.await.unwrap().unwrap();
        }
    }
    let runs = runs(&jobs, &job.id).await;
    let due: Vec<Timestamp> = runs.iter().map(|run| run.due_at).collect();
    let expected: Vec<Timestamp> = (0..20).map(|n| after(first, n * 600)).collect();
    assert_eq!(due, expected);
    let turns: BTreeSet<String> = runs.iter().map(|run| run.turn.to_string()).collect();
    assert_eq!(turns.len(), 20);
    assert!(runs.iter().all(|run| run.state == WorkState::Waiting));
}

pub(crate) async fn r18_missed_occurrences_are_left_out_or_run_once(location: DatabaseLocation) {
    let jobs = open(&location).await;
    let skipping = jobs.add(new_job("every 10m", "skip")).await.unwrap();
    let once = NewJob { catch_up: Some(CatchUp::Once), ..new_job("every 10m", "once") };
    let once = jobs.add(once).await.unwrap();
    // Three occurrences passed while no process ran, the last of them five minutes ago.
    let now = after(skipping.next_due.unwrap(), 2 * 600 + 300);
    scheduler(&jobs).fire_due(now).await.unwrap();
    let skipped = runs(&jobs, &skipping.id).await;
    assert_eq!(skipped.len(), 1);
    assert_eq!(skipped[0].state, WorkState::Skipped);
    assert!(skipped[0].result.contains("3 occurrences were missed"), "{}", skipped[0].result);
    let caught_up = runs(&jobs, &once.id).await;
    assert_eq!(caught_up.len(), 1);
    assert_eq!(caught_up[0].state, WorkState::Waiting);
    // The next occurrence of both is on time again.
    for job in [&skipping, &once] {
        let next = jobs.find(&job.id, &Space::Owner).await.unwrap().next_due.unwrap();
        assert!(next > now && next <= after(now, 600), "{next}");
    }
    // One that is a few seconds late is not missed.
    let next = jobs.find(&skipping.id, &Space::Owner).await.unwrap().next_due.unwrap();
    scheduler(&jobs).fire_due(after(next, 20)).await.unwrap();
    assert_eq!(runs(&jobs, &skipping.id).await[1].state, WorkState::Waiting);
}

pub(crate) async fn what_happens_once_is_caught_up_and_ends(location: DatabaseLocation) {
    let jobs = open(&location).await;
    let job = jobs.add(new_job("in 40 minutes", "bread")).await.unwrap();
    let due = job.next_due.unwrap();
    scheduler(&jobs).fire_due(after(due, 0)).await.unwrap();
    scheduler(&jobs).fire_due(after(due, 86_400)).await.unwrap();
    assert_eq!(runs(&jobs, &job.id).await.len(), 1);
    let late = jobs.add(new_job("in 40 minutes", "late")).await.unwrap();
    scheduler(&jobs).fire_due(after(late.next_due.unwrap(), 86_400)).await.unwrap();
    assert_eq!(runs(&jobs, &late.id).await[0].state, WorkState::Waiting);
    for id in [&job.id, &late.id] {
        assert_eq!(jobs.find(id, &Space::Owner).await.unwrap().state, JobState::Ended);
    }
}

pub(crate) async fn a_run_that_has_not_ended_keeps_the_next_one_away(location: DatabaseLocation) {
    let jobs = open(&location).await;
    let skipping = jobs.add(new_job("every 10m", "skip")).await.unwrap();
    let queueing = NewJob { overlap: Some(Overlap::Queue), ..new_job("every 10m", "queue") };
    let queueing = jobs.add(queueing).await.unwrap();
    let first = skipping.next_due.unwrap().max(queueing.next_due.unwrap());
    scheduler(&jobs).fire_due(first).await.unwrap();
    scheduler(&jobs).fire_due(after(first, 600)).await.unwrap();
    let states =
        async |id: &str| runs(&jobs, id).await.into_iter().map(|run| run.state).collect::<Vec<_>>();
    assert_eq!(states(&skipping.id).await, [WorkState::Waiting, WorkState::Skipped]);
    assert_eq!(states(&queueing.id).await, [WorkState::Waiting, WorkState::Waiting]);
    end_all(&jobs, &skipping.id).await;
    scheduler(&jobs).fire_due(after(first, 1200)).await.unwrap();
    assert_eq!(states(&skipping.id).await[2], WorkState::Waiting);
}

pub(crate) async fn a_clock_that_is_set_back_repeats_nothing(location: DatabaseLocation) {
    let jobs = open(&location).await;
    let job = jobs.add(new_job("every 10m", "look")).await.unwrap();
    let first = job.next_due.unwrap();
    scheduler(&jobs).fire_due(first).await.unwrap();
    end_all(&jobs, &job.id).await;
    // An hour back: what is due comes later, and what has run does not run again.
    let back = Timestamp::from_microseconds(first.as_microseconds() - 3_600_000_000);
    for minute in 0..60 {
        scheduler(&jobs).fire_due(after(back, minute * 60)).await.unwrap();
    }
    assert_eq!(runs(&jobs, &job.id).await.len(), 1);
    // Resumed at the earlier time, the same occurrence comes again, and is passed over.
    let same = jobs.find(&job.id, &Space::Owner).await.unwrap();
    jobs.pause(&same).await.unwrap();
    let paused = jobs.find(&job.id, &Space::Owner).await.unwrap();
    jobs.resume(&paused).await.unwrap();
    scheduler(&jobs).fire_due(after(first, 1)).await.unwrap();
    assert_eq!(runs(&jobs, &job.id).await.len(), 1);
    scheduler(&jobs).fire_due(after(first, 600)).await.unwrap();
    assert_eq!(runs(&jobs, &job.id).await.len(), 2);
}

pub(crate) async fn a_paused_job_is_left_alone_until_it_is_resumed(location: DatabaseLocation) {
    let jobs = open(&location).await;
    let job = jobs.add(new_job("every 10m", "look")).await.unwrap();
    jobs.pause(&job).await.unwrap();
    let due = job.next_due.unwrap();
    scheduler(&jobs).fire_due(after(due, 3600)).await.unwrap();
    assert!(runs(&jobs, &job.id).await.is_empty());
    let paused = jobs.find(&job.id, &Space::Owner).await.unwrap();
    assert_eq!(paused.state, JobState::Paused);
    let resumed = jobs.resume(&paused).await.unwrap();
    scheduler(&jobs).fire_due(resumed.next_due.unwrap()).await.unwrap();
    assert_eq!(runs(&jobs, &job.id).await.len(), 1);
    jobs.remove(&resumed).await.unwrap();
    assert!(jobs.list(None).await.unwrap().is_empty());
    assert_eq!(runs(&jobs, &job.id).await[0].state, WorkState::Cancelled);
}

pub(crate) async fn a_removed_job_leaves_no_run_that_waits(location: DatabaseLocation) {
    let jobs = open(&location).await;
    let queueing = NewJob { overlap: Some(Overlap::Queue), ..new_job("every 10m", "queue") };
    let job = jobs.add(queueing).await.unwrap();
    let first = job.next_due.unwrap();
    for occurrence in 0..60 {
        scheduler(&jobs).fire_due(after(first, occurrence * 600)).await.unwrap();
    }
    let started = runs(&jobs, &job.id).await.remove(0);
    assert!(jobs.journal().start_work(&started, 10).await.unwrap());
    jobs.remove(&job).await.unwrap();
    let runs = runs(&jobs, &job.id).await;
    let count = |state| runs.iter().filter(|run| run.state == state).count();
    assert_eq!((count(WorkState::Started), count(WorkState::Cancelled)), (1, 59));
    assert!(!runs[0].is_cancelled, "{:?}", runs[0]);
}

pub(crate) async fn a_reminder_is_told_without_a_turn(location: DatabaseLocation) {
    let jobs = open(&location).await;
    let reminder = NewJob { action: JobAction::Remind, ..new_job("every two hours", "stretch") };
    let job = jobs.add(reminder).await.unwrap();
    let told = scheduler(&jobs).fire_due(job.next_due.unwrap()).await.unwrap();
    assert_eq!(told.len(), 1);
    assert_eq!((told[0].state, told[0].result.as_str()), (WorkState::Done, "Reminder: stretch"));
    let undelivered = jobs.journal().list_undelivered_work(&Space::Owner, 10).await.unwrap();
    assert_eq!(undelivered.len(), 1);
}

pub(crate) async fn a_scheduler_acts_in_its_own_scope(location: DatabaseLocation) {
    let jobs = open(&location).await;
    let client = Space::Client("wiki".parse().unwrap());
    let theirs =
        jobs.add(NewJob { space: client, ..new_job("every 10m", "theirs") }).await.unwrap();
    let second = lango_automator::AutomatorSettings {
        workspace: "/second".to_owned(),
        ..crate::samples::settings()
    };
    let other = crate::samples::open_with(&location, second).await;
    let there = other.add(new_job("every 10m", "there")).await.unwrap();
    scheduler(&jobs).fire_due(after(Timestamp::now(), 660)).await.unwrap();
    assert!(runs(&jobs, &theirs.id).await.is_empty());
    assert!(runs(&jobs, &there.id).await.is_empty());
    assert_eq!(jobs.list_workspaces().await.unwrap(), ["/second"]);
}
