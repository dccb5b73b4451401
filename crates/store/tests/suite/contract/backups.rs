//! Backups: whole, of one moment, and never over something that is there.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use lango_store::{
    BackupEngine, Batch, DatabaseLocation, SCHEMA_COMPONENTS, Statement, StoreError,
    restore_backup, verify_backup,
};

use crate::fixture::Fixture;
use crate::samples::{append, session, turn};

pub(crate) async fn a_backup_has_everything_and_is_restored(fixture: Fixture) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("lango.backup");
    let (journal, database) = fixture.both().await;
    let work = session("work");
    let claim = journal.claim_session(&work, "/w").await.unwrap();
    journal.append(&claim, append(turn(&work, 1, "tab\tnew\nline \\N"))).await.unwrap();
    let before = journal.read_events(&work, 0, 10).await.unwrap();

    let made = database.create_backup(&file, SCHEMA_COMPONENTS).await.unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(&file).unwrap().len(), made.bytes);
    assert_eq!(verify_backup(&file, SCHEMA_COMPONENTS).await.unwrap(), made);
    assert!(made.schema.contains_key("journal"));
    // An existing file is left alone.
    let again = database.create_backup(&file, SCHEMA_COMPONENTS).await.unwrap_err();
    assert!(matches!(again, StoreError::Backup { .. }), "{again}");
    let names: Vec<_> = fs::read_dir(directory.path()).unwrap().collect();
    assert_eq!(names.len(), 1, "{names:?}");

    // What came later is gone after the restore, and the old database is kept.
    journal.append(&claim, append(turn(&work, 4, "later"))).await.unwrap();
    database.close().await;
    let location = &*fixture.location;
    let refused = restore_backup(&file, location, SCHEMA_COMPONENTS, false).await.unwrap_err();
    assert!(matches!(refused, StoreError::NotEmpty { .. }), "{refused}");
    assert!(refused.to_string().contains("--force"));
    let restored = restore_backup(&file, location, SCHEMA_COMPONENTS, true).await.unwrap();
    assert_eq!(restored.backup, made);
    let kept = restored.kept.unwrap();
    let (journal, database) = fixture.both().await;
    assert_eq!(journal.read_events(&work, 0, 10).await.unwrap(), before);
    match made.engine {
        BackupEngine::Sqlite => assert!(fs::metadata(kept).unwrap().len() > 0),
        BackupEngine::Postgres => {
            let count = Statement::new(format!("SELECT COUNT(*) FROM {kept}.events"));
            assert_eq!(database.query(count).await.unwrap()[0].integer(0).unwrap(), 6);
        }
    }
    // It can be written as before.
    let claim = journal.claim_session(&session("new"), "/w").await.unwrap();
    journal.append(&claim, append(turn(&session("new"), 1, "a"))).await.unwrap();
}

pub(crate) async fn a_damaged_or_newer_backup_is_refused(fixture: Fixture) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("lango.backup");
    let (_, database) = fixture.both().await;
    database.create_backup(&file, SCHEMA_COMPONENTS).await.unwrap();
    let whole = fs::read(&file).unwrap();
    let place = directory.path().join("other.backup");
    for position in [0, 20, whole.len() / 2, whole.len() - 1] {
        let mut content = whole.clone();
        content[position] ^= 1;
        fs::write(&place, content).unwrap();
        let error = verify_backup(&place, SCHEMA_COMPONENTS).await.unwrap_err();
        assert!(matches!(error, StoreError::Backup { .. }), "{position}: {error}");
    }
    fs::write(&place, &whole[..whole.len() / 2]).unwrap();
    assert!(verify_backup(&place, SCHEMA_COMPONENTS).await.is_err());
    let error = verify_backup(&file, &[]).await.unwrap_err();
    assert!(matches!(error, StoreError::NewerSchema { .. }), "{error}");
    // Another engine's backup changes nothing.
    let other = match &*fixture.location {
        DatabaseLocation::Sqlite(_) => "postgres://none@127.0.0.1:1/none".parse().unwrap(),
        DatabaseLocation::Postgres(_) => {
            DatabaseLocation::Sqlite(directory.path().join("lango.db"))
        }
    };
    let error = restore_backup(&file, &other, SCHEMA_COMPONENTS, true).await.unwrap_err();
    assert!(matches!(error, StoreError::Backup { .. }), "{error}");
    assert!(!directory.path().join("lango.db").exists());
}

pub(crate) async fn a_backup_is_of_one_moment_while_others_write(fixture: Fixture) {
    let directory = tempfile::tempdir().unwrap();
    let database = fixture.both().await.1;
    // Both rows of a pair are written together, by a component that the backup knows.
    let insert = |name: &str, number: i64| {
        Statement::new("INSERT INTO outputs (session, reference, text) VALUES ($1, $2, $3)")
            .bind(name)
            .bind(number.to_string())
            .bind(vec![b'x'; 3000])
    };
    let writer = database.clone();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let task = tokio::spawn(async move {
        let mut stopped = stopped;
        let mut number = 0;
        while stopped.try_recv().is_err() {
            let batch = Batch::new().with(insert("a", number)).with(insert("b", number));
            writer.write(batch).await.unwrap();
            number += 1;
        }
        number
    });
    let file = directory.path().join("lango.backup");
    loop {
        let count = Statement::new("SELECT COUNT(*) FROM outputs");
        if database.query(count).await.unwrap()[0].integer(0).unwrap() >= 100 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    database.create_backup(&file, SCHEMA_COMPONENTS).await.unwrap();
    stop.send(()).unwrap();
    let written = task.await.unwrap();
    database.close().await;
    restore_backup(&file, &fixture.location, SCHEMA_COMPONENTS, true).await.unwrap();
    let database = fixture.database().await;
    let counts = "SELECT session, COUNT(*) FROM outputs GROUP BY session ORDER BY session";
    let rows = database.query(Statement::new(counts)).await.unwrap();
    let counts: Vec<i64> = rows.iter().map(|row| row.integer(1).unwrap()).collect();
    assert_eq!(counts.len(), 2);
    assert_eq!(counts[0], counts[1]);
    assert!((50..=written).contains(&counts[0]), "{counts:?} of {written}");
}
