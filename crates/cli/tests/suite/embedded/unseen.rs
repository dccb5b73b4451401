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
struct LabelledRequest {
    server: String,
    tool: String,
    text: String,
}

/// What became of a request.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ChoiceOutcome {
    /// The tool was called.
    Called,
    /// It was chosen, and lacks an argument that was asked for.
    Chosen,
    /// It is one of the two that were asked about.
    Offered,
    Missed,
}

fn reached(turn: &Turn, tool: &str) -> ChoiceOutcome {
    match calls(turn).as_slice() {
        [(name, _)] if *name == tool => return ChoiceOutcome::Called,
        [] => {}
        _ => return ChoiceOutcome::Missed,
    }
    let asks = turn.status() == "needs_input";
    // A question names no tool: one for a value was asked by the tool that was chosen.
    match turn.answer() {
        answer if asks && answer.starts_with("Do you mean") => ChoiceOutcome::Offered,
        answer if asks && (answer.starts_with("What is the") || answer.starts_with("Which ")) => {
            ChoiceOutcome::Chosen
        }
        _ => ChoiceOutcome::Missed,
    }
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
    let requests: Vec<LabelledRequest> =
        REQUESTS.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut servers: BTreeMap<&str, Vec<&LabelledRequest>> = BTreeMap::new();
    for request in &requests {
        servers.entry(&request.server).or_default().push(request);
    }
    let mut counts: BTreeMap<ChoiceOutcome, usize> = BTreeMap::new();
    for (server, requests) in servers {
        let lango = Lango::silent().await;
        configure(&lango, &configuration(server));
        for LabelledRequest { tool, text, .. } in requests {
            // No approval is given, so nothing runs: the choice is what counts here.
            let turn = ask(&lango, text).turn().await;
            let found = reached(&turn, &format!("mcp_{server}_{tool}"));
            if found > ChoiceOutcome::Chosen {
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
    let right = count(ChoiceOutcome::Called) + count(ChoiceOutcome::Chosen);
    assert!(requests.len() >= 40);
    assert!(right * 10 >= requests.len() * 7, "{right} of {}", requests.len());
}
