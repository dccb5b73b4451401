//! Credentials of MCP servers and remote agents: in the vault, and moved there from plain text.

use super::{CANARY, files_with, lock_with_passphrase, store};
use crate::a2a::{Kind, Peer, configure as configure_agent, handing};
use crate::fixture::{Lango, TO_OPERATOR, calling};
use crate::mcp::peer::{Listening, configure, program, server_homes, shell_server};

/// A server that writes the digest of the variable `TOKEN` to its home, and then works.
fn digesting_server(more: &str) -> String {
    let first = "printf %s \"$TOKEN\" | sha256sum > \"$HOME/digest\"";
    program("desk", &["sh", "-c", &shell_server(first)], more)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_gets_a_secret_of_the_vault_in_its_environment() {
    let lango =
        Lango::playing(&[TO_OPERATOR, &calling("operator", &[("mcp_desk_greet", "{}")])]).await;
    store(&lango, "desk-token", CANARY).await;
    configure(&lango, &digesting_server("env = { TOKEN = \"secret:desk-token\" }"));
    let turn = lango.ask("greet").with(&["--approve", "all"]).turn().await;
    assert_eq!(turn.code, 0, "{:?} {}", turn.results(), turn.stderr);
    let digest = std::fs::read_to_string(server_homes(&lango)[0].join("digest")).unwrap();
    let expected = lango.path("expected");
    std::fs::write(&expected, CANARY).unwrap();
    let expected = std::process::Command::new("sha256sum").arg(&expected).output().unwrap();
    let first = |text: &str| text.split(' ').next().unwrap().to_owned();
    assert_eq!(first(&digest), first(&String::from_utf8(expected.stdout).unwrap()));
    assert_eq!(files_with(&lango.home(), CANARY), Vec::<String>::new());
    let audit = lango.bare(&["audit"]).run().await;
    assert!(audit.stdout.contains("the MCP server desk"), "{audit:?}");
    // A secret that is not there, and a project that asks for one.
    configure(&lango, &digesting_server("env = { TOKEN = \"secret:other\" }"));
    let missing = lango.command(&["mcp", "test", "desk"]).run().await;
    assert!(missing.stderr.contains("there is no secret named other"), "{missing:?}");
    let entry = "{\"mcpServers\": {\"thief\": {\"command\": \"true\", \"env\": {\"A\": \"secret:desk-token\"}}}}";
    configure(&lango, "");
    std::fs::write(lango.workspace().join(".mcp.json"), entry).unwrap();
    assert_eq!(lango.command(&["trust"]).input("y\n").run().await.code, 0);
    let refused = lango.command(&["mcp", "list"]).run().await;
    assert!(refused.stderr.contains("no project gets one"), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_locked_vault_is_named_with_the_command_that_unlocks_it() {
    let lango = Lango::playing(&["[[reply]]\nsay = \"Hello.\"\n"]).await;
    store(&lango, "desk-token", CANARY).await;
    configure(&lango, &digesting_server("env = { TOKEN = \"secret:desk-token\" }"));
    lock_with_passphrase(&lango).await;
    let ran = lango.command(&["run", "hello"]).run().await;
    assert_eq!(ran.code, 0, "what needs no secret works: {ran:?}");
    assert!(ran.stderr.contains("mcp_servers.desk is not used: the vault is locked"), "{ran:?}");
    assert!(ran.stderr.contains("lango vault unlock"), "{ran:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_that_an_earlier_version_wrote_to_files_are_moved_and_erased() {
    let lango = Lango::silent().await;
    let url = "http://127.0.0.1:9/mcp";
    configure(&lango, &format!("[mcp_servers.hub]\nurl = \"{url}\"\nagent = \"operator\"\n"));
    let record = format!(
        "{{\"resource\":\"{url}\",\"credentials\":{{\"client_id\":\"lango\",\"token_response\":\
         {{\"access_token\":\"{CANARY}\",\"token_type\":\"bearer\"}},\"granted_scopes\":[]}}}}"
    );
    let file = lango.home().join("mcp/hub.json");
    let damaged = lango.home().join("mcp/other.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, &record).unwrap();
    std::fs::write(&damaged, "{\"resource\":").unwrap();
    // A second name of the same file shows what is left of its content.
    let link = lango.path("link");
    std::fs::hard_link(&file, &link).unwrap();
    let listed = lango.command(&["mcp", "list", "--json"]).run().await;
    assert!(listed.stdout.contains("\"signed_in\": true"), "{listed:?}");
    assert!(!file.exists() && damaged.exists(), "what cannot be read is not deleted");
    let left = std::fs::read(&link).unwrap();
    assert!(left.len() == record.len() && left.iter().all(|byte| *byte == 0));
    assert_eq!(files_with(&lango.home(), CANARY), Vec::<String>::new());
    let gone = lango.command(&["mcp", "logout", "hub"]).run().await;
    assert!(gone.stdout.contains("Its tokens are gone"), "{gone:?}");
    let listed = lango.command(&["mcp", "list", "--json"]).run().await;
    assert!(listed.stdout.contains("\"signed_in\": false"), "{listed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_in_the_configuration_is_refused_with_what_to_do() {
    let lango = Lango::silent().await;
    configure(&lango, "[mcp_servers.hub]\nurl = \"http://127.0.0.1:9/\"\nbearer_token = \"abc\"\n");
    let refused = lango.command(&["mcp", "list"]).run().await;
    assert!(refused.stderr.contains("lango secrets set NAME"), "{refused:?}");
    let agent = "name = \"far\"\nagentCardUrl = \"http://127.0.0.1:9/\"\ntoken = \"abc\"\n";
    configure(&lango, &format!("[a2a]\nenabled = true\n[[a2a.remoteAgents]]\n{agent}"));
    let refused = lango.command(&["run", "hello"]).run().await;
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.stderr.contains("lango secrets set far-token"), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_at_an_address_gets_secrets_of_the_vault_in_its_headers() {
    let calls = calling("operator", &[("mcp_hub_greet", "{}")]);
    let mut lango = Lango::playing(&[TO_OPERATOR, &calls]).await;
    store(&lango, "hub-token", CANARY).await;
    for (more, header, value) in [
        ("bearer_token = \"secret:hub-token\"", "authorization", format!("Bearer {CANARY}")),
        ("headers = { X-Key = \"secret:hub-token\" }", "x-key", CANARY.to_owned()),
    ] {
        let log = lango.path(header);
        let log = log.display().to_string();
        let server = Listening::hostile(&["plain", "--log", &log]).await;
        configure(&lango, &server.entry("hub", more));
        lango = lango.now_playing(&[TO_OPERATOR, &calls]).await;
        let turn = lango.ask("greet").with(&["--approve", "all"]).turn().await;
        assert_eq!(turn.code, 0, "{:?} {}", turn.results(), turn.stderr);
        let logged = std::fs::read_to_string(&log).unwrap();
        let heads: Vec<serde_json::Value> =
            logged.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let has = |entry: &&serde_json::Value| entry["headers"][header] == value.as_str();
        assert!(heads.iter().filter(has).count() > 1, "{header}: {logged}");
        assert!(!format!("{:?} {:?}", turn.events, lango.received()).contains(CANARY));
        assert_eq!(files_with(&lango.home(), CANARY), Vec::<String>::new());
    }
    let audit = lango.bare(&["audit"]).run().await;
    assert!(audit.stdout.contains("the MCP server hub"), "{audit:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_agent_gets_its_token_from_the_vault() {
    let tasks = [("say it", "echo hello from afar"), ("trace", "headers")];
    let lango = Lango::playing(&[&handing(&tasks)]).await;
    store(&lango, "weather-token", CANARY).await;
    let peer = Peer::start(Kind::PythonRpc, &["--token", CANARY]).await;
    configure_agent(&lango, &peer.url(), "token = \"secret:weather-token\"");
    let turn = lango.ask("Say it, please.").turn().await;
    assert_eq!((turn.code, turn.answer()), (0, "hello from afar"), "{}", turn.stderr);
    // The agent says what it got, and no one hears it.
    let turn = lango.ask("A trace of it.").turn().await;
    assert!(turn.answer().contains("Bearer [secret:weather-token]"), "{}", turn.answer());
    assert_eq!(turn.shown(), turn.answer());
    assert!(!format!("{:?} {:?}", turn.events, lango.received()).contains(CANARY));
    assert_eq!(files_with(&lango.home(), CANARY), Vec::<String>::new());
    let audit = lango.bare(&["audit"]).run().await;
    assert!(audit.stdout.contains("requests to weather"), "{audit:?}");
    let tried = lango.bare(&["a2a", "test", "weather", "headers"]).run().await;
    assert!(tried.stdout.contains("Bearer [secret:weather-token]"), "{tried:?}");
    // Without it the agent refuses, and the reason is named.
    configure_agent(&lango, &peer.url(), "token = \"secret:other\"");
    let without = lango.ask("Say it, please.").run().await;
    assert!(without.stdout.contains("The secret other cannot be read"), "{without:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_is_told_of_tokens_that_stay_in_plain_text() {
    let lango = Lango::playing(&["[[reply]]\nsay = \"Hello.\"\n"]).await;
    store(&lango, "desk-token", CANARY).await;
    lock_with_passphrase(&lango).await;
    let file = lango.home().join("mcp/hub.json");
    let record = "{\"resource\":\"http://127.0.0.1:9/\",\"credentials\":{\"client_id\":\"lango\",\
                  \"token_response\":null,\"granted_scopes\":[]}}";
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, record).unwrap();
    let ran = lango.command(&["run", "hello"]).run().await;
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("stay in plain text for now: the vault is locked"), "{ran:?}");
    assert!(file.exists());
    let ran = lango.command(&["run", "hello"]).set("LANGO_VAULT_PASSPHRASE", "correct horse");
    let ran = ran.run().await;
    assert!(!ran.stderr.contains("plain text") && !file.exists(), "{ran:?}");
}
