//! A model that wants to run more than it was allowed to. Threats A1, A2, A3, A5, A7 and A10.

use lango_protocol::CallStatus;

use crate::approvals::{question, run_once};
use crate::fixture::{Lango, TO_OPERATOR};

/// Returns whether a command runs where only these are allowed, with no user to ask.
async fn runs(allowed: &[&[&str]], command: &str) -> bool {
    let lango = Lango::playing(&[TO_OPERATOR, &run_once(command)]).await;
    for words in allowed {
        let added = [&["approvals", "add", "allow", "--"], *words].concat();
        assert_eq!(lango.command(&added).run().await.code, 0);
    }
    let turn = lango.ask("do it").turn().await;
    let ran = turn.count("tool_started") == 1;
    // Either it ran, or it was denied, recorded, and had no effect.
    assert_eq!(turn.results_with(CallStatus::Denied), usize::from(!ran), "{command}");
    assert_eq!(turn.count("approval_resolved"), 1, "{command}");
    assert!(ran || !lango.workspace().join("pwned").exists(), "{command}");
    ran
}

#[tokio::test(flavor = "multi_thread")]
async fn a1_what_follows_an_allowed_command_needs_its_own_permission() {
    let echo: &[&str] = &["echo", "*"];
    assert!(runs(&[echo], "echo hello").await, "the rule itself holds");
    assert!(runs(&[echo, &["cat", "README.md"]], "echo a && cat README.md | cat README.md").await);
    for command in [
        "echo a; touch pwned",
        "echo a && touch pwned",
        "echo a || touch pwned",
        "echo a | tee pwned",
        "echo a & touch pwned",
        "echo a\ntouch pwned",
        "echo a\r\ntouch pwned",
        "echo $(touch pwned)",
        "echo \"$(touch pwned)\"",
        "echo `touch pwned`",
        "echo <(touch pwned)",
        "echo a > pwned",
        "echo a >> pwned",
        "echo a >&2 > pwned",
        "cat <<X\n$(touch pwned)\nX",
        "echo ${x:-$(touch pwned)}",
        "echo $((`touch pwned`))",
        "if echo a; then touch pwned; fi",
        "for x in a; do touch pwned; done",
        "echo() { touch pwned; }; echo a",
        "alias echo='touch pwned'\necho a",
        "echo a # \\\ntouch pwned",
    ] {
        assert!(!runs(&[echo], command).await, "{command:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a2_a_wrapper_does_not_hide_what_it_runs() {
    let rules: &[&[&str]] = &[
        &["env", "*"],
        &["nice", "*"],
        &["timeout", "*"],
        &["xargs", "*"],
        &["find", "*"],
        &["awk", "*"],
        &["tar", "*"],
        &["git", "*"],
        &["ssh", "*"],
        &["busybox", "*"],
        &["sh", "*"],
        &["sed", "*"],
        &["echo", "*"],
    ];
    for command in [
        "env X=1 sh -c 'touch pwned'",
        "nice -n 5 touch pwned",
        "timeout 5 touch pwned",
        "echo pwned | xargs touch",
        "find . -maxdepth 0 -exec touch pwned ';'",
        "awk 'BEGIN { system(\"touch pwned\") }'",
        "tar -cf /dev/null --checkpoint=1 --checkpoint-action=exec='touch pwned' README.md",
        "git -c core.pager='touch pwned' log",
        "git -c alias.x='!touch pwned' x",
        "ssh -o ProxyCommand='touch pwned' nowhere",
        "busybox sh -c 'touch pwned'",
        "sh -c 'touch pwned'",
        "sed '1e touch pwned' README.md",
        "echo 'touch pwned' | sh",
    ] {
        assert!(!runs(rules, command).await, "{command:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a3_always_is_for_the_command_and_not_for_its_interpreter() {
    let first = Lango::playing(&[TO_OPERATOR, &run_once("sh -c 'echo hello'")]).await;
    let mut session = first.at_terminal("run 'do it'").start_typing();
    session.answer("a\n").await;
    let typed = session.finish().await;
    assert_eq!(typed.code, 0, "{}", typed.stdout);
    assert_eq!(first.ask("do it").turn().await.code, 0, "the same again");
    for command in ["sh -c 'touch pwned'", "sh -c 'echo hello; touch pwned'", "sh -c 'echo bye'"] {
        let other = Lango::playing(&[TO_OPERATOR, &run_once(command)]).await;
        let workspace = first.workspace().display().to_string();
        let ask = other.ask("do it").with(&["--workspace", &workspace]);
        let run = ask.set("LANGO_HOME", first.home()).run().await;
        assert_eq!(run.code, 3, "{command}: {run:?}");
        assert!(!first.workspace().join("pwned").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a5_a_script_that_changes_between_the_question_and_the_run_does_not_run() {
    let lango = Lango::playing(&[TO_OPERATOR, &run_once("sh deploy.sh")]).await;
    let script = lango.workspace().join("deploy.sh");
    std::fs::write(&script, "echo harmless\n").unwrap();
    let running = lango.ask("deploy").with(&["--approve", "wait"]).start();
    let id = question(&lango).await;
    let shown = lango.command(&["approvals", "show", &id]).run().await.stdout;
    assert!(shown.contains("| echo harmless"), "{shown}");
    std::fs::write(&script, "touch pwned\n").unwrap();
    assert_eq!(lango.command(&["approvals", "approve", &id]).run().await.code, 0);
    let turn = running.turn().await;
    assert_eq!(turn.results_with(CallStatus::Refused), 1, "{:?}", turn.results());
    assert!(turn.results()[0].2.contains("deploy.sh has changed"), "{:?}", turn.results());
    assert_eq!(turn.count("tool_started"), 0);
    assert!(!lango.workspace().join("pwned").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a7_an_answer_is_for_one_question_of_one_session() {
    let lango = Lango::playing(&[TO_OPERATOR, &run_once("echo x >> made")]).await;
    let first = lango.ask("one").with(&["--session", "one", "--approve", "wait"]).start();
    let id = question(&lango).await;
    assert_eq!(lango.command(&["approvals", "approve", &id]).run().await.code, 0);
    assert_eq!(first.turn().await.code, 0);
    // The same call in another session, and again in the same one, is another question.
    for session in ["two", "one"] {
        let turn = lango.ask("again").with(&["--session", session]).turn().await;
        assert_eq!(turn.code, 3, "{session}");
    }
    let made = std::fs::read_to_string(lango.workspace().join("made")).unwrap();
    assert_eq!(made, "x\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a10_a_command_cannot_answer_for_the_person() {
    let lango = env!("CARGO_BIN_EXE_lango");
    let answer = format!(
        "for id in $({lango} approvals list --json | grep -o '\"id\": \"[^\"]*' | cut -d'\"' -f4); \
         do {lango} approvals approve $id; done; {lango} approvals add allow --tool '*'; \
         {lango} config set approvals.rules '[]'; {lango} trust; true"
    );
    let lango = Lango::playing(&[TO_OPERATOR, &run_once(&answer)]).await;
    std::fs::write(lango.config_file(), "[budget]\nseconds = 900\n").unwrap();
    let turn = lango.ask("look").with(&["--approve", "all"]).turn().await;
    assert_eq!(turn.code, 0, "{:?}", turn.results());
    let rules = lango.command(&["approvals", "list", "--json"]).run().await.stdout;
    let rules: serde_json::Value = serde_json::from_str(&rules).unwrap();
    assert!(rules["rules"].as_array().unwrap().is_empty(), "{rules}");
    let config = std::fs::read_to_string(lango.config_file()).unwrap();
    assert_eq!(config, "[budget]\nseconds = 900\n");
    // And no tool is there for it.
    let script = r#"
[[reply]]
agent = "operator"
results = 0
call = [{ name = "approve", arguments = { id = "1" } }, { name = "lango_approvals", arguments = {} }]
[[reply]]
agent = "operator"
say = "I tried."
"#;
    let lango = Lango::playing(&[TO_OPERATOR, script]).await;
    let turn = lango.ask("look").turn().await;
    assert_eq!(turn.results_with(CallStatus::Refused), 2, "{:?}", turn.results());
}
