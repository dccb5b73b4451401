//! Who can do what, and what each is told.

use serde_json::Value;

use crate::fixture::{Lango, TO_OPERATOR};

async fn printed(lango: &Lango, arguments: &[&str]) -> String {
    let finished = lango.command(arguments).run().await;
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{arguments:?}");
    finished.stdout
}

async fn json(lango: &Lango, arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(lango, arguments).await).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_are_listed_with_their_tools_and_with_those_that_were_not_created() {
    let lango = Lango::silent().await;
    let text = printed(&lango, &["agents", "list"]).await;
    assert!(text.starts_with("topology standard\n"), "{text}");
    assert!(text.contains("Every tool has an owner."), "{text}");
    for command in [&["agents", "list"][..], &["agents", "show", "vault"], &["config", "show"]] {
        let text = printed(&lango, command).await;
        let long = text.lines().filter(|line| line.chars().count() > 80 && line.contains(' '));
        assert_eq!(long.collect::<Vec<_>>(), Vec::<&str>::new(), "{command:?}");
    }
    let view = json(&lango, &["agents", "list", "--json"]).await;
    let agents = view["agents"].as_array().unwrap();
    let names: Vec<&str> = agents.iter().map(|agent| agent["name"].as_str().unwrap()).collect();
    let team = [
        "lango-orchestrator",
        "operator",
        "navigator",
        "vault",
        "librarian",
        "automator",
        "planner",
        "chronicler",
    ];
    assert_eq!(names, team);
    assert_eq!(agents[0]["tools"], Value::Array(Vec::new()));
    assert_eq!(view["not_created"], Value::Array(Vec::new()));

    let compact = json(&lango, &["agents", "list", "--json", "--topology", "compact"]).await;
    let created = compact["agents"].as_array().unwrap().iter().map(|a| a["name"].as_str().unwrap());
    let team = ["lango-orchestrator", "executor", "researcher", "planner", "memory-manager"];
    assert_eq!(created.collect::<Vec<_>>(), team);
}

#[tokio::test(flavor = "multi_thread")]
async fn r04_a_tool_that_no_agent_owns_is_reported() {
    let lango = Lango::playing(&["[[reply]]\nsay = \"Hello.\"\n"]).await;
    let agent = "---\nname: reader\ndescription: reading files\nprefixes: [fs_read]\n---\nRead.\n";
    lango.file("team/reader.md", agent);
    let team = lango.path("team");
    let team = team.to_str().unwrap();
    let view = json(&lango, &["agents", "list", "--json", "--topology", team]).await;
    let unmatched = view["unmatched_tools"].as_array().unwrap();
    assert!(unmatched.iter().any(|tool| tool["tool"] == "exec_shell"), "{view}");
    assert!(unmatched.iter().all(|tool| tool["tool"] != "fs_read"), "{view}");
    let text = printed(&lango, &["agents", "list", "--topology", team]).await;
    assert!(text.contains("Tools that no agent can use:\n  bg_cancel: "), "{text}");
    lango.ask("hello").with(&["--topology", team]).turn().await;
    let said = format!("Not available: {} tools", unmatched.len());
    assert!(lango.requests()[0].system().contains(&said));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_agent_is_shown_and_an_unknown_one_is_answered_with_the_names() {
    let lango = Lango::silent().await;
    let text = printed(&lango, &["agents", "show", "operator"]).await;
    assert!(text.contains("exec_shell") && text.contains("lango prompt show operator"), "{text}");
    let view = json(&lango, &["agents", "show", "planner", "--json"]).await;
    assert_eq!((&view["name"], &view["tools"]), (&"planner".into(), &Value::Array(Vec::new())));
    for command in ["agents", "prompt"] {
        let unknown = lango.command(&[command, "show", "oprator"]).run().await;
        assert_eq!(unknown.code, 2);
        let told = unknown.stderr;
        let names = "lango-orchestrator, operator, navigator, vault, librarian, automator, planner, chronicler";
        assert!(told.contains(names), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_listed_with_owner_and_level() {
    let lango = Lango::silent().await;
    let tools = json(&lango, &["tools", "list", "--json"]).await;
    let shell = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "exec_shell").unwrap();
    assert_eq!((&shell["owner"], &shell["level"]), (&"operator".into(), &"dangerous".into()));
    assert_eq!(shell["read_only"], false);
    let text = printed(&lango, &["tools", "list", "--topology", "compact"]).await;
    assert!(text.contains("executor        dangerous  no"), "{text}");
    let single =
        lango.command(&["tools", "list"]).set("LANGO_AGENT_MULTIAGENT", "false").run().await;
    assert!(single.stdout.contains("lango-agent"), "{}", single.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_is_shown_as_the_model_gets_it() {
    for (topology, agent) in [("standard", "operator"), ("compact", "executor")] {
        let script = TO_OPERATOR.replace("operator", agent);
        let lango = Lango::playing(&[&script, "[[reply]]\nsay = \"Done.\"\n"]).await;
        lango.ask("do it").with(&["--topology", topology]).turn().await;
        for name in ["lango-orchestrator", agent] {
            let shown = ["prompt", "show", name, "--topology", topology];
            let view = json(&lango, &[&shown[..], &["--json"]].concat()).await;
            let request = &lango.requests_of(name)[0];
            assert_eq!(view["instruction"], request.system());
            for tool in view["tools"].as_array().unwrap() {
                assert!(request.tools().contains(&tool["name"].as_str().unwrap()), "{tool}");
            }
            let text = printed(&lango, &shown).await;
            let last = text.lines().last().unwrap();
            let tokens = view["instruction_tokens"].as_u64().unwrap();
            assert!(tokens > 100, "{tokens}");
            assert!(last.starts_with("-- about "), "{last}");
            assert!(last.contains(&format!("instruction {tokens}, tools ")), "{last}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_and_prompts_of_the_user_change_the_team() {
    let lango = Lango::playing(&["[[reply]]\nsay = \"Hello.\"\n"]).await;
    lango.file(
        "agents/reader.md",
        "---\nname: reader\ndescription: reading\nprefixes: [fs_read]\nkeywords: [peruse]\n---\nRead.\n",
    );
    lango.file("prompts/SAFETY.md", "Never speak of the war.\n");
    let agents = lango.path("agents");
    let invocation = lango.ask("hello").set("LANGO_AGENT_AGENTSDIR", agents);
    let turn = invocation.set("LANGO_AGENT_PROMPTSDIR", lango.path("prompts")).turn().await;
    assert_eq!(turn.code, 0);
    let request = &lango.requests()[0];
    assert!(request.targets().contains(&"reader"), "{:?}", request.targets());
    assert!(request.system().contains("peruse"), "{}", request.system());
    assert!(request.system().contains("Never speak of the war."), "{}", request.system());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_says_what_is_good_and_what_to_do_about_the_rest() {
    let lango = Lango::playing(&["[[reply]]\nsay = \"ready\"\n"]).await;
    let good = lango.command(&["doctor"]).run().await;
    assert_eq!(good.code, 0, "{}", good.stdout);
    assert!(good.stdout.contains("ok    model"), "{}", good.stdout);
    assert_eq!(lango.requests().len(), 1, "the model was really asked");
    let own = lango.command(&["doctor"]).unset("OPENAI_BASE_URL").run().await;
    assert_eq!(own.code, 0, "{}", own.stdout);
    assert!(
        own.stdout.contains("ok    model           embedded (")
            && own.stdout.contains("lango models --help"),
        "{}",
        own.stdout
    );
    let without_key = |arguments: &[&str]| {
        let doctor = lango.command(arguments).unset("OPENAI_BASE_URL");
        doctor.set("LANGO_MODEL_PROVIDER", "anthropic")
    };
    let bad = without_key(&["doctor"]).run().await;
    assert_eq!(bad.code, 1);
    assert!(
        bad.stdout.contains("bad   model") && bad.stdout.contains("ANTHROPIC_API_KEY"),
        "{}",
        bad.stdout
    );
    let bad = without_key(&["doctor", "--json"]).run().await;
    let checks: Value = serde_json::from_str(&bad.stdout).unwrap();
    let state = |what: &str| {
        let check = checks.as_array().unwrap().iter().find(|check| check["what"] == what);
        check.unwrap()["state"].as_str().unwrap().to_owned()
    };
    assert_eq!((bad.code, state("model"), state("database")), (1, "bad".into(), "good".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_completion_script_for_bash_is_one_that_bash_can_read() {
    let lango = Lango::silent().await;
    let script = printed(&lango, &["completion", "bash"]).await;
    assert!(script.contains("complete -F _lango") && script.contains("sessions"), "{script}");
    let file = lango.file("completion.bash", &script);
    let checked = std::process::Command::new("bash").args(["-n", &file]).status().unwrap();
    assert!(checked.success());
}
