//! Tests the card: built from the existing agents, cacheable, signed, and extended for callers.

use a2a::AgentCard;
use lango_a2a::signature::{CardSigner, SignatureError, verify_card};
use reqwest::Method;
use serde_json::{Value, json};

use crate::fixture::{Server, ServerOptions};

const PATH: &str = "/.well-known/agent-card.json";

async fn card(server: &Server) -> Value {
    let answer = server.raw(Method::GET, PATH).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_card_says_what_there_is() {
    let (server, _directory) = Server::new().await;
    let card = card(&server).await;
    let typed: AgentCard = serde_json::from_value(card.clone()).unwrap();
    assert_eq!((typed.name.as_str(), typed.version.as_str()), ("Lango", "1.2.3"));
    let skills: Vec<&str> = typed.skills.iter().map(|skill| skill.id.as_str()).collect();
    assert_eq!(skills, ["operator", "planner"]);
    assert!(
        typed.skills.iter().all(|skill| !skill.tags.is_empty() && !skill.description.is_empty())
    );
    let interfaces: Vec<(&str, &str)> = typed
        .supported_interfaces
        .iter()
        .map(|interface| (interface.protocol_binding.as_str(), interface.protocol_version.as_str()))
        .collect();
    assert_eq!(interfaces, [("JSONRPC", "1.0"), ("HTTP+JSON", "1.0"), ("JSONRPC", "0.3")]);
    assert!(
        typed.supported_interfaces.iter().all(|interface| interface.url.starts_with(&server.url))
    );
    // The members that clients of 0.3 look for are in the same document.
    assert_eq!(card["url"], json!(format!("{}/a2a", server.url)));
    assert_eq!(card["protocolVersion"], "0.3.0");
    // Names of tools are not public.
    assert!(!card.to_string().contains("exec_touch"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn caches_are_served() {
    let (server, _directory) = Server::new().await;
    let answer = server.raw(Method::GET, PATH).send().await.unwrap();
    let headers = answer.headers().clone();
    assert!(headers["cache-control"].to_str().unwrap().contains("max-age="));
    assert!(headers.contains_key("last-modified"));
    let again = server.raw(Method::GET, PATH).header("if-none-match", &headers["etag"]);
    let again = again.send().await.unwrap();
    assert_eq!(
        (again.status().as_u16(), again.headers()["etag"].clone()),
        (304, headers["etag"].clone())
    );
    assert!(again.bytes().await.unwrap().is_empty());
    let changed =
        server.raw(Method::GET, PATH).header("if-none-match", "\"other\"").send().await.unwrap();
    assert_eq!(changed.status(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_get_more_where_they_have_to_prove_themselves() {
    let (open, _directory) = Server::new().await;
    assert_eq!(card(&open).await["capabilities"]["extendedAgentCard"], false);
    assert_eq!(open.rpc_error("GetExtendedAgentCard", json!({})).await, -32004);
    let (server, _directory) =
        Server::with_options(ServerOptions { bearer: true, ..ServerOptions::default() }).await;
    let public = card(&server).await;
    assert_eq!(public["capabilities"]["extendedAgentCard"], true);
    assert_eq!(public["securitySchemes"]["bearer"]["httpAuthSecurityScheme"]["scheme"], "Bearer");
    assert_eq!(public["securityRequirements"], json!([{ "schemes": { "bearer": {} } }]));
    let extended = server.rpc("GetExtendedAgentCard", json!({})).await;
    assert_eq!(server.http("GET", "extendedAgentCard", None).await, (200, extended.clone()));
    let operator = |card: &Value| card["skills"][0]["description"].as_str().unwrap().to_owned();
    assert!(operator(&extended).starts_with(&operator(&public)));
    assert!(operator(&extended).len() > operator(&public).len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signed_card_can_be_checked_by_who_reads_all_of_it_and_who_reads_types() {
    let directory = tempfile::tempdir().unwrap();
    let signer = CardSigner::generate(&directory.path().join("key")).unwrap();
    let keys = [signer.key().clone()];
    let options = ServerOptions { signer: Some(signer), bearer: true, ..ServerOptions::default() };
    let (server, _directory) = Server::with_options(options).await;
    let card = card(&server).await;
    assert_eq!(verify_card(&card, &keys).unwrap(), keys[0].key_id);
    let typed: AgentCard = serde_json::from_value(card.clone()).unwrap();
    let typed = serde_json::to_value(typed).unwrap();
    assert_eq!(verify_card(&typed, &keys).unwrap(), keys[0].key_id);
    let mut changed = card.clone();
    changed["supportedInterfaces"][0]["url"] = json!("https://evil.example/");
    assert!(matches!(verify_card(&changed, &keys), Err(SignatureError::Wrong(_))));
    let extended = server.rpc("GetExtendedAgentCard", json!({})).await;
    assert_eq!(verify_card(&extended, &keys).unwrap(), keys[0].key_id);
}
