//! The embedded model, as commands show it.

use lango_model::Wire;
use rustix::process::Signal;
use serde_json::Value;

use crate::fixture::{Lango, TO_OPERATOR, text_of};

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
    assert!(first.starts_with("embedded (the small embedded model"), "{first}");
    assert!(first.contains("lango models --help"), "{first}");
    let chat = lango.bare(&["chat"]).input("hello\n").run().await;
    assert_eq!(chat.code, 0, "{chat:?}");
    assert!(chat.stdout.contains("Hello"), "{chat:?}");
    for said in [&run.stderr, &chat.stderr] {
        assert_eq!(said.matches("the small embedded model").count(), 1, "{said}");
        // No server was looked for, so none is known.
        assert!(said.contains("model.discover is false"), "{said}");
    }
    assert!(lango.received().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_says_that_it_answers_where_it_was_not_named() {
    let lango = Lango::silent().await;
    let serve = |more: &[&str]| {
        lango.bare(&["serve", "--port", "0", "--no-auth"]).with(more).start_until("Ctrl-C ends it")
    };
    for (more, times) in [(&[][..], 1), (&["--model", "embedded"][..], 0)] {
        let (running, _) = serve(more).await;
        running.signal(Signal::TERM);
        let ended = running.finish().await;
        let said = ended.stderr.matches("embedded answers: the small embedded model").count();
        assert_eq!((ended.code, said), (0, times), "{ended:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_named_wherever_a_model_is() {
    let lango = Lango::playing(&["[[reply]]\nsay = \"From a server.\"\n"]).await;
    for (key, why) in [("NAME", "model.name"), ("PROVIDER", "model.provider")] {
        let variable = format!("LANGO_MODEL_{key}");
        let run = |more: &[&str]| {
            lango.command(&["run", "hello"]).set(&variable, "embedded").with(more).run()
        };
        let own = run(&[]).await;
        assert_eq!(own.code, 0, "{own:?}");
        assert!(own.stderr.starts_with(&format!("embedded ({why})")), "{}", own.stderr);
        assert!(lango.received().is_empty(), "{key}");
    }
    // It has no server, so another name belongs to another provider.
    let run = lango.command(&["run", "hello", "--model", "large"]);
    let run = run.set("LANGO_MODEL_PROVIDER", "embedded").run().await;
    assert_eq!((run.code, run.stdout.as_str()), (0, "From a server.\n"), "{run:?}");
    assert!(run.stderr.starts_with("openai/large (--model, OPENAI_BASE_URL)"), "{}", run.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn there_is_one_embedded_model_and_no_server_of_that_name() {
    let lango = Lango::playing(&["[[reply]]\nsay = \"From a server.\"\n"]).await;
    let hello = || lango.command(&["run", "hello"]);
    let refused = [
        hello().with(&["--model", "embedded/large"]),
        hello().set("LANGO_MODEL_NAME", "embedded/large"),
        hello().set("LANGO_MODEL_FALLBACKS", "[\"embedded/large\"]"),
    ];
    for invocation in refused {
        let run = invocation.run().await;
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains("there is only one embedded model"), "{}", run.stderr);
    }
    let config = format!("[providers.embedded]\nbaseUrl = \"{}\"\n", lango.base_url(Wire::OpenAi));
    std::fs::write(lango.config_file(), config).unwrap();
    let run = hello().run().await;
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("Give the provider another name"), "{}", run.stderr);
    assert!(lango.received().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_it_decides_is_not_recorded_and_no_message_says_otherwise() {
    let lango = Lango::playing(&[TO_OPERATOR, "[[reply]]\nsay = \"Done.\"\n"]).await;
    let tape = text_of(&lango.path("tape.jsonl"));
    let record = ["--record", tape.as_str()];
    let own = lango.file("own.toml", "[agents.operator]\nmodel = \"embedded\"\n");
    let refused = [
        lango.bare(&["run", "hello"]),
        lango.command(&["run", "hello", "--model", "embedded"]),
        lango.bare(&["chat"]),
        lango.command(&["run", "hello", "--config", &own]),
    ];
    for invocation in refused {
        let run = invocation.with(&record).run().await;
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains("cannot be recorded"), "{}", run.stderr);
        assert!(!lango.path("tape.jsonl").exists());
    }
    // The fast path would decide this one. In a recording, and when it is played, the model does.
    let request = "list the files in src";
    let run = lango.command(&["run", request]).set("LANGO_AGENT_ROUTER", "auto");
    let run = run.set("LANGO_MODEL_FALLBACKS", "[\"embedded\"]").with(&record).run().await;
    assert_eq!((run.code, run.stdout.as_str()), (0, "Done.\n"), "{run:?}");
    assert!(run.stderr.contains("agent.router is off for this run"), "{}", run.stderr);
    assert!(run.stderr.contains("embedded does not stand in for this run"), "{}", run.stderr);
    assert_eq!(lango.requests_of("lango-orchestrator").len(), 1);
    let other = Lango::silent().await;
    let play = other.bare(&["run", request, "--model", &format!("replay:{tape}")]);
    let played = play.set("LANGO_AGENT_ROUTER", "auto").run().await;
    assert_eq!((played.code, played.stdout.as_str()), (0, "Done.\n"), "{played:?}");
    assert!(played.stderr.contains("Do it."), "{}", played.stderr);
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
    assert!(table.stdout.starts_with("embedded (the small embedded model"), "{}", table.stdout);
    assert!(table.stdout.contains(" of 60 right"), "{}", table.stdout);
}
