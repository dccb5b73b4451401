//! The agent for the A2A protocol's test kit, as the kit drives it: by the beginning of a message's id.

use serde_json::{Value, json};

use crate::running::RunningServer;

struct Kit {
    server: RunningServer,
    client: reqwest::Client,
}

impl Kit {
    async fn start() -> Self {
        // Only the first test of a process installs it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let server = RunningServer::start(env!("CARGO_BIN_EXE_lango-a2a-kit-server")).await;
        Self { server, client: reqwest::Client::builder().no_proxy().build().unwrap() }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.server.port)
    }

    async fn card(&self) -> Value {
        let answer = self.client.get(self.url(".well-known/agent-card.json")).send().await.unwrap();
        serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap()
    }

    async fn send(&self, message_id: &str, part: Value) -> Value {
        let message = json!({ "messageId": message_id, "role": "ROLE_USER", "parts": [part] });
        let params = json!({ "message": message });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params });
        let request = self.client.post(self.url("a2a")).header("A2A-Version", "1.0");
        let request = request.header("content-type", "application/json").body(body.to_string());
        let bytes = request.send().await.unwrap().bytes().await.unwrap();
        let mut answer: Value = serde_json::from_slice(&bytes).unwrap();
        answer["result"].take()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_card_is_one_of_1_0_alone_and_asks_for_no_token() {
    let kit = Kit::start().await;
    let card = kit.card().await;
    let versions = card["supportedInterfaces"].as_array().unwrap().iter();
    let versions: Vec<&Value> = versions.map(|interface| &interface["protocolVersion"]).collect();
    assert_eq!(versions, ["1.0", "1.0"]);
    for member in ["url", "protocolVersion", "preferredTransport", "securitySchemes"] {
        assert!(card.get(member).is_none(), "{member} in {card}");
    }
    assert_eq!(card["capabilities"]["pushNotifications"], true);
    assert!(kit.server.terminate().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_gets_what_the_kit_expects_of_its_id() {
    let kit = Kit::start().await;
    let text = json!({ "text": "hi" });
    let message = kit.send("tck-message-response-1", text.clone()).await;
    assert_eq!(message["message"]["parts"][0]["text"], "Direct message response");
    for (id, state) in [
        ("tck-reject-task-1", "TASK_STATE_REJECTED"),
        ("tck-input-required-1", "TASK_STATE_INPUT_REQUIRED"),
        ("tck-complete-task-1", "TASK_STATE_COMPLETED"),
    ] {
        let answer = kit.send(id, text.clone()).await;
        assert_eq!(answer["task"]["status"]["state"], state, "{answer}");
    }
    let answer = kit.send("tck-artifact-data-1", text.clone()).await;
    let part = &answer["task"]["artifacts"][0]["parts"][0];
    assert_eq!(part["data"], json!({ "key": "value", "count": 42 }), "{answer}");
    let answer = kit.send("tck-artifact-file-1", text).await;
    let part = &answer["task"]["artifacts"][0]["parts"][0];
    assert_eq!(
        (&part["filename"], &part["mediaType"]),
        (&json!("output.txt"), &json!("text/plain"))
    );
    let part = json!({ "raw": "aGk=", "mediaType": "application/x-unsupported-tck-type" });
    let answer = kit.send("tck-complete-task-2", part).await;
    assert_eq!(answer["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{answer}");
}
