use lango_automator::{AutomatorError, AutomatorSettings, BackgroundTasks, NewJob, NewTask};
use lango_protocol::Space;
use lango_store::DatabaseLocation;

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
