//! What README promises of the embedded model, from a fresh home and in this order.

use lango_protocol::CallStatus;

use super::{ask, calls};
use crate::fixture::Lango;

const README: &str = include_str!("../../../../../README.md");

/// The requests of its section.
fn requests() -> Vec<&'static str> {
    let section = README.split("\n## ").find(|part| part.starts_with("With the embedded model"));
    let lines = section.unwrap().lines();
    lines.filter_map(|line| line.strip_prefix("lango run \"")?.split('"').next()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_example_does_what_it_says() {
    let lango = Lango::silent().await;
    std::fs::write(lango.workspace().join("src/lamp.rs"), "// TODO: switch it on\n").unwrap();
    // Of each: what is called, and what the answer shows.
    let expected = [
        (vec!["fs_search"], "TODO: switch it on"),
        (vec!["memory_store"], "the server room key is with Anna"),
        (vec!["memory_search"], "the server room key is with Anna"),
        (vec!["fs_mkdir", "fs_list"], "`drafts/`"),
    ];
    let requests = requests();
    assert_eq!(requests.len(), expected.len(), "{requests:?}");
    for (request, (tools, shown)) in requests.into_iter().zip(expected) {
        let turn = ask(&lango, request).turn().await;
        let names: Vec<&str> = calls(&turn).iter().map(|(name, _)| *name).collect();
        assert_eq!((turn.code, &names), (0, &tools), "{request}: {}", turn.answer());
        assert_eq!(turn.results_with(CallStatus::Ok), tools.len(), "{:?}", turn.results());
        assert!(turn.answer().contains(shown), "{request}: {}", turn.answer());
    }
}
