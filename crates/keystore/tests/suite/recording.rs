//! The record of every use.

use lango_keystore::AuditProblem;
use lango_store::testing::open;
use lango_store::{DatabaseLocation, Statement};

use crate::fixture::{Vault, get, put};

pub(crate) async fn every_use_is_recorded_in_a_chain_that_can_be_verified(
    location: DatabaseLocation,
) {
    let vault = Vault::new(location.clone());
    let store = vault.process().await;
    put(&store, "github", "value").await;
    for _ in 0..3 {
        get(&store, "github").await.unwrap();
    }
    let actions: Vec<String> =
        store.list_audit(10).await.unwrap().into_iter().map(|record| record.action).collect();
    assert_eq!(actions, ["created", "stored", "used", "used", "used"]);
    let verified = store.verify_audit().await.unwrap();
    assert_eq!((verified.records, verified.problem), (5, None));
    let database = open(&location).await;
    for (sql, undo, problem) in [
        (
            "UPDATE vault_audit SET name = 'other' WHERE seq = 3",
            Some("UPDATE vault_audit SET name = 'github' WHERE seq = 3"),
            AuditProblem::Changed(3),
        ),
        ("DELETE FROM vault_audit WHERE seq = 2", None, AuditProblem::Missing(2)),
    ] {
        database.write(Statement::new(sql).into()).await.unwrap();
        assert_eq!(store.verify_audit().await.unwrap().problem, Some(problem));
        if let Some(undo) = undo {
            database.write(Statement::new(undo).into()).await.unwrap();
            assert_eq!(store.verify_audit().await.unwrap().problem, None);
        }
    }
}

pub(crate) async fn many_uses_at_once_are_all_recorded(location: DatabaseLocation) {
    let vault = Vault::new(location);
    let store = vault.process().await;
    put(&store, "github", "value").await;
    let mut tasks = Vec::new();
    for _ in 0..2 {
        let process = vault.process().await;
        for _ in 0..10 {
            let process = process.clone();
            tasks.push(tokio::spawn(async move { get(&process, "github").await.unwrap() }));
        }
    }
    for task in tasks {
        assert_eq!(task.await.unwrap(), "value");
    }
    let verified = store.verify_audit().await.unwrap();
    assert_eq!((verified.records, verified.problem), (22, None));
}
