//! Tests reading many rows without keeping them, and leaving no traces.

use lango_store::{Batch, DatabaseLocation, Statement, StoreError};

use crate::fixture::Fixture;

pub(crate) async fn rows_are_seen_in_order_and_not_kept(fixture: Fixture) {
    let database = fixture.database().await;
    let bytes = match database.dialect() {
        lango_store::SqlDialect::Sqlite => "BLOB",
        lango_store::SqlDialect::Postgres => "BYTEA",
    };
    let create =
        format!("CREATE TABLE f (k BIGINT PRIMARY KEY, v TEXT NOT NULL, b {bytes} NOT NULL)");
    database.write(Statement::new(create).into()).await.unwrap();
    let mut batch = Batch::new();
    for key in 1..=500_i64 {
        let insert = Statement::new("INSERT INTO f (k, v, b) VALUES ($1, $2, $3)");
        batch.push(insert.bind(key).bind(format!("row {key}")).bind(vec![7_u8; 3]));
    }
    database.write(batch).await.unwrap();
    let statement =
        || Statement::new("SELECT k, v, b FROM f WHERE k > $1 ORDER BY k").bind(490_i64);
    let seen = database
        .fold(statement(), Vec::new(), |seen: &mut Vec<String>, row| {
            seen.push(format!("{} {} {}", row.integer(0)?, row.text(1)?, row.blob(2)?.len()));
            Ok(())
        })
        .await
        .unwrap();
    assert_eq!(seen.len(), 10);
    assert_eq!(seen[0], "491 row 491 3");
    // The visitor can stop, and a wrong column is an error and not a panic.
    let stopped = database
        .fold(statement(), 0, |count: &mut i32, _| {
            *count += 1;
            Err(StoreError::Conflict { reason: "enough".into() })
        })
        .await;
    assert!(matches!(stopped, Err(StoreError::Conflict { .. })));
    let wrong = database.fold(statement(), (), |(), row| row.integer(9).map(drop)).await;
    assert!(matches!(wrong, Err(StoreError::Query { .. })), "{wrong:?}");
}

pub(crate) async fn what_is_deleted_leaves_no_trace_in_files(fixture: Fixture) {
    let database = fixture.database().await;
    let create = "CREATE TABLE f (k BIGINT PRIMARY KEY, v TEXT NOT NULL)";
    database.write(Statement::new(create).into()).await.unwrap();
    for key in 1..=50_i64 {
        let insert = Statement::new("INSERT INTO f (k, v) VALUES ($1, $2)");
        database.write(insert.bind(key).bind("PELICAN ".repeat(300)).into()).await.unwrap();
    }
    database.write(Statement::new("DELETE FROM f").into()).await.unwrap();
    database.erase_traces(&["f"]).await.unwrap();
    let DatabaseLocation::Sqlite(path) = &*fixture.location else { return };
    for file in std::fs::read_dir(path.parent().unwrap()).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let found = bytes.windows(7).any(|window| window == b"PELICAN");
        assert!(!found, "{} still has it", path.display());
    }
}
