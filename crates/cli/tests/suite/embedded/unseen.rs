//! Tools that the training never saw, as real MCP servers declare them.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{ask, calls};
use crate::fixture::Lango;
use crate::journal::Turn;
use crate::mcp::peer::{configure, on_node, program, python_program};

/// Requests as people would say them, written without the tools' own words at hand.
const REQUESTS: &str = include_str!("unseen.jsonl");

#[derive(Deserialize)]
struct Labelled {
    server: String,
    tool: String,
    text: String,
}

/// What became of a request.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reached {
    /// The tool was called.
    Called,
    /// It was chosen, and lacks an argument that was asked for.
    Chosen,
    /// It is one of the two that were asked about.
    Offered,
    Missed,
}

fn reached(turn: &Turn, tool: &str) -> Reached {
    match calls(turn).as_slice() {
        [(name, _)] if *name == tool => return Reached::Called,
        [] => {}
        _ => return Reached::Missed,
    }
    let asks = turn.status() == "needs_input";
    if asks && turn.answer().starts_with(&format!("For `{tool}` I need its")) {
        return Reached::Chosen;
    }
    let offered = asks && turn.answer().contains(&format!("`{tool}`"));
    if offered { Reached::Offered } else { Reached::Missed }
}

fn configuration(server: &str) -> String {
    match server {
        "everything" => on_node("everything", "mcp-server-everything", &[], ""),
        "memory" => on_node("memory", "mcp-server-memory", &[], ""),
        python => program(python, &[&python_program(&format!("mcp-server-{python}"))], ""),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn most_requests_reach_tools_that_it_was_not_trained_on() {
    let requests: Vec<Labelled> =
        REQUESTS.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut servers: BTreeMap<&str, Vec<&Labelled>> = BTreeMap::new();
    for request in &requests {
        servers.entry(&request.server).or_default().push(request);
    }
    let mut counts: BTreeMap<Reached, usize> = BTreeMap::new();
    for (server, requests) in servers {
        let lango = Lango::silent().await;
        configure(&lango, &configuration(server));
        for Labelled { tool, text, .. } in requests {
            // No approval is given, so nothing runs: the choice is what counts here.
            let turn = ask(&lango, text).turn().await;
            let found = reached(&turn, &format!("mcp_{server}_{tool}"));
            if found > Reached::Chosen {
                println!(
                    "{found:?} {server}/{tool}: {text}\n    {:?} {}",
                    calls(&turn),
                    turn.answer()
                );
            }
            *counts.entry(found).or_default() += 1;
        }
    }
    println!("{counts:?} of {}", requests.len());
    let count = |reached| counts.get(&reached).copied().unwrap_or_default();
    let right = count(Reached::Called) + count(Reached::Chosen);
    assert!(requests.len() >= 40);
    assert!(right * 10 >= requests.len() * 7, "{right} of {}", requests.len());
}
