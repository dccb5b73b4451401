//! Tests which process may write to a session.

use std::process::{Child, Command};

use lango_store::{
    ClaimError, Database, JournalAppend, ProcessIdentity, QueuePlace, SqlDialect, Statement,
    StoreError,
};

use crate::fixture::Fixture;
use crate::samples::{append, session, turn};

/// Makes the lease of a session look as if another process had taken it.
async fn give_lease_to(database: &Database, pid: u32) {
    let sql = "UPDATE leases SET owner_pid = $1, owner_start = 0, incarnation = 'other'";
    let statement = Statement::new(sql).bind(pid);
    assert_eq!(database.write(statement.into()).await.unwrap(), [1]);
}

async fn expire(database: &Database) {
    let statement = Statement::new("UPDATE leases SET expires_at = expires_at - 30000000");
    assert_eq!(database.write(statement.into()).await.unwrap(), [1]);
}

fn child() -> Child {
    Command::new("sleep").arg("60").spawn().unwrap()
}

pub(crate) async fn a_claim_is_refused_while_its_owner_lives(fixture: Fixture) {
    let (journal, database) = fixture.both().await;
    let work = session("work");
    let claim = journal.claim_session(&work, "/w").await.unwrap();
    assert_eq!((claim.session(), claim.head()), (&work, 0));
    let Err(ClaimError::Busy(owner)) = journal.claim_session(&work, "/w").await else {
        panic!("claimed twice")
    };
    assert_eq!(owner.pid, std::process::id());
    assert!(!owner.host.is_empty() && !owner.host.contains('/'), "{owner}");
    // Another session is free, and another live process is respected as well.
    let other = journal.claim_session(&session("other"), "/w").await.unwrap();
    journal.release_claim(other).await.unwrap();
    let mut other = child();
    give_lease_to(&database, other.id()).await;
    let refused = journal.claim_session(&work, "/w").await;
    other.kill().unwrap();
    other.wait().unwrap();
    assert!(matches!(refused, Err(ClaimError::Busy(owner)) if owner.pid == other.id()));
}

pub(crate) async fn a_released_session_can_be_claimed_again(fixture: Fixture) {
    let journal = fixture.journal().await;
    let work = session("work");
    let claim = journal.claim_session(&work, "/w").await.unwrap();
    journal.append(&claim, append(turn(&work, 1, "a"))).await.unwrap();
    journal.release_claim(claim).await.unwrap();
    let claim = journal.claim_session(&work, "/w").await.unwrap();
    assert_eq!(claim.head(), 3);
    let last = JournalAppend { release: true, ..append(turn(&work, 4, "b")) };
    journal.append(&claim, last).await.unwrap();
    let next = journal.claim_session(&work, "/w").await.unwrap();
    assert_eq!(next.head(), 6);
    // A released claim cannot be used any more.
    let error = journal.append(&claim, append(turn(&work, 7, "c"))).await.unwrap_err();
    assert!(matches!(error, StoreError::SessionLost { .. }), "{error}");
    journal.release_claim(claim).await.unwrap();
    assert!(matches!(journal.claim_session(&work, "/w").await, Err(ClaimError::Busy(_))));
}

pub(crate) async fn a_dead_owner_is_replaced_at_once(fixture: Fixture) {
    let (journal, database) = fixture.both().await;
    let work = session("work");
    let first = journal.claim_session(&work, "/w").await.unwrap();
    // Killed, and at first not reaped by its parent.
    let mut owner = child();
    give_lease_to(&database, owner.id()).await;
    owner.kill().unwrap();
    let claimed = async {
        loop {
            match journal.claim_session(&work, "/w").await {
                Ok(claim) => break claim,
                Err(ClaimError::Busy(_)) => tokio::task::yield_now().await,
                Err(error) => panic!("{error}"),
            }
        }
    };
    let second = tokio::time::timeout(std::time::Duration::from_secs(5), claimed).await.unwrap();
    owner.wait().unwrap();
    give_lease_to(&database, owner.id()).await;
    let third = journal.claim_session(&work, "/w").await.unwrap();
    // An earlier process had the id of this one.
    give_lease_to(&database, std::process::id()).await;
    let fourth = journal.claim_session(&work, "/w").await.unwrap();
    // The process id is in use again, by a process that started at another time.
    let mut other = child();
    give_lease_to(&database, other.id()).await;
    database.write(Statement::new("UPDATE leases SET owner_start = 1").into()).await.unwrap();
    let last = journal.claim_session(&work, "/w").await;
    other.kill().unwrap();
    other.wait().unwrap();
    assert!(last.is_ok());
    assert!(matches!(journal.claim_session(&work, "/w").await, Err(ClaimError::Busy(_))));
    drop((first, second, third, fourth));
}

pub(crate) async fn a_claim_that_is_dropped_is_free_at_once(fixture: Fixture) {
    let (journal, database) = fixture.both().await;
    let work = session("work");
    let claim = journal.claim_session(&work, "/w").await.unwrap();
    assert!(matches!(journal.claim_session(&work, "/w").await, Err(ClaimError::Busy(_))));
    drop(claim);
    // The lease may still be in the database, but this process knows that no claim uses it.
    let claim = journal.claim_session(&work, "/w").await.unwrap();
    drop(claim);
    // The other processes see it as well.
    let released = async {
        while !database.query(Statement::new("SELECT 1 FROM leases")).await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(5), released).await.unwrap();
}

pub(crate) async fn an_owner_on_another_machine_keeps_its_lease(fixture: Fixture) {
    let (journal, database) = fixture.both().await;
    let work = session("work");
    let claim = journal.claim_session(&work, "/w").await.unwrap();
    // In another namespace of process ids its end cannot be seen.
    let boot = ProcessIdentity::current().host.split('/').nth(1).unwrap().to_owned();
    let sql = "UPDATE leases SET incarnation = 'other', owner_host = $1, owner_pid = 1";
    let host = format!("other-host/{boot}/pid");
    database.write(Statement::new(sql).bind(host).into()).await.unwrap();
    let refused = journal.claim_session(&work, "/w").await;
    assert!(matches!(refused, Err(ClaimError::Busy(owner)) if owner.host == "other-host"));
    // With PostgreSQL it may be another machine. With SQLite the machine was started again.
    database.write(Statement::new(sql).bind("other-host/earlier-boot/pid").into()).await.unwrap();
    let (claimed, dialect) = (journal.claim_session(&work, "/w").await, database.dialect());
    assert_eq!(claimed.is_ok(), dialect == SqlDialect::Sqlite, "{claimed:?}");
    expire(&database).await;
    drop(claimed);
    journal.claim_session(&work, "/w").await.unwrap();
    drop(claim);
}

pub(crate) async fn an_expired_lease_can_be_taken(fixture: Fixture) {
    let (journal, database) = fixture.both().await;
    let work = session("work");
    let first = journal.claim_session(&work, "/w").await.unwrap();
    expire(&database).await;
    // No other process came, so the owner may continue and renew its lease.
    journal.append(&first, append(turn(&work, 1, "a"))).await.unwrap();
    journal.renew_claim(&first).await.unwrap();
    assert!(matches!(journal.claim_session(&work, "/w").await, Err(ClaimError::Busy(_))));
    expire(&database).await;
    assert_eq!(journal.claim_session(&work, "/w").await.unwrap().head(), 3);
}

pub(crate) async fn a_stale_claim_is_fenced(fixture: Fixture) {
    let (journal, database) = fixture.both().await;
    let work = session("work");
    let old = journal.claim_session(&work, "/w").await.unwrap();
    expire(&database).await;
    let new = journal.claim_session(&work, "/w").await.unwrap();
    let error = journal.append(&old, append(turn(&work, 1, "old"))).await.unwrap_err();
    assert!(error.to_string().starts_with("another process took over session work"), "{error}");
    let last = JournalAppend { release: true, ..append(turn(&work, 1, "old")) };
    let error = journal.append(&old, last).await.unwrap_err();
    assert!(matches!(error, StoreError::SessionLost { .. }), "{error}");
    assert!(matches!(journal.renew_claim(&old).await, Err(StoreError::SessionLost { .. })));
    // Releasing a lost claim changes nothing for the new owner.
    journal.release_claim(old).await.unwrap();
    assert_eq!(journal.read_events(&work, 0, 10).await.unwrap(), []);
    journal.append(&new, append(turn(&work, 1, "new"))).await.unwrap();
    assert_eq!(journal.read_events(&work, 0, 10).await.unwrap().len(), 3);
}

pub(crate) async fn a_silent_claim_is_kept_by_renewing(fixture: Fixture) {
    let (journal, database) = fixture.both().await;
    let work = session("work");
    let claim = journal.claim_session(&work, "/w").await.unwrap();
    expire(&database).await;
    journal.renew_claim(&claim).await.unwrap();
    assert!(matches!(journal.claim_session(&work, "/w").await, Err(ClaimError::Busy(_))));
}

pub(crate) async fn of_many_claims_one_wins(fixture: Fixture) {
    let (journal, database) = fixture.both().await;
    let work = session("work");
    // At first the session is free, then all see the same expired lease.
    for round in 0..2 {
        let claims: Vec<_> = (0..16)
            .map(|_| {
                let (journal, work) = (journal.clone(), work.clone());
                tokio::spawn(async move { journal.claim_session(&work, "/w").await })
            })
            .collect();
        let mut won = Vec::new();
        for claim in claims {
            match claim.await.unwrap() {
                Ok(claim) => won.push(claim),
                Err(ClaimError::Busy(_)) => {}
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(won.len(), 1, "round {round}");
        // It is forgotten, so that the lease stays until its time is over.
        won.into_iter().for_each(std::mem::forget);
        expire(&database).await;
    }
}

pub(crate) async fn claims_in_turn_never_see_an_old_head(fixture: Fixture) {
    let journal = fixture.journal().await;
    let work = session("work");
    // Each task claims, appends right after the head that it got, and releases. An outdated head
    // would show as a conflict.
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let (journal, work) = (journal.clone(), work.clone());
            tokio::spawn(async move {
                let mut done = 0;
                while done < 5 {
                    match journal.claim_session(&work, "/w").await {
                        Ok(claim) => {
                            let events = turn(&work, claim.head() + 1, "x");
                            let last = JournalAppend { release: true, ..append(events) };
                            journal.append(&claim, last).await.unwrap();
                            done += 1;
                        }
                        Err(
                            ClaimError::Busy(_) | ClaimError::Store(StoreError::Conflict { .. }),
                        ) => {
                            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
                        }
                        Err(error) => panic!("{error}"),
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let events = journal.read_events(&work, 0, 1000).await.unwrap();
    let positions: Vec<_> = events.iter().map(|event| event.seq).collect();
    assert_eq!(positions, (1..=120).collect::<Vec<_>>());
}

pub(crate) async fn a_claim_writes_its_first_events_or_nothing(fixture: Fixture) {
    let journal = fixture.journal().await;
    let work = session("work");
    let begin = |head: u64| turn(&work, head + 1, "a");
    let (claim, written) = journal.claim_with(&work, "/w", QueuePlace::First, begin).await.unwrap();
    assert_eq!((claim.head(), written.len()), (3, 3));
    assert_eq!(journal.read_events(&work, 0, 10).await.unwrap(), written);
    // A process that does not get the session writes nothing into it.
    let refused = journal.claim_with(&work, "/w", QueuePlace::First, begin).await;
    assert!(matches!(refused, Err(ClaimError::Busy(_))));
    assert_eq!(journal.read_events(&work, 0, 10).await.unwrap().len(), 3);
    let more = turn(&work, 4, "b");
    journal.append(&claim, JournalAppend { release: true, ..append(more) }).await.unwrap();
    let (claim, written) = journal.claim_with(&work, "/w", QueuePlace::First, begin).await.unwrap();
    assert_eq!((claim.head(), written[0].seq), (9, 7));
}
