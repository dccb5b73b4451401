//! Tests the particularities of SQLite: files, locks and group commit.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use lango_store::{Batch, Database, DatabaseLocation, Durability, Journal, Statement, StoreError};

use crate::samples::{append, session, turn};

fn at(path: impl AsRef<Path>) -> DatabaseLocation {
    DatabaseLocation::Sqlite(path.as_ref().to_owned())
}

fn mode(path: impl AsRef<Path>) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn the_file_and_its_directory_are_private() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("new/home/lango.db");
    let journal = Journal::open(Database::open(&at(&path)).await.unwrap()).await.unwrap();
    journal.claim_session(&session("work"), "/w").await.unwrap();
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    for file in ["lango.db", "lango.db-wal", "lango.db-shm"] {
        assert_eq!(mode(path.with_file_name(file)), 0o600, "{file}");
    }
}

#[tokio::test]
async fn a_directory_that_cannot_be_written_is_named() {
    // Permissions do not stop root, but the kernel's own directories do.
    let private = tempfile::tempdir().unwrap();
    let path = if rustix::process::geteuid().is_root() {
        "/sys/lango.db".into()
    } else {
        fs::set_permissions(private.path(), fs::Permissions::from_mode(0o500)).unwrap();
        private.path().join("lango.db")
    };
    let error = Database::open(&at(&path)).await.err().unwrap();
    assert!(matches!(error, StoreError::Open { .. }), "{error}");
    let message = error.to_string();
    assert!(message.contains(path.to_str().unwrap()) && message.contains("LANGO_HOME"), "{error}");
}

#[tokio::test]
async fn a_parent_that_is_a_file_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Database::open(&at(file.join("lango.db"))).await.err().unwrap();
    assert!(matches!(error, StoreError::Open { .. }), "{error}");
}

#[tokio::test]
async fn a_file_that_is_no_database_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes.txt");
    let text = "These are my notes, and they are longer than the header of a database. ".repeat(20);
    fs::write(&path, &text).unwrap();
    let error = Database::open(&at(&path)).await.err().unwrap();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
    assert!(error.to_string().contains("notes.txt"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

/// Holds the write lock from another connection, as another process would.
fn lock(path: &Path) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    connection
}

#[tokio::test]
async fn a_locked_database_is_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lango.db");
    let journal = Journal::open(Database::open(&at(&path)).await.unwrap()).await.unwrap();
    let work = session("work");
    let claim = journal.claim_session(&work, "/w").await.unwrap();
    let holder = lock(&path);
    let start = Instant::now();
    let release = tokio::task::spawn_blocking(move || {
        std::thread::sleep(Duration::from_secs(2));
        drop(holder);
    });
    // Reading continues meanwhile.
    assert!(journal.find_session(&work).await.unwrap().is_some());
    assert!(start.elapsed() < Duration::from_secs(1));
    journal.append(&claim, append(turn(&work, 1, "a"))).await.unwrap();
    assert!(start.elapsed() >= Duration::from_secs(2));
    release.await.unwrap();
    assert_eq!(journal.read_events(&work, 0, 10).await.unwrap().len(), 3);
}

#[tokio::test]
async fn a_database_that_stays_locked_is_an_error_and_loses_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lango.db");
    let journal = Journal::open(Database::open(&at(&path)).await.unwrap()).await.unwrap();
    let work = session("work");
    let claim = journal.claim_session(&work, "/w").await.unwrap();
    let holder = lock(&path);
    let error = journal.append(&claim, append(turn(&work, 1, "a"))).await.unwrap_err();
    assert!(matches!(error, StoreError::Busy { .. }), "{error}");
    drop(holder);
    journal.append(&claim, append(turn(&work, 1, "a"))).await.unwrap();
}

/// Holds the lock of a database until it is killed. Run by the test below as a process of its own.
#[test]
#[ignore = "a process of another test"]
fn child_locks_the_database() {
    let _holder = lock(std::env::var_os("LANGO_STORE_TEST_LOCKED").unwrap().as_ref());
    println!("locked");
    std::thread::sleep(Duration::from_mins(5));
}

#[tokio::test]
async fn the_process_that_holds_the_lock_is_named() {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lango.db");
    let database = Database::open(&at(&path)).await.unwrap();
    let create = || Statement::new("CREATE TABLE t (k BIGINT PRIMARY KEY)");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "sqlite::child_locks_the_database", "--ignored", "--nocapture"])
        .env("LANGO_STORE_TEST_LOCKED", &path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("locked")));
    let error = database.write(create().into()).await.unwrap_err().to_string();
    let expected = format!("is locked by process {} (", child.id());
    assert!(error.contains(&expected), "{error}");
    child.kill().unwrap();
    child.wait().unwrap();
    database.write(create().into()).await.unwrap();
}

#[tokio::test]
async fn queued_batches_share_a_commit_and_fail_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lango.db");
    let database = Database::open(&at(&path)).await.unwrap();
    let create = Statement::new("CREATE TABLE t (k BIGINT PRIMARY KEY)");
    database.write(create.into()).await.unwrap();
    // While another connection holds the lock, everything below queues behind the first batch.
    let holder = lock(&path);
    let writes: Vec<_> = (0..300_i64)
        .map(|number| {
            let database = database.clone();
            let key = if number % 50 == 49 { number - 1 } else { number };
            let insert = |key: i64| Statement::new("INSERT INTO t VALUES ($1)").bind(key);
            let durability =
                if number == 100 { Durability::PowerLoss } else { Durability::ProcessCrash };
            let batch =
                Batch::new().with(insert(key + 1000)).with(insert(key)).durability(durability);
            tokio::spawn(async move { database.write(batch).await })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(100)).await;
    drop(holder);
    for (number, write) in writes.into_iter().enumerate() {
        let result = write.await.unwrap();
        let conflict = matches!(result, Err(StoreError::Conflict { .. }));
        assert_eq!(conflict, number % 50 == 49, "{number}: {result:?}");
    }
    let rows = database.query(Statement::new("SELECT COUNT(*) FROM t")).await.unwrap();
    assert_eq!(rows[0].integer(0).unwrap(), 2 * (300 - 6));
}

#[tokio::test]
async fn a_query_cannot_write() {
    let directory = tempfile::tempdir().unwrap();
    let database = Database::open(&at(directory.path().join("lango.db"))).await.unwrap();
    let error = database.query(Statement::new("CREATE TABLE t (k BIGINT)")).await.unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
}

#[tokio::test]
async fn a_query_of_many_steps_returns_every_row_and_leaves_the_writer_usable() {
    let directory = tempfile::tempdir().unwrap();
    let database = Database::open(&at(directory.path().join("lango.db"))).await.unwrap();
    let count = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1) \
                 SELECT i FROM n";
    for rows in [1, 100, 50_000] {
        let found = database.query(Statement::new(count).bind(rows)).await.unwrap();
        let numbers: Vec<i64> = found.iter().map(|row| row.integer(0).unwrap()).collect();
        assert_eq!(numbers, (1..=rows).collect::<Vec<_>>());
        let create = format!("CREATE TABLE t{rows} (k BIGINT)");
        database.write(Statement::new(create).into()).await.unwrap();
    }
}

#[tokio::test]
async fn the_threads_end_with_the_last_handle() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lango.db");
    let database = Database::open(&at(&path)).await.unwrap();
    database.query(Statement::new("SELECT 1")).await.unwrap();
    drop(database);
    // The last connection to close removes the log.
    for _ in 0..200 {
        if !path.with_file_name("lango.db-wal").exists() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the connections are still open");
}
