//! Tests statements and batches.

use std::time::Duration;

use lango_store::{Batch, Database, Durability, SqlDialect, SqlValue, Statement, StoreError};

use crate::fixture::Fixture;

async fn with_table(fixture: &Fixture) -> Database {
    let database = fixture.database().await;
    let sql = match database.dialect() {
        SqlDialect::Sqlite => "CREATE TABLE t (k BIGINT PRIMARY KEY, r REAL, v TEXT, b BLOB)",
        SqlDialect::Postgres => {
            "CREATE TABLE t (k BIGINT PRIMARY KEY, r DOUBLE PRECISION, v TEXT, b BYTEA)"
        }
    };
    database.write(Statement::new(sql).into()).await.unwrap();
    database
}

fn insert(key: i64, text: &str) -> Statement {
    Statement::new("INSERT INTO t (k, v) VALUES ($1, $2)").bind(key).bind(text)
}

async fn count(database: &Database) -> i64 {
    let rows = database.query(Statement::new("SELECT COUNT(*) FROM t")).await.unwrap();
    rows[0].integer(0).unwrap()
}

pub(crate) async fn values_keep_their_type(fixture: Fixture) {
    let database = with_table(&fixture).await;
    let all = || Statement::new("INSERT INTO t (k, r, v, b) VALUES ($1, $2, $3, $4)");
    let batch = Batch::new()
        .with(all().bind(i64::MIN).bind(0.1).bind("ä'\"").bind(vec![0_u8, 255]))
        .with(all().bind(7_u32).bind(None::<f64>).bind(None::<String>).bind(None::<Vec<u8>>));
    assert_eq!(database.write(batch).await.unwrap(), [1, 1]);
    let rows = database
        .query(Statement::new("SELECT k, r, v, b, k > $1 FROM t ORDER BY k").bind(0_i64))
        .await
        .unwrap();
    assert_eq!(rows[0].integer(0).unwrap(), i64::MIN);
    assert!((rows[0].real(1).unwrap() - 0.1).abs() < f64::EPSILON);
    assert_eq!(rows[0].text(2).unwrap(), "ä'\"");
    assert_eq!(rows[0].blob(3).unwrap(), [0, 255]);
    assert!(!rows[0].boolean(4).unwrap());
    assert_eq!(rows[1].unsigned(0).unwrap(), 7);
    for column in 1..=3 {
        assert_eq!(rows[1].value(column).unwrap(), &SqlValue::Null);
    }
    assert!(rows[1].boolean(4).unwrap());
    assert!(matches!(rows[0].integer(2), Err(StoreError::Query { .. })));
    assert!(matches!(rows[0].unsigned(0), Err(StoreError::Query { .. })));
    assert!(matches!(rows[0].value(9), Err(StoreError::Query { .. })));
}

pub(crate) async fn placeholders_may_come_in_any_order(fixture: Fixture) {
    let database = with_table(&fixture).await;
    let statement = Statement::new("INSERT INTO t (v, k) VALUES ($2, $1)").bind(5_i64).bind("five");
    database.write(statement.into()).await.unwrap();
    let rows = database
        .query(Statement::new("SELECT v FROM t WHERE v = $2 AND k = $1").bind(5_i64).bind("five"))
        .await
        .unwrap();
    assert_eq!(rows.len(), 1);
}

pub(crate) async fn a_batch_is_written_whole_or_not_at_all(fixture: Fixture) {
    let database = with_table(&fixture).await;
    let batch = Batch::new().with(insert(1, "a")).with(insert(2, "b")).with(insert(1, "c"));
    let error = database.write(batch).await.unwrap_err();
    assert!(matches!(error, StoreError::Conflict { .. }), "{error}");
    assert_eq!(count(&database).await, 0);
    let batch = Batch::new().with(insert(1, "a")).with(insert(2, "b"));
    assert_eq!(database.write(batch).await.unwrap(), [1, 1]);
    assert_eq!(count(&database).await, 2);
}

pub(crate) async fn an_unmet_expectation_undoes_the_batch(fixture: Fixture) {
    let database = with_table(&fixture).await;
    let update = || Statement::new("UPDATE t SET v = $2 WHERE k = $1").bind(1_i64).bind("new");
    let batch = Batch::new().with(insert(1, "old")).with(update().expect_rows(2));
    let error = database.write(batch).await.unwrap_err();
    assert!(error.to_string().contains("statement 2 changed 1 rows instead of 2"), "{error}");
    assert_eq!(count(&database).await, 0);
    let batch = Batch::new().with(insert(1, "old")).with(update().expect_rows(1));
    assert_eq!(database.write(batch).await.unwrap(), [1, 1]);
    let unmatched = Statement::new("DELETE FROM t WHERE k = $1").bind(9_i64);
    assert_eq!(database.write(unmatched.into()).await.unwrap(), [0]);
}

pub(crate) async fn a_failing_batch_does_not_take_others_with_it(fixture: Fixture) {
    let database = with_table(&fixture).await;
    database.write(insert(1000, "taken").into()).await.unwrap();
    let writes: Vec<_> = (0..100)
        .map(|key| {
            let database = database.clone();
            tokio::spawn(async move {
                let second = if key % 10 == 3 { 1000 } else { key + 200 };
                database.write(Batch::new().with(insert(key, "x")).with(insert(second, "y"))).await
            })
        })
        .collect();
    for (key, write) in writes.into_iter().enumerate() {
        let result = write.await.unwrap();
        assert_eq!(result.is_err(), key % 10 == 3, "{key}: {result:?}");
    }
    assert_eq!(count(&database).await, 1 + 90 * 2);
}

pub(crate) async fn a_batch_larger_than_a_pipeline_keeps_its_order(fixture: Fixture) {
    let database = with_table(&fixture).await;
    let mut batch = Batch::new().with(insert(0, "start"));
    for step in 1..100_i64 {
        let next = Statement::new("UPDATE t SET k = $2 WHERE k = $1").bind(step - 1).bind(step);
        batch.push(next.expect_rows(1));
    }
    assert_eq!(database.write(batch).await.unwrap().len(), 100);
    let rows = database.query(Statement::new("SELECT k FROM t")).await.unwrap();
    assert_eq!(rows[0].integer(0).unwrap(), 99);
}

pub(crate) async fn a_power_loss_batch_is_written(fixture: Fixture) {
    let database = with_table(&fixture).await;
    let batch = Batch::from(insert(1, "a")).durability(Durability::PowerLoss);
    assert_eq!(database.write(batch).await.unwrap(), [1]);
    assert_eq!(database.write(insert(2, "b").into()).await.unwrap(), [1]);
}

pub(crate) async fn a_batch_is_finished_when_its_caller_stops_waiting(fixture: Fixture) {
    let database = with_table(&fixture).await;
    // Polled once and dropped: submitted, and then abandoned.
    let write = database.write(Batch::new().with(insert(1, "a")).with(insert(2, "b")));
    let _ = tokio::time::timeout(Duration::ZERO, write).await;
    for _ in 0..100 {
        if count(&database).await == 2 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the batch was not finished");
}

pub(crate) async fn a_wrong_statement_is_a_bug_and_says_so(fixture: Fixture) {
    let database = with_table(&fixture).await;
    for statement in [
        Statement::new("SELECT nonsense FROM t"),
        Statement::new("SELECT k FROM t WHERE k = $1 AND v = $2").bind(1_i64),
    ] {
        let error = database.query(statement).await.unwrap_err();
        assert!(matches!(error, StoreError::Query { .. }), "{error}");
    }
    // And the connections still work.
    assert_eq!(count(&database).await, 0);
}

pub(crate) async fn a_closed_database_says_so(fixture: Fixture) {
    let database = with_table(&fixture).await;
    database.write(insert(1, "a").into()).await.unwrap();
    let clone = database.clone();
    database.close().await;
    assert_eq!(clone.write(insert(2, "b").into()).await.unwrap_err(), StoreError::Closed);
    let error = clone.query(Statement::new("SELECT 1")).await.unwrap_err();
    assert_eq!(error, StoreError::Closed);
    database.close().await;
    assert_eq!(count(&fixture.database().await).await, 1);
}
