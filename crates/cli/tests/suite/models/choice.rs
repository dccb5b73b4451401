//! Which model answers, and why.

use lango_model::Wire;
use lango_scripted::{Script, ScriptedServer};

use crate::fixture::{Lango, TO_OPERATOR};
use crate::invocation::CommandOutput;

const HELLO: &str = "[[reply]]\nsay = \"Hello.\"\n";

/// Variables and their values.
type Variables = &'static [(&'static str, &'static str)];

/// What a user has set, which model that means, why, and which header carries the key.
const SETTINGS: [(Variables, &str, &str, &str); 5] = [
    (
        &[("ANTHROPIC_API_KEY", "key-a"), ("ANTHROPIC_BASE_URL", "{anthropic}")],
        "anthropic/",
        "ANTHROPIC_BASE_URL",
        "x-api-key: key-a",
    ),
    (
        &[("OPENAI_API_KEY", "key-o"), ("OPENAI_BASE_URL", "{openai}")],
        "openai/",
        "OPENAI_BASE_URL",
        "authorization: Bearer key-o",
    ),
    (
        &[("GEMINI_API_KEY", "key-g"), ("GEMINI_BASE_URL", "{gemini}")],
        "gemini/",
        "GEMINI_BASE_URL",
        "x-goog-api-key: key-g",
    ),
    (
        &[("GOOGLE_API_KEY", "key-gg"), ("GEMINI_BASE_URL", "{gemini}")],
        "gemini/",
        "GEMINI_BASE_URL",
        "x-goog-api-key: key-gg",
    ),
    (
        &[("OPENROUTER_API_KEY", "key-r"), ("OPENROUTER_BASE_URL", "{openai}")],
        "openrouter/",
        "OPENROUTER_BASE_URL",
        "authorization: Bearer key-r",
    ),
];

fn filled(lango: &Lango, text: &str) -> String {
    text.replace("{openai}", &lango.base_url(Wire::OpenAi))
        .replace("{anthropic}", &lango.base_url(Wire::Anthropic))
        .replace("{gemini}", &lango.base_url(Wire::Gemini))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_key_in_the_environment_picks_provider_model_and_header() {
    for (variables, provider, why, header) in SETTINGS {
        let lango = Lango::playing(&[HELLO]).await;
        let mut invocation = lango.bare(&["run", "hello"]);
        for (name, value) in variables {
            invocation = invocation.set(name, filled(&lango, value));
        }
        let finished = invocation.run().await;
        assert_eq!((finished.code, finished.stdout.as_str()), (0, "Hello.\n"), "{finished:?}");
        let first_line = finished.stderr.lines().next().unwrap();
        assert!(first_line.starts_with(provider), "{first_line}");
        assert!(first_line.contains(&format!("({why})")), "{first_line}");
        let (name, value) = header.split_once(": ").unwrap();
        let requests = lango.received();
        assert_eq!(requests[0].header(name), Some(value), "{provider}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_model_named_the_usual_one_of_the_provider_is_asked() {
    // The address is the provider's own, so it is not reached; the first line says who is asked.
    for (variable, model) in [
        ("ANTHROPIC_API_KEY", "anthropic/claude-sonnet-5-5"),
        ("OPENAI_API_KEY", "openai/gpt-5-mini"),
        ("GEMINI_API_KEY", "gemini/gemini-3.8-flash"),
        ("OPENROUTER_API_KEY", "openrouter/anthropic/claude-sonnet-5.5"),
    ] {
        let lango = Lango::silent().await;
        // No request leaves the machine: everything goes to a proxy that is not there.
        let run =
            lango.bare(&["run", "hello"]).set(variable, "k-canary").set("LANGO_RETRY_TRIES", "1");
        let finished = run.set("HTTPS_PROXY", "http://127.0.0.1:1").run().await;
        assert_eq!(finished.code, 4, "{finished:?}");
        let expected = format!("{model} ({variable}) · session ");
        assert!(finished.stderr.starts_with(&expected), "{}", finished.stderr);
        assert!(!finished.stderr.contains("k-canary"), "{}", finished.stderr);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_several_keys_the_first_counts_and_a_name_finds_its_provider() {
    let lango = Lango::playing(&[HELLO]).await;
    let run = |arguments: &[&str]| {
        let invocation = lango.bare(&["run", "hello"]).with(arguments);
        invocation
            .set("OPENAI_API_KEY", "key-o")
            .set("GEMINI_API_KEY", "key-g")
            .set("HTTPS_PROXY", "http://127.0.0.1:1")
            .set("LANGO_RETRY_TRIES", "1")
    };
    let begins = |finished: &CommandOutput, words: &str| {
        assert!(finished.stderr.starts_with(words), "{}", finished.stderr);
    };
    begins(&run(&[]).run().await, "openai/gpt-5-mini (OPENAI_API_KEY)");
    begins(&run(&["--model", "gemini"]).run().await, "gemini/gemini-3.8-flash (--model, GEMINI");
    begins(&run(&["--model", "gemini-x"]).run().await, "gemini/gemini-x (--model, GEMINI");
    begins(&run(&["--model", "gpt-x"]).run().await, "openai/gpt-x (--model, OPENAI");
    let without_key = run(&["--model", "anthropic"]).run().await;
    assert_eq!(without_key.code, 4);
    assert!(without_key.stderr.contains("export ANTHROPIC_API_KEY="), "{}", without_key.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_on_this_machine_is_used_after_one_yes_and_not_before() {
    let script = Script::parse("test", HELLO).unwrap();
    // Whichever of the usual ports is free on the machine that runs the tests.
    let mut server = None;
    for (port, provider) in [(11434, "ollama"), (1234, "lmstudio"), (8080, "llamacpp")] {
        if let Ok(started) = ScriptedServer::start_at(script.clone(), port).await {
            server = Some((started, provider));
            break;
        }
    }
    let (server, provider) = server.expect("one of the ports 11434, 1234 and 8080 is free");
    let lango = Lango::silent().await;
    let bare = |arguments: &[&str]| lango.bare(arguments).set("LANGO_MODEL_DISCOVER", "true");
    let run = || bare(&["run", "list the files here"]).run();
    let accept = format!("lango models accept {provider}");
    // Without a terminal no question is asked, and the message says what to type.
    let unasked = run().await;
    assert!(unasked.stderr.starts_with("embedded ("), "{unasked:?}");
    assert!(unasked.stderr.contains(&accept), "{unasked:?}");
    let named = bare(&["run", "--model", "scripted", "hello"]).run().await;
    assert!(named.code == 4 && named.stderr.contains(&accept), "{named:?}");
    let listed = bare(&["models", "list"]).run().await;
    assert!(listed.stdout.contains(provider) && listed.stderr.contains(&accept), "{listed:?}");
    let doctor = bare(&["doctor"]).run().await;
    assert!(doctor.stdout.contains(&accept), "{}", doctor.stdout);
    // A no holds for the run, and what was typed ahead is no yes.
    let at_terminal = || {
        let terminal = lango.at_terminal("run 'list the files here'").unset("OPENAI_BASE_URL");
        terminal.set("LANGO_MODEL_DISCOVER", "true").start_typing()
    };
    let mut session = at_terminal();
    session.send("y\n").await;
    session.wait_for("now and in later runs? [y/N]").await;
    session.answer("n\n").await;
    let refused = session.finish().await;
    assert!(refused.stdout.contains("embedded ("), "{}", refused.stdout);
    assert!(server.requests().is_empty(), "nothing was sent to it");
    // A yes is remembered, shown, and can be taken back.
    let mut session = at_terminal();
    session.wait_for("now and in later runs? [y/N]").await;
    session.answer("y\n").await;
    let accepted = session.finish().await;
    assert!(accepted.stdout.contains("Hello."), "{}", accepted.stdout);
    let shown = bare(&["config", "get", "model.acceptedServers"]).run().await;
    assert!(shown.stdout.contains("http://127.0.0.1:"), "{shown:?}");
    let later = run().await;
    assert_eq!((later.code, later.stdout.as_str()), (0, "Hello.\n"), "{later:?}");
    assert!(later.stderr.starts_with(&format!("{provider}/scripted")), "{later:?}");
    assert!(later.stderr.contains("(found at http://127.0.0.1:"), "{later:?}");
    assert_eq!(bare(&["models", "revoke", provider]).run().await.code, 0);
    let sent = server.requests().len();
    assert!(run().await.stderr.starts_with("embedded ("));
    assert_eq!(server.requests().len(), sent);
    assert_eq!(bare(&["models", "accept", provider]).run().await.code, 0);
    assert!(run().await.stderr.contains("(found at http"));
    let wrong = bare(&["models", "accept", "openai"]).run().await;
    assert!(wrong.code == 2 && wrong.stderr.contains("lmstudio"), "{wrong:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_default_that_changed_is_told_once_and_by_a_run_that_is_read() {
    let lango = Lango::playing(&[HELLO]).await;
    let run = |model: &'static str, more: &[&str]| {
        lango.command(&["run", "hello"]).with(more).set("LANGO_MODEL_NAME", model).run()
    };
    let told = "in the last run it was openai/one";
    assert!(!run("one", &[]).await.stderr.contains("last run"), "the first run has none before");
    assert!(!run("one", &[]).await.stderr.contains("last run"));
    assert_eq!(run("two", &["--quiet"]).await.stderr, "");
    let named = run("two", &["--model", "openai/three"]).await;
    assert!(!named.stderr.contains("last run"), "it was asked for: {named:?}");
    let changed = run("two", &[]).await;
    assert!(changed.stderr.contains("the model is openai/two now"), "{changed:?}");
    assert!(changed.stderr.contains(told), "{changed:?}");
    assert!(!run("two", &[]).await.stderr.contains("last run"));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_agent_has_the_model_that_is_set_for_it() {
    let work = "[[reply]]\nagent = \"operator\"\nsay = \"Done.\"\n";
    let lango = Lango::playing(&[TO_OPERATOR, work]).await;
    let config = format!(
        "[model]\nprovider = \"fast\"\nname = \"small\"\ntemperature = 0.5\n\
         [providers.fast]\nbaseUrl = \"{}\"\n\
         [providers.strong]\ntype = \"anthropic\"\nbaseUrl = \"{}\"\n\
         [agents.operator]\nmodel = \"strong/large\"\ntemperature = 0.25\nmaxOutputTokens = 777\n",
        lango.base_url(Wire::OpenAi),
        lango.base_url(Wire::Anthropic),
    );
    std::fs::write(lango.config_file(), config).unwrap();
    let ask =
        |more: &[&str]| lango.bare(&["run", "--output-format", "stream-json", "do it"]).with(more);
    assert_eq!(ask(&[]).turn().await.answer(), "Done.");
    let requests = lango.received();
    let body = |index: usize| -> serde_json::Value {
        serde_json::from_str(&requests[index].body).unwrap()
    };
    assert_eq!((requests[0].wire, requests[1].wire), (Wire::OpenAi, Wire::Anthropic));
    assert_eq!(
        (body(0)["model"].as_str(), body(0)["temperature"].as_f64()),
        (Some("small"), Some(0.5))
    );
    assert_eq!(
        (body(1)["model"].as_str(), body(1)["temperature"].as_f64()),
        (Some("large"), Some(0.25))
    );
    assert_eq!(body(1)["max_tokens"], 777);
    // A model that is named for the run is everybody's.
    assert_eq!(ask(&["--model", "fast/other"]).turn().await.answer(), "Done.");
    let last = lango.received();
    assert!(last[2..].iter().all(|request| request.body.contains("\"other\"")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slash_in_a_name_is_read_as_the_provider_means_it() {
    let lango = Lango::playing(&[HELLO]).await;
    let model = |wanted: &'static str| {
        let run = lango.bare(&["run", "hello", "--model", wanted]);
        run.set("OPENROUTER_API_KEY", "key-r")
            .set("OPENROUTER_BASE_URL", lango.base_url(Wire::OpenAi))
            .set("LANGO_MODEL_PROVIDER", "openrouter")
    };
    for wanted in ["openai/gpt-x", "openrouter/openai/gpt-x"] {
        let finished = model(wanted).run().await;
        assert!(finished.stderr.starts_with("openrouter/openai/gpt-x ("), "{}", finished.stderr);
        let asked: serde_json::Value =
            serde_json::from_str(&lango.received().pop().unwrap().body).unwrap();
        assert_eq!(asked["model"], "openai/gpt-x");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_come_from_the_file_or_the_environment_and_a_query_stays_at_the_end() {
    let lango = Lango::playing(&[HELLO]).await;
    let config = format!(
        "[model]\nprovider = \"azure\"\nname = \"m\"\n[providers.azure]\n\
         baseUrl = \"{}?api-version=7\"\nheaders = {{ api-key = \"$AZURE_KEY\", x-team = \"blue\" }}\n",
        lango.base_url(Wire::OpenAi)
    );
    std::fs::write(lango.config_file(), config).unwrap();
    let run = lango.bare(&["run", "hello"]);
    let missing = run.run().await;
    assert_eq!(missing.code, 2);
    assert!(missing.stderr.contains("AZURE_KEY is not set"), "{}", missing.stderr);
    let run = lango.bare(&["run", "hello"]).set("AZURE_KEY", "az-canary-9").run().await;
    assert_eq!(run.code, 0, "{}", run.stderr);
    let request = lango.received().pop().unwrap();
    assert_eq!(request.path, "/v1/chat/completions?api-version=7");
    assert_eq!(request.header("api-key"), Some("az-canary-9"));
    assert_eq!(request.header("x-team"), Some("blue"));
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_for_an_agent_that_does_not_exist_are_refused() {
    let lango = Lango::playing(&[HELLO]).await;
    std::fs::write(lango.config_file(), "[agents.unknown]\ntemperature = 0.2\n").unwrap();
    let run = lango.command(&["run", "hello"]).run().await;
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("agents.unknown") && run.stderr.contains("operator"),
        "{}",
        run.stderr
    );
    let shown = lango.command(&["config", "show"]).run().await;
    assert!(shown.stdout.contains("0.2") && !shown.stdout.contains("0.2000"), "{}", shown.stdout);
}
