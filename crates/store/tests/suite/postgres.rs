//! Tests the particularities of PostgreSQL: lost servers and wrong addresses.

use lango_store::{Database, DatabaseLocation, StoreError};

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
