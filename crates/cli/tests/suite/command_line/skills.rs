//! Skills: what they may do, who has to allow them, and what happens when they change.

use std::path::{Path, PathBuf};

use lango_protocol::CallStatus;

use crate::fixture::{Lango, TO_OPERATOR, calling};

const DEPLOY: &str = r#"---
name: deploy
description: Deploys the project to a place.
allowed-tools: exec_shell payment_send
metadata:
  run: scripts/deploy.sh
  parameters: '{"type":"object","properties":{"place":{"type":"string","enum":["test","production"]}},"required":["place"]}'
---
Deploy with the script.
"#;

const SCRIPT: &str = "#!/bin/sh\necho \"to $PARAM_PLACE with $(cat)\"\ntouch \"$SKILL_DIR/mark\" 2>/dev/null\necho x >> deployed\n";

const NOTES: &str =
    "---\nname: house-style\ndescription: How we write.\n---\nWrite short sentences.\n";

fn call(tool: &str, arguments: &str) -> String {
    calling("operator", &[(tool, arguments)])
}

fn skill(place: &Path, name: &str, text: &str) -> PathBuf {
    let directory = place.join(".agents/skills").join(name);
    std::fs::create_dir_all(directory.join("scripts")).unwrap();
    std::fs::write(directory.join("SKILL.md"), text).unwrap();
    directory
}

fn deploy(place: &Path) -> PathBuf {
    let directory = skill(place, "deploy", DEPLOY);
    std::fs::write(directory.join("scripts/deploy.sh"), SCRIPT).unwrap();
    directory
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_runs_confined_with_its_parameters_once_a_person_saw_it() {
    let script = call("skill_deploy", r#"{ place = "test" }"#);
    let lango = Lango::playing(&[TO_OPERATOR, &script]).await;
    let directory = deploy(&lango.path("user"));
    let allow = ["approvals", "add", "allow", "--tool", "skill_*"];
    assert_eq!(lango.command(&allow).run().await.code, 0);
    // No rule is enough for the first use.
    let turn = lango.ask("deploy it").turn().await;
    assert_eq!((turn.code, turn.results_with(CallStatus::Denied)), (3, 1));
    let asked = serde_json::to_string(&turn.events).unwrap();
    assert!(asked.contains("has not been used before") && asked.contains("echo x >> deployed"));
    let turn = lango.ask("deploy it").with(&["--approve", "all"]).turn().await;
    assert_eq!(turn.code, 0, "{:?}", turn.results());
    assert!(turn.answer().contains("to test with {\"place\":\"test\"}"), "{}", turn.answer());
    assert!(!directory.join("mark").exists(), "the skill itself cannot be written to");
    // As it is, it is known now, and the rule allows it.
    assert_eq!(lango.ask("deploy it").turn().await.code, 0);
    let deployed = std::fs::read_to_string(lango.workspace().join("deployed")).unwrap();
    assert_eq!(deployed, "x\nx\n");
    // Changed, it is a new one.
    std::fs::write(directory.join("scripts/deploy.sh"), "#!/bin/sh\ntouch evil\n").unwrap();
    let turn = lango.ask("deploy it").turn().await;
    assert_eq!((turn.code, turn.results_with(CallStatus::Denied)), (3, 1));
    assert!(!lango.workspace().join("evil").exists());
    assert!(serde_json::to_string(&turn.events).unwrap().contains("touch evil"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_question_cannot_show_whole_is_refused_until_it_was_read_in_full() {
    let padding = "# nothing to see here\n".repeat(4_000);
    let long = format!("#!/bin/sh\n{padding}echo x >> deployed\n").into_bytes();
    for content in [long, b"#!/bin/sh\necho x >> deployed\n# \xff\n".to_vec()] {
        let script = call("skill_deploy", r#"{ place = "test" }"#);
        let lango = Lango::playing(&[TO_OPERATOR, &script]).await;
        let directory = deploy(&lango.path("user"));
        std::fs::write(directory.join("scripts/deploy.sh"), &content).unwrap();
        let turn = lango.ask("deploy it").with(&["--approve", "all"]).turn().await;
        assert_eq!(turn.results_with(CallStatus::Refused), 1, "{:?}", turn.results());
        assert_eq!(turn.count("approval_requested"), 0);
        assert!(
            turn.results()[0].2.contains("lango skills approve deploy"),
            "{:?}",
            turn.results()
        );
        assert!(!lango.workspace().join("deployed").exists());
        let approved = lango.command(&["skills", "approve", "deploy"]).run().await;
        assert!(approved.code == 2 && approved.stderr.contains("--yes"), "{approved:?}");
        let approved = lango.command(&["skills", "approve", "deploy", "--yes"]).run().await;
        let shown = &approved.stdout;
        assert!(shown.contains("| echo x >> deployed") || shown.contains("SHA-256"), "{shown}");
        let turn = lango.ask("deploy it").with(&["--approve", "all"]).turn().await;
        assert_eq!(turn.code, 0, "{:?}", turn.results());
        assert!(lango.workspace().join("deployed").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_that_do_not_fit_never_reach_the_script() {
    for arguments in [r#"{ place = "moon" }"#, "{}", r#"{ place = "test", more = 1 }"#] {
        let lango = Lango::playing(&[TO_OPERATOR, &call("skill_deploy", arguments)]).await;
        deploy(&lango.path("user"));
        let turn = lango.ask("deploy it").with(&["--approve", "all"]).turn().await;
        assert_eq!(turn.results_with(CallStatus::Refused), 1, "{arguments}");
        assert!(!lango.workspace().join("deployed").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn instructions_are_text_and_bring_no_tools() {
    let script = call("skill_run", r#"{ name = "house-style" }"#);
    let lango = Lango::playing(&[TO_OPERATOR, &script]).await;
    skill(&lango.path("user"), "house-style", NOTES);
    let turn = lango.ask("how do we write?").with(&["--approve", "all"]).turn().await;
    assert!(turn.answer().contains("Write short sentences."), "{:?}", turn.results());
    let listed = lango.command(&["skills", "list"]).run().await;
    assert!(listed.stdout.contains("skill_house_style  allowed"), "{listed:?}");
    // Known by now, it is safe to read under its own name.
    let other = Lango::playing(&[TO_OPERATOR, &call("skill_house_style", "{}")]).await;
    let known = other.ask("how?").set("LANGO_HOME", lango.home()).set("HOME", lango.path("user"));
    let run = known.run().await;
    assert!(run.code == 0 && run.stdout.contains("Write short sentences."), "{run:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_projects_skills_wait_until_the_directory_is_trusted() {
    let lango =
        Lango::playing(&[TO_OPERATOR, &call("skill_deploy", r#"{ place = "test" }"#)]).await;
    deploy(&lango.workspace());
    let turn = lango.ask("deploy it").with(&["--approve", "all"]).turn().await;
    assert_eq!(turn.results_with(CallStatus::Refused), 1, "{:?}", turn.results());
    assert!(!lango.workspace().join("deployed").exists());
    let hint = lango.command(&["skills", "list"]).run().await;
    assert!(hint.stdout.contains("lango trust"), "{hint:?}");
    assert_eq!(lango.command(&["trust"]).run().await.code, 0);
    let turn = lango.ask("deploy it").with(&["--approve", "all"]).turn().await;
    assert_eq!(turn.code, 0, "{:?}", turn.results());
    assert!(lango.workspace().join("deployed").exists());
    assert_eq!(lango.command(&["trust", "--revoke"]).run().await.code, 0);
    let tools = lango.command(&["tools", "list"]).run().await;
    assert!(!tools.stdout.contains("skill_"), "{tools:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_skill_is_named_and_left_out() {
    let lango = Lango::silent().await;
    let user = lango.path("user");
    let front = |name: &str| format!("---\nname: {name}\ndescription: x\n---\n");
    for (directory, text, why) in [
        ("dots", front("../dots"), "single hyphens"),
        ("slash", front("a/b"), "single hyphens"),
        ("other", front("another"), "not that of its directory"),
        ("Upper", front("Upper"), "lower-case"),
        ("empty", "no front matter".to_owned(), "does not begin with ---"),
        ("open", "---\nname: open\n".to_owned(), "not closed"),
        (
            "missing",
            "---\nname: missing\ndescription: x\nmetadata:\n  run: ../x\n---\n".to_owned(),
            "no file in it",
        ),
    ] {
        skill(&user, directory, &text);
        let listed = lango.command(&["skills", "list"]).run().await.stdout;
        let line = listed.lines().find(|line| line.contains(&format!("/{directory}:")));
        assert!(line.is_some_and(|line| line.contains(why)), "{directory}: {listed}");
    }
    let linked = skill(&user, "linked", &front("linked"));
    std::os::unix::fs::symlink("/etc/passwd", linked.join("scripts/x.sh")).unwrap();
    let listed = lango.command(&["skills", "list"]).run().await.stdout;
    assert!(listed.contains("neither a file nor a directory"), "{listed}");
    assert_eq!(lango.command(&["tools", "list"]).run().await.stdout.matches("skill_").count(), 0);
}
