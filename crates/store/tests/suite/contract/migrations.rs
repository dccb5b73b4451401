//! Tests versions of the schema.

use lango_store::{Migration, SchemaComponent, Statement, StoreError};

use crate::fixture::Fixture;

const fn step(version: u32, sql: &'static str) -> Migration {
    Migration { version, sqlite: sql, postgres: sql }
}

const FIRST: Migration = step(1, "CREATE TABLE a (x BIGINT); INSERT INTO a VALUES (1);");
const SECOND: Migration = step(2, "INSERT INTO a VALUES (2); CREATE TABLE b (x BIGINT);");
const BROKEN: Migration = step(3, "INSERT INTO a VALUES (3); INSERT INTO missing VALUES (1);");

const OLD: SchemaComponent = SchemaComponent { name: "test", migrations: &[FIRST] };
const NEW: SchemaComponent = SchemaComponent { name: "test", migrations: &[FIRST, SECOND] };
const BAD: SchemaComponent = SchemaComponent { name: "test", migrations: &[FIRST, SECOND, BROKEN] };

async fn values(fixture: &Fixture) -> Vec<i64> {
    let database = fixture.database().await;
    let rows = database.query(Statement::new("SELECT x FROM a ORDER BY x")).await.unwrap();
    rows.iter().map(|row| row.integer(0).unwrap()).collect()
}

pub(crate) async fn a_newer_schema_is_refused(fixture: Fixture) {
    let database = fixture.database().await;
    database.migrate(&NEW).await.unwrap();
    let error = database.migrate(&OLD).await.unwrap_err();
    let expected = StoreError::NewerSchema { component: "test".into(), found: 2, known: 1 };
    assert_eq!(error, expected);
    assert!(error.to_string().contains("newer lango"), "{error}");
}

pub(crate) async fn two_processes_migrate_at_once(fixture: Fixture) {
    // A component that does not exist yet, and several handles that all create it.
    let tasks: Vec<_> = (0..6)
        .map(|_| {
            let fixture = fixture.clone();
            tokio::spawn(async move {
                fixture.database().await.migrate(&NEW).await.unwrap();
                fixture.journal().await;
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(values(&fixture).await, [1, 2]);
}

pub(crate) async fn steps_run_once_and_in_order(fixture: Fixture) {
    let database = fixture.database().await;
    database.migrate(&OLD).await.unwrap();
    assert_eq!(values(&fixture).await, [1]);
    database.migrate(&NEW).await.unwrap();
    database.migrate(&NEW).await.unwrap();
    fixture.database().await.migrate(&NEW).await.unwrap();
    assert_eq!(values(&fixture).await, [1, 2]);
}

pub(crate) async fn a_failing_step_leaves_nothing(fixture: Fixture) {
    let database = fixture.database().await;
    database.migrate(&OLD).await.unwrap();
    let error = database.migrate(&BAD).await.unwrap_err();
    assert!(matches!(error, StoreError::Query { .. }), "{error}");
    assert_eq!(values(&fixture).await, [1]);
    database.migrate(&NEW).await.unwrap();
    assert_eq!(values(&fixture).await, [1, 2]);
}
