//! Tests the particularities of PostgreSQL: lost servers and wrong addresses.

use std::time::{Duration, Instant};

use crate::proxy::{CommitFault, Proxy};
use lango_store::{Database, DatabaseLocation, Journal, Statement, StoreError};

use crate::fixture::{Fixture, administer, on_postgres, postgres_url};
use crate::samples::{append, session, turn};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broken_connection_is_replaced() {
    on_postgres(|fixture: Fixture| async move {
        let journal = fixture.journal().await;
        let work = session("work");
        let claim = journal.claim_session(&work, "/w").await.unwrap();
        let DatabaseLocation::Postgres(url) = &*fixture.location else { panic!("not PostgreSQL") };
        let (_, name) = url.rsplit_once('/').unwrap();
        let kill = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
        );
        for n in 0..3 {
            administer(&postgres_url(), &kill).await;
            journal.append(&claim, append(turn(&work, n * 3 + 1, "a"))).await.unwrap();
            administer(&postgres_url(), &kill).await;
            assert_eq!(journal.read_events(&work, n * 3, 10).await.unwrap().len(), 3);
        }
    })
    .await;
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_named_without_the_password() {
    let location = "postgres://lango:secret@127.0.0.1:1/lango".parse().unwrap();
    let error = Database::open(&location).await.err().unwrap();
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
    let message = format!("{error} {error:?}");
    assert!(message.contains("127.0.0.1:1") && !message.contains("secret"), "{message}");
}

#[tokio::test]
async fn a_database_that_is_not_there_is_named() {
    let url = postgres_url();
    let (server, _) = url.rsplit_once('/').unwrap();
    let location = format!("{server}/no_such_database").parse().unwrap();
    let error = Database::open(&location).await.err().unwrap();
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
    assert!(error.to_string().contains("no_such_database"), "{error}");
}

#[tokio::test]
async fn a_server_without_tls_is_refused_where_tls_is_asked_for() {
    let url = postgres_url();
    for mode in ["require", "verify-full"] {
        let location = format!("{url}?sslmode={mode}").parse().unwrap();
        let error = Database::open(&location).await.err().unwrap();
        assert!(error.to_string().contains("TLS"), "{error}");
    }
}

/// Returns a proxy before the server, and the location of a database behind it.
async fn proxied(fixture: &Fixture) -> (Proxy, DatabaseLocation) {
    let DatabaseLocation::Postgres(url) = &*fixture.location else { panic!("not PostgreSQL") };
    let config: tokio_postgres::Config = url.parse().unwrap();
    let tokio_postgres::config::Host::Tcp(host) = &config.get_hosts()[0] else {
        panic!("a socket")
    };
    let target = format!("{host}:{}", config.get_ports()[0]);
    let proxy = Proxy::start(target.clone()).await.unwrap();
    let location = url.replace(&target, &proxy.address().to_string());
    assert_ne!(location, *url);
    (proxy, location.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_whose_answer_is_lost_is_read_back_and_made_once() {
    on_postgres(|fixture: Fixture| async move {
        let (proxy, location) = proxied(&fixture).await;
        let database = Database::open(&location).await.unwrap();
        let create = Statement::new("CREATE TABLE t (n BIGINT)");
        database.write(create.into()).await.unwrap();
        // Nothing in the table itself would refuse a second insert.
        let faults = [CommitFault::CutAfter, CommitFault::CutBefore, CommitFault::CutAfter];
        for (number, fault) in (1_i64..).zip(faults) {
            proxy.break_commit(fault);
            let insert = Statement::new("INSERT INTO t VALUES ($1), ($1)").bind(number);
            assert_eq!(database.write(insert.into()).await.unwrap(), [2], "{fault:?}");
            let rows = Statement::new("SELECT COUNT(*) FROM t");
            assert_eq!(database.query(rows).await.unwrap()[0].integer(0).unwrap(), 2 * number);
        }
        // A claim and an append are of the same kind.
        let journal = Journal::open(database).await.unwrap();
        let work = session("work");
        proxy.break_commit(CommitFault::CutAfter);
        let claim = journal.claim_session(&work, "/w").await.unwrap();
        proxy.break_commit(CommitFault::CutAfter);
        journal.append(&claim, append(turn(&work, 1, "a"))).await.unwrap();
        assert_eq!(journal.read_events(&work, 0, 10).await.unwrap().len(), 3);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_are_cut_all_the_time_lose_nothing_and_repeat_nothing() {
    on_postgres(|fixture: Fixture| async move {
        let (proxy, location) = proxied(&fixture).await;
        let database = Database::open(&location).await.unwrap();
        let create = Statement::new("CREATE TABLE t (n BIGINT)");
        database.write(create.into()).await.unwrap();
        let writers: Vec<_> = (0..4_i64)
            .map(|writer| {
                let database = database.clone();
                tokio::spawn(async move {
                    for number in 0..50 {
                        let insert = Statement::new("INSERT INTO t VALUES ($1)");
                        let insert = insert.bind(writer * 1000 + number);
                        assert_eq!(database.write(insert.into()).await.unwrap(), [1]);
                    }
                })
            })
            .collect();
        let cutter = tokio::spawn(async move {
            for pause in 0..40 {
                tokio::time::sleep(Duration::from_millis(pause % 7 * 9)).await;
                proxy.cut();
            }
            proxy
        });
        for writer in writers {
            writer.await.unwrap();
        }
        let _proxy = cutter.await.unwrap();
        let count = "SELECT COUNT(*), COUNT(DISTINCT n) FROM t";
        let rows = database.query(Statement::new(count)).await.unwrap();
        assert_eq!((rows[0].integer(0).unwrap(), rows[0].integer(1).unwrap()), (200, 200));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_says_nothing_is_given_up_on_and_found_again() {
    on_postgres(|fixture: Fixture| async move {
        let (proxy, location) = proxied(&fixture).await;
        let database = Database::open(&location).await.unwrap();
        database.check_reachable(Duration::from_secs(10)).await.unwrap();
        proxy.silence();
        let start = Instant::now();
        let error = database.check_reachable(Duration::from_secs(1)).await.unwrap_err();
        assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
        assert!(start.elapsed() < Duration::from_secs(5));
        // A read that began in the silence is answered after it.
        let reading = database.clone();
        let read = tokio::spawn(async move { reading.query(Statement::new("SELECT 1")).await });
        tokio::time::sleep(Duration::from_secs(2)).await;
        proxy.open();
        assert_eq!(read.await.unwrap().unwrap().len(), 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_that_another_client_holds_is_waited_for_and_named() {
    on_postgres(|fixture: Fixture| async move {
        let database = fixture.database().await;
        let create = Statement::new("CREATE TABLE t (n BIGINT)");
        database.write(create.into()).await.unwrap();
        let DatabaseLocation::Postgres(url) = &*fixture.location else { panic!("not PostgreSQL") };
        let (client, connection) =
            tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute("BEGIN; LOCK TABLE t IN ACCESS EXCLUSIVE MODE").await.unwrap();
        let start = Instant::now();
        let insert = Statement::new("INSERT INTO t VALUES (1)");
        let error = database.write(insert.into()).await.unwrap_err();
        assert!(matches!(error, StoreError::Busy { .. }), "{error}");
        assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_away_for_a_while_is_waited_for() {
    on_postgres(|fixture: Fixture| async move {
        let (proxy, location) = proxied(&fixture).await;
        let database = Database::open(&location).await.unwrap();
        let create = Statement::new("CREATE TABLE t (n BIGINT)");
        database.write(create.into()).await.unwrap();
        proxy.go_away();
        let writer = database.clone();
        let insert = Statement::new("INSERT INTO t VALUES ($1)").bind(1_i64);
        let writing = tokio::spawn(async move { writer.write(insert.into()).await });
        // Longer than connections were retried before.
        tokio::time::sleep(Duration::from_secs(6)).await;
        assert!(!writing.is_finished());
        proxy.open();
        assert_eq!(writing.await.unwrap().unwrap(), [1]);
    })
    .await;
}
