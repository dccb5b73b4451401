//! What it does by itself.

use lango_protocol::CallStatus;
use serde_json::json;

use super::{ask, ask_in, calls, deciders};
use crate::approvals::question;
use crate::fixture::Lango;
use crate::site::{Site, page};

#[tokio::test(flavor = "multi_thread")]
async fn files_are_listed_and_it_says_which_model_answers() {
    let lango = Lango::silent().await;
    let turn = ask(&lango, "list the files here").turn().await;
    assert_eq!((turn.code, turn.status().as_str(), turn.author()), (0, "done", "operator"));
    assert_eq!((turn.transfers(), deciders(&turn)), (vec!["operator"], vec!["embedded"]));
    let names: Vec<&str> = calls(&turn).iter().map(|(name, _)| *name).collect();
    assert_eq!((names, turn.results_with(CallStatus::Ok)), (vec!["fs_list"], 1));
    let answer = turn.answer();
    assert!(answer.starts_with("2 entries in the workspace:"), "{answer}");
    assert!(answer.contains("`README.md`") && answer.contains("`src/`"), "{answer}");
    // To a person it says so in one line, and what to do about it.
    let shown = lango.bare(&["run", "list the files here"]).run().await;
    assert!(shown.stderr.contains("the small embedded model"), "{shown:?}");
    assert!(shown.stdout.contains("README.md"), "{shown:?}");
    assert!(lango.received().is_empty(), "no other model was asked");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_read_to_the_letter() {
    let lango = Lango::silent().await;
    let turn = ask(&lango, "show me what's in src/main.rs").turn().await;
    assert_eq!((turn.code, turn.author()), (0, "operator"));
    assert_eq!(calls(&turn), [("fs_read", json!({ "path": "src/main.rs" }))]);
    assert!(turn.answer().contains("fn main() {}"), "{}", turn.answer());
    assert_eq!(turn.outcome().work.spent.tool_calls, 1);
    // What is not there is not made up.
    let turn = ask(&lango, "read nothing-here.txt").turn().await;
    assert_eq!((turn.status().as_str(), calls(&turn).len()), ("needs_input", 0));
    assert!(turn.answer().contains("nothing-here.txt"), "{}", turn.answer());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_runs_only_after_a_yes() {
    let lango = Lango::silent().await;
    let request = "run `echo from-the-shell | tee made`";
    let made = lango.workspace().join("made");
    let turn = ask(&lango, request).turn().await;
    let call = ("exec_shell", json!({ "command": "echo from-the-shell | tee made" }));
    assert_eq!(calls(&turn), std::slice::from_ref(&call));
    assert_eq!((turn.code, turn.results_with(CallStatus::Denied)), (3, 1));
    assert_eq!((turn.count("tool_started"), made.exists()), (0, false));
    assert!(turn.answer().contains("was not done: not approved"), "{}", turn.answer());

    let running = ask(&lango, request).with(&["--approve", "wait"]).start();
    let id = question(&lango).await;
    assert!(!made.exists());
    let answered = lango.bare(&["approvals", "approve", &id]).run().await;
    assert_eq!(answered.code, 0, "{answered:?}");
    let turn = running.turn().await;
    assert_eq!((turn.code, turn.results_with(CallStatus::Ok)), (0, 1), "{:?}", turn.results());
    assert_eq!(calls(&turn), [call]);
    assert_eq!(std::fs::read_to_string(made).unwrap(), "from-the-shell\n");
    assert!(turn.answer().contains("```\nfrom-the-shell\n```"), "{}", turn.answer());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_command_is_told_as_one() {
    let lango = Lango::silent().await;
    let turn = ask(&lango, "run `ls no-such-directory`").with(&["--approve", "all"]).turn().await;
    assert_eq!(calls(&turn), [("exec_shell", json!({ "command": "ls no-such-directory" }))]);
    let answer = turn.answer();
    assert!(answer.contains("exit code 2") && answer.contains("No such file"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_that_was_ingested_is_found() {
    let lango = Lango::silent().await;
    let document = "# Lighthouse\n\nThe lamp of the lighthouse burns whale oil until sunrise.\n\n\
                    # Harbour\n\nThe harbour master rings a bell at noon.\n";
    std::fs::write(lango.workspace().join("handbook.md"), document).unwrap();
    let ingested = lango.bare(&["ingest", "handbook.md"]).run().await;
    assert_eq!(ingested.code, 0, "{ingested:?}");
    let request = "what do my documents say about the lamp of the lighthouse?";
    let turn = ask(&lango, request).turn().await;
    assert_eq!((turn.code, turn.transfers()), (0, vec!["librarian"]), "{}", turn.answer());
    let calls = calls(&turn);
    let [("rag_retrieve", arguments)] = calls.as_slice() else { panic!("{calls:?}") };
    let query = arguments["query"].as_str().unwrap();
    assert!(request.contains(query) && query.contains("lamp"), "{query}");
    let answer = turn.answer();
    assert!(answer.contains("burns whale oil until sunrise"), "{answer}");
    assert!(answer.contains("handbook.md"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fact_is_remembered_in_another_conversation() {
    let lango = Lango::silent().await;
    let turn = ask_in(&lango, "monday", "remember that my dentist is Dr Weber").turn().await;
    assert_eq!((turn.code, turn.transfers()), (0, vec!["chronicler"]));
    assert_eq!((calls(&turn)[0].0, turn.results_with(CallStatus::Ok)), ("memory_store", 1));
    assert_eq!(calls(&turn)[0].1["content"], "my dentist is Dr Weber");
    let kept = lango.bare(&["memory", "list", "--json"]).run().await;
    assert!(kept.stdout.contains("my dentist is Dr Weber"), "{kept:?}");

    let turn = ask_in(&lango, "tuesday", "do you remember who my dentist is?").turn().await;
    let calls = calls(&turn);
    assert_eq!((calls.len(), calls[0].0), (1, "memory_search"));
    assert!(turn.answer().contains("my dentist is Dr Weber"), "{}", turn.answer());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_opened_and_its_text_is_the_answer() {
    let shop = "<title>The Tea Shop</title><main><h1>Teapot</h1><p>Price: 42.50 €</p></main>";
    let site = Site::with(vec![("/teapot", page(shop))]).await;
    let lango = Lango::silent().await;
    let url = site.url("/teapot");
    let request = format!("open {url}");
    let invocation = || ask(&lango, &request).set("LANGO_EGRESS_ALLOW", site.allowed());
    let turn = invocation().turn().await;
    assert_eq!(calls(&turn), [("browser_navigate", json!({ "url": url }))]);
    assert_eq!((turn.code, turn.results_with(CallStatus::Denied)), (3, 1));
    assert_eq!(site.connections(), 0, "no approval was given");
    let turn = invocation().with(&["--approve", "all"]).turn().await;
    assert_eq!((turn.code, turn.author()), (0, "navigator"), "{:?}", turn.results());
    assert_eq!(calls(&turn), [("browser_navigate", json!({ "url": url }))]);
    assert_eq!(site.requests()[0], "/teapot");
    let answer = turn.answer();
    assert!(answer.contains("The Tea Shop") && answer.contains("Teapot"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_are_taken_in_their_order_and_both_results_are_told() {
    let lango = Lango::silent().await;
    std::fs::write(lango.workspace().join("notes.txt"), "Tuesday at nine.\n").unwrap();
    let turn = ask(&lango, "list the files and then read notes.txt").turn().await;
    assert_eq!((turn.code, turn.status().as_str()), (0, "done"), "{}", turn.answer());
    let names: Vec<&str> = calls(&turn).iter().map(|(name, _)| *name).collect();
    assert_eq!((names, turn.results_with(CallStatus::Ok)), (vec!["fs_list", "fs_read"], 2));
    assert_eq!(turn.transfers(), ["operator"]);
    let answer = turn.answer();
    let (listed, read) = (answer.find("README.md"), answer.find("Tuesday at nine."));
    assert!(listed.is_some() && listed < read, "{answer}");
    assert_eq!(turn.author(), "operator");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_steps_is_worked_off() {
    let lango = Lango::silent().await;
    let request = "Do this:\n1. read \"README.md\"\n2. list the files in src";
    let turn = ask(&lango, request).turn().await;
    let names: Vec<&str> = calls(&turn).iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["fs_read", "fs_list"], "{}", turn.answer());
    assert!(turn.answer().contains("Three lines."), "{}", turn.answer());
    assert!(turn.answer().contains("main.rs"), "{}", turn.answer());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_did_not_work_stops_those_after_it() {
    let lango = Lango::silent().await;
    let turn = ask(&lango, "run `echo hi > made` and then delete README.md").turn().await;
    let names: Vec<&str> = calls(&turn).iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["exec_shell"], "{}", turn.answer());
    for words in ["was not done", "delete README.md"] {
        assert!(turn.answer().contains(words), "{}", turn.answer());
    }
    // What is not clear is asked before the first step.
    let turn = ask(&lango, "read nothing-here.txt and then delete README.md").turn().await;
    assert_eq!((turn.status().as_str(), calls(&turn).len()), ("needs_input", 0));
    assert!(!lango.workspace().join("made").exists());
    assert!(lango.workspace().join("README.md").exists());
}
