//! Tests that work starts once, within its limit, and is found when its process is gone.

use lango_protocol::{Space, Timestamp, TurnId};
use lango_store::{
    Batch, Database, Journal, StoreError, TurnState, WorkFilter, WorkItem, WorkScope, WorkState,
};

use crate::fixture::Fixture;
use crate::samples::session;

fn item(id: &str, workspace: &str) -> WorkItem {
    let now = Timestamp::now();
    WorkItem {
        id: id.to_owned(),
        kind: "job".to_owned(),
        parent: "weather".to_owned(),
        space: Space::Owner,
        workspace: workspace.to_owned(),
        depth: 0,
        session: session(&format!("s-{id}")),
        turn: TurnId::generate(),
        request: "{}".to_owned(),
        title: "weather".to_owned(),
        state: WorkState::Waiting,
        due_at: now,
        created_at: now,
        started_at: None,
        ended_at: None,
        result: String::new(),
        reply_to: None,
        is_cancelled: false,
    }
}

async fn write(database: &Database, item: &WorkItem) -> Result<(), StoreError> {
    database.write(Batch::from(Journal::build_work_entry(item))).await.map(drop)
}

fn everywhere() -> WorkScope {
    WorkScope { workspace: None, includes_clients: true }
}

pub(crate) async fn an_id_of_work_is_used_once(fixture: Fixture) {
    let (journal, database) = fixture.both().await;
    let first = item("a", "/w");
    write(&database, &first).await.unwrap();
    let second = WorkItem { turn: TurnId::generate(), ..first.clone() };
    assert!(matches!(write(&database, &second).await, Err(StoreError::Conflict { .. })));
    assert_eq!(journal.find_work("a").await.unwrap(), Some(first));
}

pub(crate) async fn work_starts_once_however_many_try(fixture: Fixture) {
    let (journal, database) = fixture.both().await;
    let work = item("a", "/w");
    write(&database, &work).await.unwrap();
    let attempts = (0..16).map(|_| {
        let (journal, work) = (journal.clone(), work.clone());
        tokio::spawn(async move { journal.start_work(&work, 100).await.unwrap() })
    });
    let mut started = 0;
    for attempt in attempts.collect::<Vec<_>>() {
        started += usize::from(attempt.await.unwrap());
    }
    assert_eq!(started, 1);
    let state = journal.find_turn_state(&work.session, work.turn).await.unwrap();
    assert!(matches!(state, TurnState::Queued(_)), "{state:?}");
    // Its turn waits and no process holds its session.
    let abandoned = journal.list_abandoned_work(&everywhere()).await.unwrap();
    assert_eq!(abandoned.iter().map(|item| item.id.as_str()).collect::<Vec<_>>(), ["a"]);
    assert!(journal.list_abandoned_sessions().await.unwrap().is_empty());
    assert!(journal.end_work("a", WorkState::Done, "Sunny.").await.unwrap());
    assert!(!journal.end_work("a", WorkState::Failed, "Rain.").await.unwrap());
    let ended = journal.find_work("a").await.unwrap().unwrap();
    assert_eq!((ended.state, ended.result.as_str()), (WorkState::Done, "Sunny."));
}

pub(crate) async fn work_waits_while_its_workspace_is_busy(fixture: Fixture) {
    let (journal, database) = fixture.both().await;
    let (one, two, other) = (item("a", "/w"), item("b", "/w"), item("c", "/other"));
    for work in [&one, &two, &other] {
        write(&database, work).await.unwrap();
    }
    assert!(journal.start_work(&one, 1).await.unwrap());
    assert!(!journal.start_work(&two, 1).await.unwrap());
    assert!(journal.start_work(&other, 1).await.unwrap());
    assert!(journal.end_work("a", WorkState::Done, "").await.unwrap());
    assert!(journal.start_work(&two, 1).await.unwrap());
}

pub(crate) async fn a_process_sees_the_work_of_its_scope(fixture: Fixture) {
    let (journal, database) = fixture.both().await;
    let client = Space::Client("wiki".parse().unwrap());
    write(&database, &item("a", "/w")).await.unwrap();
    write(&database, &item("b", "/other")).await.unwrap();
    write(&database, &WorkItem { space: client.clone(), ..item("c", "/w") }).await.unwrap();
    let later = Timestamp::now().plus(std::time::Duration::from_hours(1));
    write(&database, &WorkItem { due_at: later, ..item("d", "/w") }).await.unwrap();
    let ids = |items: Vec<WorkItem>| items.into_iter().map(|item| item.id).collect::<Vec<_>>();
    let due = async |workspace: Option<&str>, includes_clients| {
        let scope = WorkScope { workspace: workspace.map(str::to_owned), includes_clients };
        let mut found = ids(journal.list_due_work(&scope, Timestamp::now(), 10).await.unwrap());
        found.sort();
        found
    };
    assert_eq!(due(Some("/w"), false).await, ["a"]);
    assert_eq!(due(Some("/w"), true).await, ["a", "c"]);
    assert_eq!(due(None, true).await, ["a", "b", "c"]);
    let filter = WorkFilter { space: Some(&client), ..WorkFilter::default() };
    assert_eq!(ids(journal.list_work(filter, 10).await.unwrap()), ["c"]);
}

pub(crate) async fn cancelled_work_does_not_start(fixture: Fixture) {
    let (journal, database) = fixture.both().await;
    let (waiting, started) = (item("a", "/w"), item("b", "/w"));
    write(&database, &waiting).await.unwrap();
    write(&database, &started).await.unwrap();
    assert!(journal.start_work(&started, 10).await.unwrap());
    assert!(journal.cancel_work("a").await.unwrap());
    assert!(journal.cancel_work("b").await.unwrap());
    assert!(!journal.cancel_work("nothing").await.unwrap());
    assert!(!journal.start_work(&waiting, 10).await.unwrap());
    assert_eq!(journal.find_work("a").await.unwrap().unwrap().state, WorkState::Cancelled);
    let asked = journal.find_work("b").await.unwrap().unwrap();
    assert_eq!((asked.state, asked.is_cancelled), (WorkState::Started, true));
}

pub(crate) async fn a_result_is_delivered_once(fixture: Fixture) {
    let (journal, database) = fixture.both().await;
    let work = item("a", "/w");
    write(&database, &work).await.unwrap();
    assert!(journal.list_undelivered_work(&Space::Owner, 10).await.unwrap().is_empty());
    assert!(journal.start_work(&work, 10).await.unwrap());
    assert!(journal.end_work("a", WorkState::Done, "Sunny.").await.unwrap());
    assert_eq!(journal.list_undelivered_work(&Space::Owner, 10).await.unwrap().len(), 1);
    assert!(journal.mark_work_delivered("a").await.unwrap());
    assert!(!journal.mark_work_delivered("a").await.unwrap());
    assert!(journal.list_undelivered_work(&Space::Owner, 10).await.unwrap().is_empty());
}

pub(crate) async fn a_workspace_has_no_more_work_than_its_limit_however_many_start(
    fixture: Fixture,
) {
    let (_, database) = fixture.both().await;
    // Each has connections of its own, as processes have.
    let mut journals = Vec::new();
    for _ in 0..4 {
        journals.push(fixture.journal().await);
    }
    for round in 0..6 {
        let workspace = format!("/w{round}");
        let mut attempts = Vec::new();
        for number in 0..16 {
            let work = item(&format!("r{round}-{number}"), &workspace);
            write(&database, &work).await.unwrap();
            attempts.push((journals[number % 4].clone(), work));
        }
        let attempts = attempts.into_iter().map(|(journal, work)| {
            tokio::spawn(async move { journal.start_work(&work, 3).await.unwrap() })
        });
        let mut started = 0;
        for attempt in attempts.collect::<Vec<_>>() {
            started += usize::from(attempt.await.unwrap());
        }
        assert_eq!(started, 3, "round {round}");
    }
}

pub(crate) async fn the_work_of_one_owner_keeps_that_of_no_other_back(fixture: Fixture) {
    let (journal, database) = fixture.both().await;
    let client = Space::Client("wiki".parse().unwrap());
    let theirs = |id: String| WorkItem { space: client.clone(), ..item(&id, "/w") };
    for number in 0..70 {
        write(&database, &theirs(format!("theirs-{number:02}"))).await.unwrap();
    }
    let own = item("own", "/w");
    write(&database, &own).await.unwrap();
    let due = journal.list_due_work(&everywhere(), Timestamp::now(), 64).await.unwrap();
    assert_eq!(due.len(), 65);
    assert!(due.iter().any(|item| item.id == "own"));
    // Nor does what they have started, whether or not it ever ends.
    for work in &due[..2] {
        assert!(journal.start_work(work, 2).await.unwrap());
    }
    assert!(!journal.start_work(&due[2], 2).await.unwrap());
    assert!(journal.start_work(&own, 2).await.unwrap());
}

pub(crate) async fn cancelled_work_is_found_however_much_is_open(fixture: Fixture) {
    let (journal, database) = fixture.both().await;
    let asked = item("asked", "/w");
    write(&database, &asked).await.unwrap();
    assert!(journal.start_work(&asked, 10).await.unwrap());
    let later = Timestamp::now().plus(std::time::Duration::from_hours(1));
    for number in 0..100 {
        let newer = WorkItem { due_at: later, ..item(&format!("newer-{number}"), "/w") };
        write(&database, &newer).await.unwrap();
    }
    assert!(journal.list_cancelled_work(&everywhere()).await.unwrap().is_empty());
    assert!(journal.cancel_work("asked").await.unwrap());
    let found = journal.list_cancelled_work(&everywhere()).await.unwrap();
    assert_eq!(found.iter().map(|item| item.id.as_str()).collect::<Vec<_>>(), ["asked"]);
    let other_place = WorkScope { workspace: Some("/other".to_owned()), includes_clients: true };
    assert!(journal.list_cancelled_work(&other_place).await.unwrap().is_empty());
    assert!(journal.end_work("asked", WorkState::Cancelled, "").await.unwrap());
    assert!(journal.list_cancelled_work(&everywhere()).await.unwrap().is_empty());
}
