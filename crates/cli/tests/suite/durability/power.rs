//! A loss of power: only what was synced is there afterwards.

use std::path::PathBuf;
use std::process::Command;

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::fixture::Lango;
use crate::server::{ECHO, Server, user};

const SHIM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/lose_unsynced.c");

/// Builds the library that keeps what was synced.
fn build_shim(lango: &Lango) -> PathBuf {
    let library = lango.path("lose_unsynced.so");
    let arguments = ["-shared", "-fPIC", "-O1", "-o", library.to_str().unwrap(), SHIM, "-ldl"];
    let built = Command::new("cc").args(arguments).status().unwrap();
    assert!(built.success());
    library
}

/// Runs a server, sends messages, and cuts the power. Returns how many messages were acknowledged,
/// and how many are in the journal afterwards, with their answers.
async fn lose_power(durability: &str, messages: usize) -> (usize, usize) {
    let lango = Lango::playing(&[ECHO]).await;
    let (library, survivors) = (build_shim(&lango), lango.path("survivors"));
    std::fs::create_dir(&survivors).unwrap();
    let invocation = lango
        .command(&["serve", "--port", "0"])
        .set("LD_PRELOAD", &library)
        .set("LOSE_DIRECTORY", lango.home().canonicalize().unwrap())
        .set("LOSE_SURVIVORS", &survivors)
        .set("LANGO_STORE_DURABILITY", durability);
    let server = Server::started(invocation).await;
    let mut answered = 0;
    // Some of them at once, so that they share their commits.
    for round in 0..messages / 4 {
        let asked = (0..4).map(|number| {
            let body =
                json!({ "model": "lango", "messages": [user(&format!("{round} {number}"))] });
            server.owner("POST", "/v1/chat/completions").json(&body).send()
        });
        answered += join_all(asked).await.iter().filter(|answer| answer.status == 200).count();
    }
    server.kill().await;
    for name in ["lango.db", "lango.db-wal", "lango.db-shm", "lango.db-state"] {
        let file = lango.home().join(name);
        let _ = std::fs::remove_file(&file);
        let survivor = survivors.join(name);
        if survivor.exists() {
            std::fs::copy(survivor, file).unwrap();
        }
    }
    let listed = lango.command(&["sessions", "list", "--limit", "100", "--json"]).run().await;
    assert_eq!(listed.code, 0, "{listed:?}");
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let mut found = 0;
    for session in listed.as_array().unwrap() {
        let id = session["id"].as_str().unwrap();
        let export = lango.command(&["sessions", "export", id]).run().await;
        found += export.stdout.lines().filter(|line| line.contains("turn_finished")).count();
    }
    let doctor = lango.command(&["doctor", "--deep"]).run().await;
    assert!(doctor.stdout.contains("ok    storage"), "{}", doctor.stdout);
    (answered, found)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answered_turn_survives_a_loss_of_power() {
    let (answered, found) = lose_power("full", 24).await;
    assert_eq!((answered, found), (24, 24));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_need_not_survive_is_lost_in_this_test() {
    // Otherwise the test above could not fail.
    let (answered, found) = lose_power("normal", 12).await;
    assert_eq!(answered, 12);
    assert!(found < 12, "{found}");
}
