//! The files of the database: at a clean end, deleted under a server, and damaged.

use std::fs;

use lango_store::{Database, DatabaseLocation, Statement};
use serde_json::Value;

use crate::fixture::Lango;
use crate::server::{ECHO, Server};

/// Changes the database behind the program's back.
async fn change(lango: &Lango, statement: Statement) {
    let location = DatabaseLocation::Sqlite(lango.database_file());
    let database = Database::open(&location).await.unwrap();
    database.write(statement.into()).await.unwrap();
    database.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_and_a_server_leave_everything_in_one_file() {
    let lango = Lango::playing(&[ECHO]).await;
    let log = lango.home().join("lango.db-wal");
    let asked = lango.command(&["run", "hello"]).run().await;
    assert_eq!(asked.code, 0, "{asked:?}");
    assert!(!log.exists());
    let server = Server::start(&lango, &[]).await;
    assert_eq!(server.say("hello").await.status, 200);
    assert!(log.exists());
    let ended = server.stop().await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(!log.exists());
    // A copy of the one file is all there is.
    let copy = lango.path("copy");
    fs::create_dir(&copy).unwrap();
    fs::copy(lango.database_file(), copy.join("lango.db")).unwrap();
    let listed =
        lango.command(&["sessions", "list", "--json"]).set("LANGO_HOME", &copy).run().await;
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_database_is_deleted_acknowledges_nothing_and_says_why() {
    for name in ["lango.db", "lango.db-wal"] {
        let lango = Lango::playing(&[ECHO]).await;
        let server = Server::start(&lango, &[]).await;
        assert_eq!(server.say("before").await.status, 200);
        let health = server.owner("GET", "/health").send().await;
        assert_eq!(health.json()["ready"], true);
        fs::remove_file(lango.home().join(name)).unwrap();
        let answer = server.say("after").await;
        assert_eq!(answer.status, 503, "{answer:?}");
        let health = server.owner("GET", "/health").send().await;
        assert_eq!(health.status, 503);
        let health = health.json();
        assert_eq!((&health["ready"], &health["database"]), (&false.into(), &"unreachable".into()));
        assert!(health["reason"].as_str().unwrap().contains(name), "{health}");
        // Live in any case.
        assert_eq!(server.request("GET", "/health").send().await.status, 200);
        let log = fs::read_to_string(lango.home().join("logs/serve.log")).unwrap();
        let line = log.lines().find(|line| line.contains("the database failed")).unwrap();
        assert!(line.contains(" ERROR ") && line.contains("was deleted"), "{line}");
        let ended = server.stop().await;
        assert!(ended.stderr.contains("the database failed"), "{}", ended.stderr);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_database_is_found_and_repaired() {
    let lango = Lango::playing(&[ECHO]).await;
    for text in ["hello", "goodbye"] {
        assert_eq!(lango.command(&["run", text]).run().await.code, 0);
    }
    // Another text of the same length, as bytes that changed on the disk would be.
    let damage = "UPDATE events SET payload = replace(payload, 'hello', 'jelly') WHERE seq = 1";
    change(&lango, Statement::new(damage)).await;
    let doctor = lango.command(&["doctor", "--deep"]).run().await;
    assert_eq!(doctor.code, 1, "{}", doctor.stdout);
    for words in ["bad   storage", "not as it was written", "lango backup restore", "--repair"] {
        assert!(doctor.stdout.contains(words), "{words}: {}", doctor.stdout);
    }
    let repaired = lango.command(&["doctor", "--repair"]).run().await;
    assert_eq!(repaired.code, 0, "{repaired:?}");
    assert!(repaired.stdout.contains("are kept"), "{}", repaired.stdout);
    assert!(repaired.stdout.contains("event 1 was damaged"), "{}", repaired.stdout);
    // What is left can be used, and the check goes on to say what is missing.
    assert_eq!(lango.command(&["sessions", "list"]).run().await.code, 0);
    let doctor = lango.command(&["doctor", "--deep"]).run().await;
    assert!(doctor.stdout.contains("event 1 is missing"), "{}", doctor.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_log_is_told_by_every_command_until_it_is_accepted() {
    let lango = Lango::playing(&[ECHO]).await;
    let server = Server::start(&lango, &[]).await;
    assert_eq!(server.say("hello").await.status, 200);
    server.kill().await;
    fs::remove_file(lango.home().join("lango.db-wal")).unwrap();
    for arguments in [&["run", "hello"][..], &["sessions", "list"]] {
        let refused = lango.command(arguments).run().await;
        assert_ne!(refused.code, 0);
        assert!(refused.stderr.contains("lango doctor --repair"), "{}", refused.stderr);
    }
    let doctor = lango.command(&["doctor"]).run().await;
    assert!(doctor.stdout.contains("bad   database"), "{}", doctor.stdout);
    assert_eq!(lango.command(&["doctor", "--repair"]).run().await.code, 0);
    assert_eq!(lango.command(&["run", "hello"]).run().await.code, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_refuses_every_newer_part_of_the_schema_as_run_does() {
    let lango = Lango::playing(&[ECHO]).await;
    let server = Server::start(&lango, &[]).await;
    assert_eq!(server.stop().await.code, 0);
    let location = DatabaseLocation::Sqlite(lango.database_file());
    let database = Database::open(&location).await.unwrap();
    let rows = database.query(Statement::new("SELECT component FROM schema_versions")).await;
    let all: Vec<String> =
        rows.unwrap().iter().map(|row| row.text(0).unwrap().to_owned()).collect();
    database.close().await;
    assert!(all.len() >= 11, "{all:?}");
    for name in all {
        let sql = "UPDATE schema_versions SET version = version + $1 WHERE component = $2";
        let update = |by: i64| Statement::new(sql).bind(by).bind(name.as_str()).expect_rows(1);
        change(&lango, update(100)).await;
        let doctor = lango.command(&["doctor"]).run().await;
        assert!(doctor.stdout.contains("bad   database"), "{name}: {}", doctor.stdout);
        assert!(doctor.stdout.contains(&name), "{name}: {}", doctor.stdout);
        change(&lango, update(-100)).await;
    }
    let doctor = lango.command(&["doctor"]).run().await;
    assert!(doctor.stdout.contains("ok    database"), "{}", doctor.stdout);
}
