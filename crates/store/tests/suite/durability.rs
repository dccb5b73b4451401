//! Tests what happens to the files of SQLite: a log that was cut or lost, processes that are killed,
//! files that are deleted under an open database, and the size of the log.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use lango_store::{
    Batch, Database, DatabaseLocation, Durability, Statement, StoreError, repair_database,
};

const DATABASE_VARIABLE: &str = "LANGO_STORE_TEST_DATABASE";
const WRITER_VARIABLE: &str = "LANGO_STORE_TEST_WRITER";

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

async fn open(path: &Path) -> Result<Database, StoreError> {
    let database = Database::open(&DatabaseLocation::Sqlite(path.to_owned())).await?;
    let create = "CREATE TABLE IF NOT EXISTS t (writer TEXT, n BIGINT, PRIMARY KEY (writer, n))";
    database
        .write(Batch::from(Statement::new(create)).durability(Durability::ProcessCrash))
        .await?;
    Ok(database)
}

fn insert(writer: &str, number: i64) -> Batch {
    Statement::new("INSERT INTO t VALUES ($1, $2)").bind(writer).bind(number).into()
}

async fn count(database: &Database) -> i64 {
    let rows = database.query(Statement::new("SELECT COUNT(*) FROM t")).await.unwrap();
    rows[0].integer(0).unwrap()
}

/// A name, and what is done to the log.
type Damage = (&'static str, fn(&Path));

/// Copies the files of a database as they are, as a crash would leave them.
fn copy_files(from: &Path, to: &Path) {
    for suffix in ["", "-wal", "-state"] {
        fs::copy(beside(from, suffix), beside(to, suffix)).unwrap();
    }
}

#[tokio::test]
async fn a_log_that_was_cut_damaged_or_deleted_is_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lango.db");
    let database = open(&path).await.unwrap();
    for number in 0..12 {
        database.write(insert("a", number)).await.unwrap();
    }
    let damages: [Damage; 4] = [
        ("whole", |_| {}),
        ("cut", |log| {
            let file = fs::OpenOptions::new().write(true).open(log).unwrap();
            file.set_len(fs::metadata(log).unwrap().len() / 2).unwrap();
        }),
        ("damaged", |log| {
            let mut content = fs::read(log).unwrap();
            let middle = content.len() / 2;
            content[middle..middle + 100].fill(0xff);
            fs::write(log, content).unwrap();
        }),
        ("deleted", |log| fs::remove_file(log).unwrap()),
    ];
    for (name, damage) in damages {
        let copy = directory.path().join(format!("{name}.db"));
        copy_files(&path, &copy);
        damage(&beside(&copy, "-wal"));
        let log = fs::read(beside(&copy, "-wal")).ok();
        let opened = Database::open(&DatabaseLocation::Sqlite(copy.clone())).await;
        if name == "whole" {
            assert_eq!(count(&opened.unwrap()).await, 12);
            continue;
        }
        let error = opened.err().unwrap();
        assert!(matches!(error, StoreError::Lost { .. }), "{name}: {error}");
        let message = error.to_string();
        assert!(message.contains("lango backup restore"), "{message}");
        // What is left is not touched.
        let left = fs::read(beside(&copy, "-wal")).ok();
        assert_eq!(left.filter(|left| !left.is_empty()), log, "{name}");
    }
}

#[tokio::test]
async fn a_database_that_is_gone_is_not_started_anew() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lango.db");
    let database = open(&path).await.unwrap();
    database.write(insert("a", 1)).await.unwrap();
    database.close().await;
    fs::remove_file(&path).unwrap();
    let error = open(&path).await.err().unwrap();
    assert!(matches!(error, StoreError::Lost { .. }), "{error}");
    assert!(!path.exists());
    // Without its record it is a new database.
    fs::remove_file(beside(&path, "-state")).unwrap();
    assert_eq!(count(&open(&path).await.unwrap()).await, 0);
}

#[tokio::test]
async fn a_file_that_is_deleted_or_replaced_is_noticed_before_the_next_acknowledgement() {
    for suffix in ["", "-wal"] {
        for replaced in [false, true] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("lango.db");
            let database = open(&path).await.unwrap();
            database.write(insert("a", 1)).await.unwrap();
            let limit = Duration::from_secs(5);
            database.check_reachable(limit).await.unwrap();
            let victim = beside(&path, suffix);
            let content = fs::read(&victim).unwrap();
            fs::rename(&victim, directory.path().join("moved")).unwrap();
            if replaced {
                fs::write(&victim, &content).unwrap();
            }
            let error = database.write(insert("a", 2)).await.unwrap_err();
            assert!(matches!(error, StoreError::Replaced { .. }), "{suffix}: {error}");
            assert!(error.to_string().contains(victim.to_str().unwrap()), "{error}");
            assert!(database.check_reachable(limit).await.is_err());
            // The files that have the names now belong to another database.
            database.close().await;
            assert_eq!(fs::read(&victim).ok(), replaced.then_some(content));
        }
    }
}

#[tokio::test]
async fn at_a_clean_end_everything_is_in_the_database_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lango.db");
    let idle = open(&path).await.unwrap();
    let database = open(&path).await.unwrap();
    for number in 0..20 {
        database.write(insert("a", number)).await.unwrap();
    }
    database.close().await;
    // Another process has it open, so the log stays; a copy of the file alone has everything.
    let copy = directory.path().join("copy.db");
    fs::copy(&path, &copy).unwrap();
    assert_eq!(count(&open(&copy).await.unwrap()).await, 20);
    idle.close().await;
    assert!(!beside(&path, "-wal").exists());
}

#[tokio::test]
async fn the_log_stays_small_while_processes_write() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lango.db");
    let _idle = open(&path).await.unwrap();
    let database = open(&path).await.unwrap();
    let create = "CREATE TABLE large (n BIGINT PRIMARY KEY, content TEXT)";
    database.write(Statement::new(create).into()).await.unwrap();
    let content = "x".repeat(20_000);
    let mut largest = 0;
    for number in 0..2_000_i64 {
        let insert = Statement::new("INSERT INTO large VALUES ($1, $2)");
        let batch = Batch::from(insert.bind(number).bind(content.as_str()));
        database.write(batch.durability(Durability::ProcessCrash)).await.unwrap();
        largest = largest.max(fs::metadata(beside(&path, "-wal")).unwrap().len());
    }
    assert!(largest < 10 * 1024 * 1024, "{largest} bytes");
}

/// Returns how often a log was written from its beginning.
fn count_restarts(log: &Path) -> u32 {
    let header = fs::read(log).unwrap();
    u32::from_be_bytes(header[12..16].try_into().unwrap())
}

#[tokio::test]
async fn the_log_is_moved_only_when_it_was_filled() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lango.db");
    let database = open(&path).await.unwrap();
    let log = beside(&path, "-wal");
    let write = async |number| {
        let batch = insert("a", number).durability(Durability::ProcessCrash);
        database.write(batch).await.unwrap();
    };
    let mut number = 0;
    while count_restarts(&log) == 0 {
        write(number).await;
        number += 1;
    }
    // A commit writes one or two pages of 4 KB, so that these are 4 MB at most.
    for more in 0..500 {
        write(number + more).await;
    }
    assert!(count_restarts(&log) <= 2, "{}", count_restarts(&log));
}

/// Writes until it is killed, and says what is acknowledged. Run by the test below as a process of
/// its own.
#[tokio::test]
#[ignore = "a process of another test"]
async fn child_writes_until_it_is_killed() {
    let path = PathBuf::from(std::env::var_os(DATABASE_VARIABLE).unwrap());
    let writer = std::env::var(WRITER_VARIABLE).unwrap();
    let database = open(&path).await.unwrap();
    println!("acknowledged none");
    for number in 0.. {
        database.write(insert(&writer, number)).await.unwrap();
        println!("acknowledged {number}");
        if number % 40 == 39 {
            database.erase_traces(&[]).await.ok();
        }
    }
}

fn start_child(path: &Path, writer: &str) -> (Child, mpsc::Receiver<i64>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "durability::child_writes_until_it_is_killed",
            "--ignored",
            "--nocapture",
        ])
        .env(DATABASE_VARIABLE, path)
        .env(WRITER_VARIABLE, writer)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            if let Some((_, number)) = line.split_once("acknowledged ") {
                let _ = sender.send(number.parse().unwrap_or(-1));
            }
        }
    });
    (child, receiver)
}

#[tokio::test(flavor = "multi_thread")]
async fn kills_at_any_point_lose_nothing_and_raise_no_alarm() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lango.db");
    let mut expected = 0;
    for round in 0..25_u64 {
        let children = [0, 1].map(|number| start_child(&path, &format!("{round}-{number}")));
        for (_, acknowledged) in &children {
            // The first line comes when the database is open.
            acknowledged.recv_timeout(Duration::from_mins(1)).unwrap();
        }
        std::thread::sleep(Duration::from_micros(round * 7919 % 60_000));
        for (mut child, acknowledged) in children {
            child.kill().unwrap();
            child.wait().unwrap();
            expected += i64::try_from(acknowledged.iter().count()).unwrap();
        }
        let database = open(&path).await.unwrap_or_else(|error| panic!("round {round}: {error}"));
        let found = count(&database).await;
        assert!(found >= expected, "round {round}: {found} of {expected}");
        expected = found;
        if round % 3 == 0 {
            database.close().await;
        }
    }
}

#[tokio::test]
async fn after_a_repair_a_database_with_a_lost_log_is_used_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lango.db");
    let database = open(&path).await.unwrap();
    database.write(insert("a", 1)).await.unwrap();
    database.erase_traces(&[]).await.unwrap();
    database.write(insert("a", 2)).await.unwrap();
    let copy = directory.path().join("copy.db");
    copy_files(&path, &copy);
    fs::remove_file(beside(&copy, "-wal")).unwrap();
    let error = open(&copy).await.err().unwrap();
    assert!(error.to_string().contains("lango doctor --repair"), "{error}");
    let report = repair_database(&DatabaseLocation::Sqlite(copy.clone())).await.unwrap();
    assert!(Path::new(&report.kept.unwrap()).exists());
    assert_eq!(count(&open(&copy).await.unwrap()).await, 1);
}

#[tokio::test]
async fn a_database_that_is_in_use_is_not_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lango.db");
    let database = open(&path).await.unwrap();
    database.write(insert("a", 1)).await.unwrap();
    let location = DatabaseLocation::Sqlite(path.clone());
    let error = repair_database(&location).await.unwrap_err();
    assert!(matches!(error, StoreError::InUse { .. }), "{error}");
    database.write(insert("a", 2)).await.unwrap();
    database.close().await;
    repair_database(&location).await.unwrap();
    assert_eq!(count(&open(&path).await.unwrap()).await, 2);
}
