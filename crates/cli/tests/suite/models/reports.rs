//! What models cost, which there are, and what works with them.

use lango_model::Wire;
use serde_json::Value;

use crate::fixture::{Lango, TO_OPERATOR};

const WORK: &str = r#"
[[reply]]
agent = "operator"
say = "Done."
usage = { input = 2000000, output = 1000000, cached = 1000000 }
"#;

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect(text)
}

#[tokio::test(flavor = "multi_thread")]
async fn usage_is_added_up_and_costs_what_the_table_says() {
    let lango = Lango::playing(&[TO_OPERATOR, WORK]).await;
    let config = "[models.scripted]\ninputPrice = 1.0\noutputPrice = 10.0\ncachedPrice = 0.5\n";
    std::fs::write(lango.config_file(), config).unwrap();
    let run = lango.command(&["run", "do it", "--session", "work"]).run().await;
    assert!(run.stderr.contains(" · $11.5"), "{}", run.stderr);
    let usage = |arguments: &[&str]| lango.command(&["usage", "--json"]).with(arguments).run();
    let by_agent = json(&usage(&["--by", "agent"]).await.stdout);
    let operator = &by_agent["rows"][1];
    assert_eq!((operator["of"].as_str(), operator["calls"].as_u64()), (Some("operator"), Some(1)));
    assert_eq!(operator["cached"], 1_000_000);
    assert_eq!(operator["known_cost"], 11.5);
    assert_eq!(by_agent["total"]["calls"], 2);
    for (by, rows) in [("model", 1), ("session", 1), ("turn", 1), ("call", 2)] {
        let report = json(&usage(&["--by", by]).await.stdout);
        assert_eq!(report["rows"].as_array().unwrap().len(), rows, "{by}");
        assert_eq!(report["total"]["unpriced_calls"], 0);
    }
    let table = lango.command(&["usage", "--last"]).run().await.stdout;
    assert!(table.contains("openai/scripted  2"), "{table}");
    let nothing = lango.command(&["usage", "--session", "nope"]).run().await;
    assert_eq!(nothing.code, 2, "{}", nothing.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_price_that_is_not_known_is_said_to_be_unknown() {
    let lango = Lango::playing(&[TO_OPERATOR, WORK]).await;
    let run = lango.command(&["run", "do it"]).run().await;
    assert!(!run.stderr.contains('$'), "{}", run.stderr);
    let usage = lango.command(&["usage"]).run().await.stdout;
    assert!(usage.contains("unknown") && usage.contains("lango usage --help"), "{usage}");
    let wrong = "[models.scripted]\ninputPrice = -1.0\noutputPrice = 1.0\n";
    std::fs::write(lango.config_file(), wrong).unwrap();
    let refused = lango.command(&["usage"]).run().await;
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("inputPrice"), "{}", refused.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn models_are_listed_from_every_kind_of_server() {
    for wire in Wire::ALL {
        let lango = Lango::silent().await;
        let kind = wire.name();
        let config = format!(
            "[providers.mine]\ntype = \"{kind}\"\nbaseUrl = \"{}\"\n",
            lango.base_url(wire)
        );
        std::fs::write(lango.config_file(), config).unwrap();
        let listed = lango.bare(&["models", "list", "mine", "--json"]).run().await;
        assert_eq!(listed.code, 0, "{wire:?} {}", listed.stderr);
        let ids = json(&listed.stdout);
        assert!(ids[0]["id"].as_str().unwrap().starts_with("mine/"), "{wire:?} {ids}");
        let table = lango.bare(&["models", "list"]).run().await;
        assert!(
            table.stdout.contains("MODEL") && table.stdout.contains("mine/"),
            "{}",
            table.stdout
        );
    }
    let lango = Lango::silent().await;
    let nothing = lango.bare(&["models", "list"]).run().await;
    assert_eq!(nothing.code, 0);
    assert!(nothing.stdout.contains("\nembedded  none    yes    no"), "{}", nothing.stdout);
    assert!(nothing.stderr.contains("lango models --help"), "{}", nothing.stderr);
    let help = lango.bare(&["models", "--help"]).run().await.stdout;
    for words in ["ANTHROPIC_API_KEY", "OPENAI_BASE_URL=", "ollama serve", "model.provider"] {
        assert!(help.contains(words), "{words}: {help}");
    }
    let unreachable = lango.bare(&["models", "list", "ollama"]).set("OLLAMA_HOST", "127.0.0.1:1");
    let unreachable = unreachable.run().await;
    assert_eq!(unreachable.code, 4);
    assert!(
        unreachable.stderr.contains("cannot be reached at http://127.0.0.1:1/"),
        "{}",
        unreachable.stderr
    );
}

/// A model that can do everything it is tested for.
const ABLE: &str = r#"
[[reply]]
images = 1
say = "Red."
[[reply]]
user = "both at once"
call = [
  { name = "get_weather", arguments = { city = "Oslo" } },
  { name = "get_weather", arguments = { city = "Rome" } },
]
[[reply]]
offers = "get_weather"
call = [{ name = "get_weather", arguments = { city = "Oslo" } }]
[[reply]]
say = "one, two, three, four, five, six, seven, eight, nine, ten"
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_test_says_what_works_over_every_wire() {
    for wire in Wire::ALL {
        let lango = Lango::playing(&[ABLE]).await;
        let kind = wire.name();
        let config = format!(
            "[providers.mine]\ntype = \"{kind}\"\nbaseUrl = \"{}\"\n",
            lango.base_url(wire)
        );
        std::fs::write(lango.config_file(), config).unwrap();
        let tested = lango.bare(&["models", "test", "mine/able", "--json"]).run().await;
        assert_eq!(tested.code, 0, "{wire:?} {}", tested.stderr);
        let report = json(&tested.stdout);
        for finding in report["findings"].as_array().unwrap() {
            assert_eq!(finding["verdict"], "works", "{wire:?} {finding}");
        }
        let names: Vec<&str> = report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|finding| finding["what"].as_str().unwrap())
            .collect();
        assert_eq!(
            names,
            ["answers", "streaming", "usage", "tools", "parallel tools", "images"],
            "{wire:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_says_what_does_not_work() {
    let script = "[[reply]]\noffers = \"get_weather\"\nerror = \"no_tools\"\n\
                  [[reply]]\nimages = 1\nsay = \"I cannot see.\"\n\
                  [[reply]]\nsay = \"one, two, three, four\"\n";
    for wire in [Wire::OpenAi, Wire::Ollama] {
        let lango = Lango::playing(&[script]).await;
        let kind = wire.name();
        let config = format!(
            "[providers.mine]\ntype = \"{kind}\"\nbaseUrl = \"{}\"\n",
            lango.base_url(wire)
        );
        std::fs::write(lango.config_file(), config).unwrap();
        let tested = lango.bare(&["models", "test", "mine/mute"]).run().await;
        assert_eq!(tested.code, 4, "{}", tested.stdout);
        for words in ["yes     answers", "no      tools", "cannot call tools", "no      images"] {
            assert!(tested.stdout.contains(words), "{words}: {}", tested.stdout);
        }
    }
    let lango = Lango::playing(&["[[reply]]\nerror = \"auth\"\n"]).await;
    let tested = lango.command(&["models", "test"]).run().await;
    assert_eq!(tested.code, 4);
    assert_eq!(lango.received().len(), 1, "a wrong key is not tried four times");
    assert!(tested.stdout.contains("refused the key"), "{}", tested.stdout);
}
