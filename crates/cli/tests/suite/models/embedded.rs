//! The model in the box, as commands show it.

use serde_json::Value;

use crate::fixture::Lango;

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect(text)
}

#[tokio::test(flavor = "multi_thread")]
async fn with_nothing_set_up_it_answers_and_says_so() {
    let lango = Lango::silent().await;
    let run = lango.bare(&["run", "hello"]).run().await;
    assert_eq!(run.code, 0, "{run:?}");
    assert!(!run.stdout.trim().is_empty());
    let first = run.stderr.lines().next().unwrap();
    assert!(first.starts_with("embedded (the small model in the box"), "{first}");
    assert!(first.contains("lango models --help"), "{first}");
    let chat = lango.bare(&["chat"]).input("hello\n").run().await;
    assert_eq!(chat.code, 0, "{chat:?}");
    assert!(chat.stdout.contains("Hello"), "{chat:?}");
    assert!(lango.received().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_listed_beside_those_of_servers() {
    let lango = Lango::silent().await;
    let listed = json(&lango.command(&["models", "list", "--json"]).run().await.stdout);
    let rows = listed.as_array().unwrap();
    assert!(rows.len() > 1, "{listed}");
    let own = rows.last().unwrap();
    assert_eq!((&own["id"], &own["tools"]), (&"embedded".into(), &true.into()));
    assert_eq!(own["images"], false);
    for unknown in ["context_window", "input_price", "output_price"] {
        assert!(own[unknown].is_null(), "{own}");
    }
    let alone = json(&lango.command(&["models", "list", "embedded", "--json"]).run().await.stdout);
    assert_eq!(alone.as_array().unwrap().len(), 1, "{alone}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_reports_its_figures_on_this_machine() {
    let lango = Lango::silent().await;
    let tested = lango.bare(&["models", "test", "embedded", "--json"]).run().await;
    assert_eq!(tested.code, 0, "{}", tested.stderr);
    let report = json(&tested.stdout);
    assert_eq!(report["model"], "embedded");
    let what: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["what"].as_str().unwrap())
        .collect();
    for expected in ["load", "orchestrator", "specialist", "memory", "weights", "agents", "tools"] {
        assert!(what.contains(&expected), "{expected}: {what:?}");
    }
    let figures = &report["figures"];
    assert!(figures["load_cpu_milliseconds"].as_f64().unwrap() > 0.0);
    assert!(figures["as_orchestrator"]["median_cpu_milliseconds"].as_f64().unwrap() > 0.0);
    assert!(figures["weights_bytes"].as_u64().unwrap() > 1_000_000);
    let accuracy = &figures["accuracy"];
    assert_eq!(accuracy["requests"], 60);
    // Weights that do not belong to the program are wrong nearly always.
    for figure in ["agent_right", "tool_right", "arguments_exact", "small_talk_right"] {
        let share = &accuracy[figure];
        assert!(share["percent"].as_f64().unwrap() >= 80.0, "{figure}: {share}");
    }
    // Without a name, and with nothing set up, it is the one that would answer.
    let table = lango.bare(&["models", "test"]).run().await;
    assert_eq!(table.code, 0, "{table:?}");
    assert!(table.stdout.starts_with("embedded (the small model in the box"), "{}", table.stdout);
    assert!(table.stdout.contains(" of 60 right"), "{}", table.stdout);
}
