//! What the vault is in a team, as whole turns with its real tools.

use lango_protocol::CallStatus;
use serde_json::Value;

use super::TO_VAULT;
use crate::fixture::{Lango, calling};

const TOOLS: [&str; 3] = ["crypto_sign", "secrets_get", "payment_send"];

/// Signs a text with a key, and checks the signature of another one.
const SIGNING: [(&str, &str); 3] = [
    ("crypto_create_key", "{ name = \"release\" }"),
    ("crypto_sign", "{ data = \"build 8841\", key = \"release\" }"),
    ("crypto_verify", "{ data = \"build 8842\", signature = \"8f3a\", key = \"release\" }"),
];

/// Document 000, "Multi-agent mode" and "All tool categories have tools": all seven are there.
/// "Vault gets crypto, secrets, and payment tools".
#[tokio::test(flavor = "multi_thread")]
async fn r03_r05_the_vault_is_in_the_team_and_owns_its_tools() {
    let lango = Lango::silent().await;
    let listed = lango.command(&["agents", "list"]).run().await;
    for name in
        ["operator", "navigator", "vault", "librarian", "automator", "planner", "chronicler"]
    {
        assert!(listed.stdout.contains(name), "{name}: {listed:?}");
    }
    let tools = lango.command(&["tools", "list", "--json"]).run().await;
    let tools: Vec<Value> = serde_json::from_str(&tools.stdout).unwrap();
    for name in TOOLS {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        assert_eq!(tool["owner"], "vault", "{tool}");
    }
    for tool in &tools {
        let name = tool["name"].as_str().unwrap();
        let is_vaults = ["crypto_", "secrets_", "payment_"].iter().any(|p| name.starts_with(p));
        assert_eq!(is_vaults, tool["owner"] == "vault", "{tool}");
    }
}

/// Document 000, "Vault description uses capabilities", "Tool-requiring task".
#[tokio::test(flavor = "multi_thread")]
async fn r08_r09_the_orchestrator_knows_the_capabilities_and_the_vault_does_the_task() {
    let lango = Lango::playing(&[TO_VAULT, &calling("vault", &SIGNING)]).await;
    let turn = lango.ask("sign build 8841").with(&["--approve", "all"]).turn().await;
    // The last of the calls finds that a signature is not valid.
    assert_eq!((turn.code, turn.author()), (8, "vault"), "{:?}", turn.results());
    assert_eq!(turn.transfers(), ["vault"]);
    assert_eq!(turn.results_with(CallStatus::Ok), 3, "{:?}", turn.results());
    assert!(turn.answer().contains("\"valid\":false"), "{}", turn.answer());
    let orchestrator = &lango.requests_of("lango-orchestrator")[0];
    let capabilities = "cryptography, secret management, blockchain payments (USDC on Base)";
    assert!(orchestrator.system().contains(capabilities), "{}", orchestrator.system());
    assert_eq!(orchestrator.tools(), ["transfer_to_agent"]);
    for name in TOOLS {
        assert!(!orchestrator.system().contains(name), "{name}");
        assert!(lango.requests_of("vault")[0].tools().contains(&name), "{name}");
        assert!(!turn.transfers().is_empty());
    }
}

/// The same work in the small team, whose executor owns every tool.
#[tokio::test(flavor = "multi_thread")]
async fn the_executor_of_the_compact_team_has_the_tools_of_the_vault() {
    let script = [TO_VAULT, &calling("vault", &SIGNING)].concat();
    let script = script.replace("\"vault\"", "\"executor\"");
    let lango = Lango::playing(&[&script]).await;
    let asked = lango.ask("sign build 8841").with(&["--approve", "all", "--topology", "compact"]);
    let turn = asked.turn().await;
    // The last of the calls finds that a signature is not valid.
    assert_eq!((turn.code, turn.author()), (8, "executor"), "{:?}", turn.results());
    assert_eq!(turn.results_with(CallStatus::Ok), 3, "{:?}", turn.results());
}

/// Document 000, "Multi-agent mode": an agent without tools of its kind is not created, and nothing is
/// routed to it.
#[tokio::test(flavor = "multi_thread")]
async fn a_team_without_tools_of_the_vault_has_no_vault() {
    let lango = Lango::playing(&[TO_VAULT, "[[reply]]\nsay = \"It cannot be done here.\"\n"]).await;
    let listed = lango.command(&["agents", "list"]).set("LANGO_VAULT_ENABLED", "false").run().await;
    assert!(listed.stdout.contains("Not created:\n  vault: no tool begins with"), "{listed:?}");
    let turn = lango.ask("sign build 8841").set("LANGO_VAULT_ENABLED", "false").turn().await;
    assert_eq!(turn.transfers(), Vec::<&str>::new());
    let orchestrator = &lango.requests_of("lango-orchestrator")[0];
    assert!(!orchestrator.system().contains("secret management"), "{}", orchestrator.system());
}

/// Document 004, "Rejection protocol": what is not the vault's goes back, and another agent does it.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_the_vault_rejects_goes_to_another_agent() {
    let script = format!(
        "{TO_VAULT}\n\
         [[reply]]\nagent = \"vault\"\nsay = \"[REJECT] this is about files\"\n\
         [[reply]]\nagent = \"lango-orchestrator\"\nresults = 1\n\
         call = [{{ name = \"transfer_to_agent\", arguments = {{ agent_name = \"operator\", task = \"List them.\" }} }}]\n\
         {}",
        calling("operator", &[("fs_list", "{}")])
    );
    let lango = Lango::playing(&[&script]).await;
    let turn = lango.ask("which files are here").turn().await;
    assert_eq!((turn.code, turn.author()), (0, "operator"), "{:?}", turn.results());
    assert_eq!(turn.transfers(), ["vault", "operator"]);
}
