use std::collections::{BTreeMap, BTreeSet};

use lango_automator::{
    AutomatorError, AutomatorSettings, BackgroundTasks, DueTime, LocalRunner, NewJob, NewTask,
};
use lango_protocol::{Space, Timestamp};
use lango_store::{Batch, DatabaseLocation, Statement, WorkScope, WorkState};

use crate::samples::{new_job, open, open_with, runs, scheduler, settings};

pub(crate) async fn jobs_cannot_create_jobs_without_limit(location: DatabaseLocation) {
    let jobs = open(&location).await;
    let mut parent = jobs.add(new_job("every 10m", "grow")).await.unwrap();
    // Each turn of a job adds a job, whose turns add one in turn.
    for depth in 1..=2 {
        scheduler(&jobs).fire_due(parent.next_due.unwrap()).await.unwrap();
        let session = Some(runs(&jobs, &parent.id).await[0].session.clone());
        let child = NewJob { session, ..new_job("every 20m", "grow more") };
        parent = jobs.add(child).await.unwrap();
        assert_eq!(parent.depth, depth);
    }
    scheduler(&jobs).fire_due(parent.next_due.unwrap()).await.unwrap();
    let session = Some(runs(&jobs, &parent.id).await[0].session.clone());
    let refused = jobs.add(NewJob { session, ..new_job("every 10m", "too deep") }).await;
    assert!(matches!(refused, Err(AutomatorError::Refused(_))), "{refused:?}");
    // One job creates few others.
    let wide = jobs.add(new_job("every 10m", "wide")).await.unwrap();
    scheduler(&jobs).fire_due(wide.next_due.unwrap()).await.unwrap();
    let session = Some(runs(&jobs, &wide.id).await[0].session.clone());
    let mut created = 0;
    while jobs.add(NewJob { session: session.clone(), ..new_job("every 10m", "x") }).await.is_ok() {
        created += 1;
        assert!(created < 50, "no limit");
    }
    assert_eq!(created, 5);
}

pub(crate) async fn an_owner_has_so_many_jobs_and_tasks(location: DatabaseLocation) {
    let few = AutomatorSettings { max_job_count: 2, max_task_count: 2, ..settings() };
    let jobs = open_with(&location, few).await;
    for _ in 0..2 {
        jobs.add(new_job("every 10m", "look")).await.unwrap();
    }
    let refused = jobs.add(new_job("every 10m", "look")).await.unwrap_err();
    assert!(refused.to_string().contains("2 jobs already"), "{refused}");
    let tasks = BackgroundTasks::new(jobs.clone());
    let new = |space| NewTask { task: "count".to_owned(), agent: None, space, session: None };
    for _ in 0..2 {
        tasks.submit(new(Space::Owner)).await.unwrap();
    }
    assert!(tasks.submit(new(Space::Owner)).await.is_err());
    // Another owner has room of its own, and does not see these.
    let client = Space::Client("wiki".parse().unwrap());
    let item = tasks.submit(new(client.clone())).await.unwrap();
    assert!(tasks.find(&item.id, &Space::Owner).await.is_err());
    assert!(tasks.cancel(&item).await.unwrap());
    assert!(!tasks.cancel(&item).await.unwrap());
}

pub(crate) async fn a_job_is_found_by_what_people_call_it(location: DatabaseLocation) {
    let jobs = open(&location).await;
    let weather =
        NewJob { name: Some("weather".to_owned()), ..new_job("daily at 7", "get the weather") };
    let weather = jobs.add(weather).await.unwrap();
    let disk = jobs.add(new_job("hourly", "check the disk with df -h")).await.unwrap();
    let find = async |words: &str| jobs.find(words, &Space::Owner).await.map(|job| job.id);
    assert_eq!(find("the daily weather job").await.unwrap(), weather.id);
    assert_eq!(find("Weather").await.unwrap(), weather.id);
    assert_eq!(find(&weather.id).await.unwrap(), weather.id);
    assert_eq!(find("the df job").await.unwrap(), disk.id);
    assert_eq!(find("hourly disk check").await.unwrap(), disk.id);
    assert!(matches!(find("that job").await, Err(AutomatorError::SeveralJobs { .. })));
    assert!(matches!(find("the backup").await, Err(AutomatorError::UnknownJob(_))));
    jobs.remove(&disk).await.unwrap();
    assert_eq!(find("that job").await.unwrap(), weather.id);
}

pub(crate) async fn what_cannot_be_scheduled_is_not_stored(location: DatabaseLocation) {
    let jobs = open(&location).await;
    for schedule in ["on 30 February", "whenever", "every second", "yesterday", ""] {
        assert!(jobs.add(new_job(schedule, "look")).await.is_err(), "{schedule}");
    }
    assert!(jobs.add(new_job("every 10m", "  ")).await.is_err());
    let nowhere = NewJob { zone: Some("Mars/Base".to_owned()), ..new_job("every 10m", "look") };
    assert!(jobs.add(nowhere).await.is_err());
    assert!(jobs.list(None).await.unwrap().is_empty());
}

pub(crate) async fn what_is_old_is_removed(location: DatabaseLocation) {
    let jobs = open(&location).await;
    let database = lango_store::testing::open(&location).await;
    let now = Timestamp::now();
    let day = 86_400_000_000;
    for (name, days) in [("old", 100), ("new", 0)] {
        let at = now.as_microseconds() - days * day;
        let service = Statement::new(
            "INSERT INTO automation_services (id, kind, workspace, pid, host, start, seen_at) \
             VALUES ($1, 'worker', '', 1, 'gone', 0, $2)",
        );
        let spend = Statement::new(
            "INSERT INTO automation_spend (scope, model_calls, tokens, micro_dollars, changed_at) \
             VALUES ($1, 1, 1, 1, $2)",
        );
        let batch = Batch::from(service.bind(name).bind(at)).with(spend.bind(name).bind(at));
        database.write(batch).await.unwrap();
    }
    jobs.remove_old(now).await.unwrap();
    for (table, column) in [("automation_services", "id"), ("automation_spend", "scope")] {
        let left = Statement::new(format!("SELECT {column} FROM {table}"));
        let left = database.query(left).await.unwrap();
        let names: Vec<&str> = left.iter().map(|row| row.text(0).unwrap()).collect();
        assert_eq!(names, ["new"], "{table}");
    }
}

pub(crate) async fn a_task_for_an_agent_that_is_not_there_is_refused(location: DatabaseLocation) {
    let jobs = open(&location).await;
    let tasks = BackgroundTasks::new(jobs.clone());
    let new = |agent: &str| NewTask {
        task: "count".to_owned(),
        agent: Some(agent.to_owned()),
        space: Space::Owner,
        session: None,
    };
    jobs.set_team(BTreeMap::new(), BTreeSet::from(["operator".to_owned()]));
    let refused = tasks.submit(new("opreator")).await.unwrap_err();
    assert!(refused.to_string().contains("there is no agent opreator"), "{refused}");
    tasks.submit(new("operator")).await.unwrap();
}

pub(crate) async fn a_task_that_failed_is_done_anew_and_one_that_ended_is_removed(
    location: DatabaseLocation,
) {
    let jobs = open(&location).await;
    let tasks = BackgroundTasks::new(jobs.clone());
    let session = Some("asking".parse().unwrap());
    let task = "count the files".to_owned();
    let first = NewTask { task, agent: None, space: Space::Owner, session };
    let first = tasks.submit(first).await.unwrap();
    assert!(tasks.retry(&first).await.is_err());
    assert!(tasks.remove(&first).await.unwrap_err().to_string().contains("bg cancel"));
    assert!(jobs.journal().start_work(&first, 10).await.unwrap());
    let progress = tasks.show(&tasks.find(&first.id, &Space::Owner).await.unwrap()).await.unwrap();
    assert!(progress.progress.unwrap().contains("is at work"));
    assert!(tasks.list_ended(&Space::Owner, 10).await.unwrap().is_empty());
    assert!(jobs.journal().end_work(&first.id, WorkState::Failed, "no").await.unwrap());
    let ended = tasks.find(&first.id, &Space::Owner).await.unwrap();
    let again = tasks.retry(&ended).await.unwrap();
    assert_ne!((&again.id, again.turn), (&first.id, first.turn));
    assert_eq!((&again.request, &again.reply_to), (&first.request, &first.reply_to));
    assert_eq!(again.session.as_str(), again.id);
    let due = WorkScope { workspace: None, includes_clients: false };
    let due = jobs.journal().list_due_work(&due, Timestamp::now(), 10).await.unwrap();
    assert_eq!(due.iter().map(|item| &item.id).collect::<Vec<_>>(), [&again.id]);
    tasks.remove(&ended).await.unwrap();
    assert!(tasks.remove(&ended).await.is_err());
    let left = tasks.list(&Space::Owner, 10).await.unwrap();
    assert_eq!(left.iter().map(|item| &item.id).collect::<Vec<_>>(), [&again.id]);
}

pub(crate) async fn a_user_is_told_who_runs_new_work(location: DatabaseLocation) {
    let jobs = open(&location).await;
    let told = async |due| jobs.describe_absence(due).await.unwrap().unwrap();
    assert!(told(DueTime::Now).await.starts_with("Nothing runs it yet"));
    jobs.set_local_runner(LocalRunner::Command);
    assert!(told(DueTime::Now).await.starts_with("It runs while this command is open"));
    // It ends before the time comes.
    assert!(told(DueTime::Later).await.starts_with("Nothing runs it yet"));
    jobs.set_local_runner(LocalRunner::Chat);
    for due in [DueTime::Now, DueTime::Later] {
        assert!(told(due).await.starts_with("It runs while this chat is open"));
    }
}
