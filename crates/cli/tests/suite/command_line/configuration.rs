//! `lango config`: what is set, where it comes from, and how it is changed.

use serde_json::Value;

use crate::fixture::Lango;

#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_was_set_is_got_shown_and_used() {
    let lango = Lango::silent().await;
    let set = lango.command(&["config", "set", "agent.topology", "compact"]).run().await;
    assert_eq!(set.code, 0, "{}", set.stderr);
    assert!(set.stdout.contains("config.toml"), "{}", set.stdout);
    let get = lango.command(&["config", "get", "agent.topology"]).run().await;
    assert_eq!((get.code, get.stdout.as_str()), (0, "compact\n"));
    let agents = lango.command(&["agents", "list"]).run().await.stdout;
    assert!(agents.starts_with("topology compact\n"), "{agents}");

    let shown = lango.command(&["config", "show"]).run().await.stdout;
    assert!(
        shown
            .lines()
            .any(|line| line.starts_with("agent.topology ") && line.ends_with("\"compact\""))
    );
    let overridden = lango.command(&["config", "show", "--origin"]);
    let overridden = overridden.set("LANGO_AGENT_TOPOLOGY", "standard").run().await.stdout;
    let line = overridden.lines().find(|line| line.starts_with("agent.topology ")).unwrap();
    assert!(line.contains("\"standard\"") && line.ends_with("the variable LANGO_AGENT_TOPOLOGY"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_programs_read_is_json() {
    let lango = Lango::silent().await;
    let shown = lango.command(&["config", "show", "--json"]).run().await.stdout;
    let keys: Value = serde_json::from_str(&shown).unwrap();
    let rounds = keys.as_array().unwrap().iter().find(|k| k["key"] == "agent.maxDelegationRounds");
    assert_eq!(rounds.unwrap()["variable"], "LANGO_AGENT_MAXDELEGATIONROUNDS");
    let schema = lango.command(&["config", "schema"]).run().await.stdout;
    let schema: Value = serde_json::from_str(&schema).unwrap();
    assert!(schema["properties"]["agent"].is_object(), "{schema}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_key_is_refused_with_the_nearest_one_and_nothing_changes() {
    let lango = Lango::silent().await;
    std::fs::write(lango.config_file(), "# mine\n[budget]\nseconds = 60\n").unwrap();
    for command in
        [&["config", "set", "agent.topolgy", "compact"][..], &["config", "get", "agent.topolgy"]]
    {
        let refused = lango.command(command).run().await;
        assert_eq!(refused.code, 2);
        assert!(refused.stderr.contains("did you mean \"agent.topology\"?"), "{}", refused.stderr);
    }
    let wrong = lango.command(&["config", "set", "budget.seconds", "soon"]).run().await;
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("budget.seconds"), "{}", wrong.stderr);
    let kept = std::fs::read_to_string(lango.config_file()).unwrap();
    assert_eq!(kept, "# mine\n[budget]\nseconds = 60\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_paths_are_those_of_the_home_or_of_the_given_file() {
    let lango = Lango::silent().await;
    let path = lango.command(&["config", "path"]).run().await.stdout;
    assert!(path.contains(lango.config_file().to_str().unwrap()), "{path}");
    assert!(path.contains(lango.database_file().to_str().unwrap()), "{path}");
    let other = lango.file("other.toml", "[agent]\nmultiAgent = false\n");
    let agents = lango.command(&["agents", "list", "--config", &other]).run().await.stdout;
    assert!(agents.contains("lango-agent"), "{agents}");
    let missing = lango.command(&["agents", "list", "--config", "/nowhere.toml"]).run().await;
    assert_eq!(missing.code, 2);
    assert!(missing.stderr.contains("/nowhere.toml"), "{}", missing.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_file_that_was_named_is_not_fixed_in_another_place() {
    let lango = Lango::silent().await;
    let broken = lango.file("broken.toml", "[agent]\nnonsense = 1\n");
    let set = ["config", "set", "agent.topology", "compact", "--config", &broken];
    lango.command(&set).run().await;
    assert!(!lango.config_file().exists(), "the other file was written");
    let path = lango.command(&["config", "path", "--config", &broken]).run().await.stdout;
    assert!(path.contains(&broken), "{path}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_files_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;

    let lango = Lango::silent().await;
    let home = lango.path("fresh/home");
    let set = lango.command(&["config", "set", "budget.seconds", "60"]);
    assert_eq!(set.set("LANGO_HOME", &home).run().await.code, 0);
    let demo = lango.command(&["demo", "--quiet"]).set("LANGO_HOME", &home).run().await;
    assert_eq!(demo.code, 0);
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home), 0o700);
    for name in ["config.toml", "lango.db"] {
        assert_eq!(mode(&home.join(name)), 0o600, "{name}");
    }
}
