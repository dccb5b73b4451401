//! `lango backup`.

use std::fs;

use serde_json::Value;

use crate::fixture::{Lango, text_of};
use crate::server::{ECHO, Server};

async fn count_sessions(lango: &Lango) -> usize {
    let listed = lango.command(&["sessions", "list", "--json"]).run().await;
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    listed.as_array().unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_of_a_running_server_is_verified_and_restored() {
    let lango = Lango::playing(&[ECHO]).await;
    let server = Server::start(&lango, &[]).await;
    assert_eq!(server.say("hello").await.status, 200);
    let file = text_of(&lango.path("one.backup"));
    let made = lango.command(&["backup", "create", &file]).run().await;
    assert_eq!(made.code, 0, "{made:?}");
    let verified = lango.command(&["backup", "verify", &file, "--json"]).run().await;
    let verified: Value = serde_json::from_str(&verified.stdout).unwrap();
    assert_eq!(verified["engine"], "sqlite");
    assert!(verified["schema"]["journal"].is_number(), "{verified}");
    assert_eq!(server.say("later").await.status, 200);
    // Not while a server uses it, and not over a database by accident.
    let refused = lango.command(&["backup", "restore", &file]).run().await;
    assert!(refused.stderr.contains("--force"), "{}", refused.stderr);
    let refused = lango.command(&["backup", "restore", &file, "--force"]).run().await;
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("lango serve"), "{}", refused.stderr);
    assert_eq!(server.say("still").await.status, 200);
    assert_eq!(server.stop().await.code, 0);
    assert_eq!(count_sessions(&lango).await, 3);
    let restored = lango.command(&["backup", "restore", &file, "--force"]).run().await;
    assert_eq!(restored.code, 0, "{restored:?}");
    assert_eq!(count_sessions(&lango).await, 1);
    let kept = restored.stdout.lines().find_map(|line| line.split_once("is kept: ")).unwrap().1;
    assert!(fs::metadata(kept).unwrap().len() > 0);
    assert_eq!(lango.command(&["run", "hello"]).run().await.code, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_without_a_name_is_beside_the_database_and_a_damaged_one_is_refused() {
    let lango = Lango::playing(&[ECHO]).await;
    assert_eq!(lango.command(&["run", "hello"]).run().await.code, 0);
    let files = || async {
        let made = lango.command(&["backup", "create", "--json"]).run().await;
        let made: Value = serde_json::from_str(&made.stdout).unwrap();
        made["file"].as_str().unwrap().to_owned()
    };
    let (first, second) = (files().await, files().await);
    assert_ne!(first, second);
    let mut content = fs::read(&first).unwrap();
    let middle = content.len() / 2;
    content[middle] ^= 1;
    fs::write(&first, content).unwrap();
    for arguments in [&["backup", "verify", &first][..], &["backup", "restore", &first, "--force"]]
    {
        let refused = lango.command(arguments).run().await;
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.stderr.contains("digest"), "{}", refused.stderr);
    }
    assert_eq!(count_sessions(&lango).await, 1);
}
