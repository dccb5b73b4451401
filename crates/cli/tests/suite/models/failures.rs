//! Failures that pass, failures that stay, and models that stand in.

use std::time::{Duration, Instant, SystemTime};

use lango_model::Wire;
use lango_protocol::EventBody;
use lango_scripted::profile;

use crate::fixture::{Lango, TO_OPERATOR};
use crate::journal::Turn;

/// Returns the kinds of failures that were met, in order.
fn setbacks(turn: &Turn) -> Vec<(&str, &str)> {
    let setbacks = turn.events.iter().filter_map(|event| match &event.body {
        EventBody::Setback { fault, next, .. } => Some((fault.as_str(), next.as_str())),
        _ => None,
    });
    setbacks.collect()
}

/// Returns a script for an operator that has an effect, then fails once, then answers.
fn effect_then(failure: &str) -> String {
    format!(
        r#"{TO_OPERATOR}
[[reply]]
agent = "operator"
results = 0
call = [{{ name = "exec_shell", arguments = {{ command = "echo done >> effects" }} }}]
[[reply]]
agent = "operator"
times = 1
say = "Half an answer that"
{failure}
[[reply]]
agent = "operator"
say = "It is done."
"#
    )
}

async fn recovers(failure: &str, fault: &str, idle_seconds: &str) {
    for wire in Wire::ALL {
        let lango = Lango::playing(&[&effect_then(failure)]).await;
        let ask = lango.ask_over(wire, "do it").with(&["--approve", "all"]);
        let turn = ask.set("LANGO_MODEL_IDLESECONDS", idle_seconds).turn().await;
        let told = format!("{wire:?}, {failure}: {}", turn.answer());
        assert_eq!((turn.code, turn.answer()), (0, "It is done."), "{told}");
        assert_eq!(setbacks(&turn).iter().map(|(f, _)| *f).collect::<Vec<_>>(), [fault], "{told}");
        let effects = std::fs::read_to_string(lango.workspace().join("effects")).unwrap();
        assert_eq!(effects, "done\n", "{told}");
        assert_eq!(lango.received().len(), 4, "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_passes_costs_no_turn_and_repeats_no_effect() {
    recovers("error = \"overloaded\"", "overloaded", "30").await;
    recovers("fault = \"status\"\nstatus = 500", "overloaded", "30").await;
    recovers("fault = \"status\"\nstatus = 529", "overloaded", "30").await;
    recovers("fault = \"reset\"", "unreachable", "30").await;
    recovers("fault = \"cut\"", "cut", "30").await;
    recovers("fault = \"error-event\"", "overloaded", "30").await;
    recovers("fault = \"garbage\"", "malformed", "30").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn silence_and_a_stall_are_cut_short_and_tried_again() {
    recovers("fault = \"silence\"", "silent", "1").await;
    recovers("fault = \"stall\"", "silent", "1").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_drip_ends_with_the_time_of_a_whole_reply() {
    // It never says nothing for long, and would take minutes.
    let lango =
        Lango::playing(&["[[reply]]\nfault = \"drip\"\ndrip_ms = 200\nsay = \"Slowly.\"\n"]);
    let lango = lango.await;
    let began = Instant::now();
    let ask = lango.ask("hello").set("LANGO_MODEL_IDLESECONDS", "5");
    let turn = ask.set("LANGO_MODEL_TOTALSECONDS", "2").turn().await;
    assert_eq!((turn.code, turn.class().as_str()), (4, "provider"));
    assert!(turn.answer().contains("no whole reply in 2 s"), "{}", turn.answer());
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert_eq!(lango.received().len(), 1, "a whole reply's time is not spent twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn retry_after_is_honoured_in_seconds_and_as_a_date() {
    let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(3));
    for (retry_after, least) in [("1", 1000), (date.as_str(), 1000)] {
        let script = format!(
            "[[reply]]\ntimes = 1\nfault = \"status\"\nstatus = 429\n\
             retry_after = \"{retry_after}\"\n[[reply]]\nsay = \"Now.\"\n"
        );
        let lango = Lango::playing(&[&script]).await;
        let turn = lango.ask("hello").turn().await;
        assert_eq!((turn.code, turn.answer()), (0, "Now."));
        let waited = turn.events.iter().find_map(|event| match &event.body {
            EventBody::Setback { wait_milliseconds, .. } => Some(*wait_milliseconds),
            _ => None,
        });
        // The date has whole seconds, and some of them have passed when it is read.
        assert!(waited.unwrap() >= least - 1000, "{waited:?}");
        assert!(turn.outcome().work.milliseconds >= waited.unwrap());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_that_is_too_long_is_not_waited_for() {
    let script = "[[reply]]\nfault = \"status\"\nstatus = 429\nretry_after = \"3600\"\n";
    let lango = Lango::playing(&[script]).await;
    let turn = lango.ask("hello").turn().await;
    assert_eq!((turn.code, lango.received().len()), (4, 1));
    assert!(turn.answer().contains("it asks to wait 3600 s"), "{}", turn.answer());
}

/// Two providers at the same server, told apart by their models.
fn two_providers(lango: &Lango, first: Wire, second: Wire) {
    let config = format!(
        "[model]\nprovider = \"first\"\nname = \"one\"\nfallbacks = [\"second/two\"]\n\
         [providers.first]\ntype = \"{}\"\nbaseUrl = \"{}\"\n\
         [providers.second]\ntype = \"{}\"\nbaseUrl = \"{}\"\n",
        first.name(),
        lango.base_url(first),
        second.name(),
        lango.base_url(second),
    );
    std::fs::write(lango.config_file(), config).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_second_model_of_the_chain_answers_whatever_wire_it_speaks() {
    for (first, second) in Wire::ALL.iter().zip(Wire::ALL.iter().cycle().skip(1)) {
        for error in ["quota", "auth", "unknown_model", "no_tools", "overloaded"] {
            let script = format!(
                "[[reply]]\nmodel = \"one\"\nerror = \"{error}\"\n\
                 [[reply]]\nmodel = \"two\"\nsay = \"The second.\"\n"
            );
            let lango = Lango::playing(&[&script]).await;
            two_providers(&lango, *first, *second);
            let ask = lango.bare(&["run", "--output-format", "stream-json", "hello"]);
            let turn = ask.set("LANGO_RETRY_TRIES", "2").turn().await;
            let told = format!("{first:?} to {second:?}, {error}: {}", turn.answer());
            assert_eq!((turn.code, turn.answer()), (0, "The second."), "{told}");
            assert_eq!(setbacks(&turn).last().unwrap().1, "second/two", "{told}");
            let used = turn.events.iter().find_map(|event| match &event.body {
                EventBody::Usage { provider, model, .. } => {
                    Some((provider.as_str(), model.as_str()))
                }
                _ => None,
            });
            assert_eq!(used, Some(("second", "two")), "{told}");
        }
    }
}

/// The first provider works, thinks and signs its thoughts; then it goes away in the middle of
/// the turn. What it signed must not reach the second, which would refuse it.
#[tokio::test(flavor = "multi_thread")]
async fn what_one_provider_signed_never_reaches_another() {
    let script = r#"
[[reply]]
agent = "lango-orchestrator"
call = [{ name = "transfer_to_agent", arguments = { agent_name = "operator", task = "Do it." } }]
[[reply]]
model = "one"
results = 0
think = "a secret thought of the first"
call = [{ name = "fs_stat", arguments = { path = "README.md" } }, { name = "fs_list" }]
[[reply]]
model = "one"
error = "overloaded"
[[reply]]
model = "two"
results = 2
think = "a thought of the second"
call = [{ name = "fs_stat", arguments = { path = "src/main.rs" } }]
[[reply]]
model = "two"
say = "Both worked on it."
"#;
    for first in Wire::ALL {
        for second in Wire::ALL {
            let lango = Lango::playing(&[script]).await;
            two_providers(&lango, first, second);
            let ask = lango.bare(&["run", "--output-format", "stream-json", "do it"]);
            let turn = ask.set("LANGO_RETRY_TRIES", "2").turn().await;
            let told = format!("{first:?} to {second:?}: {}", turn.answer());
            assert_eq!((turn.code, turn.answer()), (0, "Both worked on it."), "{told}");
            let to_second = lango
                .received()
                .into_iter()
                .filter(|r| r.body.contains("\"two\"") || r.path.contains("/two:"));
            for request in to_second {
                assert!(!request.body.contains("secret thought"), "{told}: {}", request.body);
            }
        }
    }
}

/// The address of a port that no process listens on.
const UNREACHABLE: &str = "http://127.0.0.1:1";

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_is_refused_is_bounded_and_says_where() {
    for (variable, path) in [
        ("OPENAI_BASE_URL", "/v1/chat/completions"),
        ("ANTHROPIC_BASE_URL", "/v1/messages"),
        ("OLLAMA_HOST", "/api/chat"),
    ] {
        let lango = Lango::silent().await;
        let ask = lango.bare(&["run", "--output-format", "stream-json", "hello"]);
        let name = variable.split('_').next().unwrap().to_lowercase();
        let suffix = if name == "openai" { "/v1" } else { "" };
        let url = format!("{UNREACHABLE}{suffix}");
        let model = format!("{name}/some-model");
        let turn = ask.set(variable, url).with(&["--model", &model]).turn().await;
        assert_eq!((turn.code, turn.class().as_str()), (4, "provider"), "{variable}");
        let at = format!("{model} cannot be reached at {UNREACHABLE}{path}: ");
        assert!(turn.answer().contains(&at), "{}", turn.answer());
        assert!(turn.answer().contains(&format!("lango models test {model}")), "{}", turn.answer());
        assert_eq!(turn.count("setback"), 3, "four tries");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_is_not_safe_is_not_tried_again() {
    let lango = Lango::silent().await;
    // The server is there, and does not speak TLS.
    let url = lango.base_url(Wire::OpenAi).replace("http:", "https:");
    let ask = lango.bare(&["run", "--output-format", "stream-json", "hello"]);
    let ask = ask.set("OPENAI_BASE_URL", url).set("LANGO_MODEL_NAME", "m");
    let turn = ask.turn().await;
    assert_eq!((turn.code, turn.count("setback")), (4, 0), "{}", turn.answer());
    assert!(turn.answer().contains("over a safe connection"), "{}", turn.answer());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_keeps_failing_is_left_alone_and_the_second_answers_at_once() {
    let script = "[[reply]]\nmodel = \"one\"\nerror = \"overloaded\"\n\
                  [[reply]]\nmodel = \"two\"\nsay = \"The second.\"\n";
    let lango = Lango::playing(&[script]).await;
    two_providers(&lango, Wire::OpenAi, Wire::Anthropic);
    let lines = "a\nb\nc\nd\n/quit\n";
    let chat = lango.bare(&["chat"]).input(lines).run().await;
    assert_eq!(chat.code, 0, "{}", chat.stderr);
    assert_eq!(chat.stdout.matches("The second.").count(), 4, "{}", chat.stdout);
    let first = lango.received().iter().filter(|request| request.body.contains("\"one\"")).count();
    assert_eq!(first, 5, "four tries, one more, and then it rests");
    assert!(chat.stderr.contains("resting; asking second/two instead"), "{}", chat.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_key_unknown_model_and_no_tools_say_who_what_and_what_to_type() {
    for wire in Wire::ALL {
        for (error, words, type_this) in [
            ("auth", "refused the key", "key"),
            ("unknown_model", "does not have this model", "lango models list "),
            ("no_tools", "cannot call tools", "lango models list "),
            ("quota", "has no quota left", "--model"),
        ] {
            let lango = Lango::playing(&[&format!("[[reply]]\nerror = \"{error}\"\n")]).await;
            let turn = lango.ask_over(wire, "hello").turn().await;
            let told = format!("{wire:?}, {error}: {}", turn.answer());
            assert_eq!((turn.code, turn.class().as_str()), (4, "provider"), "{told}");
            assert!(turn.answer().contains(words), "{told}");
            assert!(turn.answer().contains(type_this), "{told}");
            let provider = wire.name();
            assert!(turn.answer().contains(&format!("{provider}/")), "{told}");
            assert!(turn.answer().contains("HTTP 4"), "what it answered: {told}");
            assert_eq!(lango.received().len(), 1, "{told}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_is_the_models_and_not_the_providers() {
    for wire in Wire::ALL.into_iter().filter(|wire| profile(*wire).refuses_content) {
        let lango = Lango::playing(&["[[reply]]\nerror = \"content_refused\"\n"]).await;
        let turn = lango.ask_over(wire, "hello").turn().await;
        assert_eq!((turn.code, turn.class().as_str()), (1, "model"), "{wire:?} {}", turn.answer());
        assert!(turn.answer().contains("refused to answer this"), "{}", turn.answer());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn at_a_terminal_a_reply_that_broke_off_begins_anew() {
    let script = "[[reply]]\ntimes = 1\nfault = \"cut\"\nsay = \"The answer is forty-\"\n\
                  [[reply]]\nsay = \"The answer is forty-two.\"\n";
    let lango = Lango::playing(&[script]).await;
    let seen = lango.at_terminal("run hello").run().await;
    let (before, after) = seen.stdout.split_once("cut; asking again").unwrap();
    assert!(before.contains("The answer"), "{}", seen.stdout);
    assert!(after.contains("The answer is forty-two."), "{}", seen.stdout);
    // In a pipe there is one answer and nothing else.
    let lango = Lango::playing(&[script]).await;
    let piped = lango.command(&["run", "hello"]).run().await;
    assert_eq!(piped.stdout, "The answer is forty-two.\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_a_provider_sends_back_is_not_shown_or_kept() {
    // The server quotes the model's name, which here is the key.
    let key = "sk-canary-echo-7";
    for error in ["unknown_model", "overloaded"] {
        let lango = Lango::playing(&[&format!("[[reply]]\nerror = \"{error}\"\n")]).await;
        let turn = lango.ask("hello").set("OPENAI_API_KEY", key).with(&["--model", key]);
        let turn = turn.set("LANGO_RETRY_TRIES", "2").turn().await;
        assert_eq!(turn.code, 4);
        let reason = turn.answer().split(": HTTP").nth(1).unwrap();
        assert!(!reason.split(". ").next().unwrap().contains(key), "{reason}");
    }
    let lango = Lango::playing(&["[[reply]]\nerror = \"unknown_model\"\n"]).await;
    let tested = lango.command(&["models", "test", &format!("openai/{key}")]);
    let tested = tested.set("OPENAI_API_KEY", key).run().await;
    assert!(tested.stdout.contains("[secret]"), "{}", tested.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stand_in_without_a_key_is_left_out_and_said_to_be() {
    let lango = Lango::playing(&["[[reply]]\nsay = \"Hello.\"\n"]).await;
    let run =
        |fallbacks: &str| lango.command(&["run", "hello"]).set("LANGO_MODEL_FALLBACKS", fallbacks);
    let finished = run("anthropic/claude-x").run().await;
    assert_eq!((finished.code, finished.stdout.as_str()), (0, "Hello.\n"), "{}", finished.stderr);
    assert!(
        finished.stderr.contains("anthropic/claude-x does not stand in"),
        "{}",
        finished.stderr
    );
    assert_eq!(run("").run().await.code, 0);
    let unknown = run("nope/x").run().await;
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("no provider \"nope\""), "{}", unknown.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_and_test_speak_of_the_first_model_only() {
    let script = "[[reply]]\nmodel = \"one\"\nerror = \"auth\"\n\
                  [[reply]]\nmodel = \"two\"\nsay = \"one, two, three, four\"\n";
    let lango = Lango::playing(&[script]).await;
    two_providers(&lango, Wire::OpenAi, Wire::Anthropic);
    let doctor = lango.bare(&["doctor"]).run().await;
    assert!(doctor.stdout.contains("first/one refused the key"), "{}", doctor.stdout);
    let tested = lango.bare(&["models", "test"]).run().await;
    assert!(tested.stdout.contains("first/one refused the key"), "{}", tested.stdout);
    assert!(lango.received().iter().all(|request| request.body.contains("\"one\"")));
}
