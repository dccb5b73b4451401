//! The tools of the vault, each asked for as a user asks, without a network.

use std::collections::BTreeSet;

use serde_json::json;

use super::{ask, calls};
use crate::fixture::Lango;

const RECIPIENT: &str = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_of_the_vault_is_called_with_what_the_user_said() {
    let pay = format!("pay 2 USDC to {RECIPIENT} for the dataset");
    let requests = [
        ("set secret MAPBOX_TOKEN", "secrets_set", json!({ "name": "MAPBOX_TOKEN" })),
        ("delete the secret github_token", "secrets_delete", json!({ "name": "github_token" })),
        ("give me a handle on slack_webhook", "secrets_get", json!({ "name": "slack_webhook" })),
        ("what secrets do you have stored?", "secrets_list", json!({})),
        ("hash this file: README.md", "crypto_hash", json!({ "path": "README.md" })),
        ("list my encryption keys", "crypto_keys", json!({})),
        (
            "create a new signing key called release-2026",
            "crypto_create_key",
            json!({ "name": "release-2026", "kind": "ed25519" }),
        ),
        ("encrypt README.md", "crypto_encrypt", json!({ "path": "README.md" })),
        ("decrypt sealed.md.enc", "crypto_decrypt", json!({ "path": "sealed.md.enc" })),
        (
            "sign README.md with release-2026",
            "crypto_sign",
            json!({ "path": "README.md", "key": "release-2026" }),
        ),
        (
            "verify sig aa77/09== on the message \"blue otter seventeen\"",
            "crypto_verify",
            json!({ "signature": "aa77/09==", "data": "blue otter seventeen" }),
        ),
        (
            pay.as_str(),
            "payment_send",
            json!({ "to": RECIPIENT, "amount": "2", "purpose": "the dataset" }),
        ),
        (
            "x402 fetch https://oracle.example.xyz/eth-usd max 0.002",
            "payment_fetch",
            json!({ "url": "https://oracle.example.xyz/eth-usd", "max_amount": "0.002" }),
        ),
        ("what's my balance", "payment_balance", json!({})),
        ("what's my daily spending limit?", "payment_limits", json!({})),
        ("what's my wallet address?", "payment_wallet", json!({})),
        ("list the last 3 payments", "payment_history", json!({ "limit": 3 })),
        ("create a wallet for me", "payment_create_wallet", json!({})),
    ];
    let lango = Lango::silent().await;
    std::fs::write(lango.workspace().join("sealed.md.enc"), "not encrypted").unwrap();
    // Everything is asked about and denied, and the chain is not there: what counts is what is called.
    let set = ["config", "set", "payment.rpcUrl", "http://127.0.0.1:9"];
    assert_eq!(lango.bare(&set).run().await.code, 0);
    let mut missed = Vec::new();
    for (request, tool, arguments) in &requests {
        let turn = ask(&lango, request).turn().await;
        let called = calls(&turn);
        if called != [(*tool, arguments.clone())] || turn.author() != "vault" {
            missed.push(format!("{request}: {called:?}, {}", turn.answer()));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
    // The table has each tool that there is.
    let listed = lango.bare(&["tools", "list", "--json"]).run().await;
    let listed: serde_json::Value = serde_json::from_str(&listed.stdout).unwrap();
    let owned = listed.as_array().unwrap().iter().filter(|tool| tool["owner"] == "vault");
    let owned: BTreeSet<&str> = owned.filter_map(|tool| tool["name"].as_str()).collect();
    let asked: BTreeSet<&str> = requests.iter().map(|(_, tool, _)| *tool).collect();
    assert_eq!((asked.len(), asked), (18, owned));
}
