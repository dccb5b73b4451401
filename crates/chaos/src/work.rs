//! The clients: they send requests until the faults are over, and repeat each until it is accepted.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::check::AcceptedRequest;
use crate::client::post;
use crate::fleet::TOKEN;
use crate::random::Random;
use crate::stage::{LANES, REQUESTS_IN_LANE, Stage, request_name};

/// How long everything that was accepted may take to end once there are no more faults.
const END_TIMEOUT: Duration = Duration::from_mins(3);

/// Has each lane send its requests until no more faults happen. Returns what was accepted.
pub(crate) async fn send_until_calm(stage: &Stage, seed: u64) -> Vec<AcceptedRequest> {
    let lanes = (0..LANES).map(|lane| async move {
        let random = Random::new(seed.wrapping_add(1 + lane as u64));
        let mut client = LaneClient { stage, lane, random, context: None };
        client.send_all().await
    });
    join_all(lanes).await.concat()
}

/// Waits until the journal of everything that was accepted has an end.
pub(crate) async fn wait_for_ends(stage: &Stage, accepted: &[AcceptedRequest]) {
    let begin = Instant::now();
    while begin.elapsed() < END_TIMEOUT {
        if let Ok(observed) = stage.observe(accepted.to_vec()).await
            && !crate::check::check(&observed).has_lost()
        {
            return;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// The client of one conversation. Even lanes speak A2A, odd ones the OpenAI API with a key.
struct LaneClient<'a> {
    stage: &'a Stage,
    lane: usize,
    random: Random,
    /// The context of the conversation, once a server gave it.
    context: Option<String>,
}

impl LaneClient<'_> {
    async fn send_all(&mut self) -> Vec<AcceptedRequest> {
        let mut accepted = Vec::new();
        for number in 0..REQUESTS_IN_LANE {
            let name = request_name(self.lane, number);
            // Requests with a key are conversations of their own, and have no order.
            let lane = if self.lane.is_multiple_of(2) {
                self.lane
            } else {
                LANES + accepted.len() * LANES + self.lane
            };
            if *self.stage.calm.borrow() {
                break;
            }
            while !self.send(&name).await {
                tokio::time::sleep(self.random.milliseconds(20..300)).await;
            }
            accepted.push(AcceptedRequest { name, lane });
        }
        accepted
    }

    /// Returns the address of one of the servers, if it runs.
    fn choose_server(&mut self) -> Option<SocketAddr> {
        let index = usize::try_from(self.random.below(self.stage.fleet.len() as u64)).unwrap_or(0);
        self.stage.fleet.address(index)
    }

    /// Sends a request to one of the servers, or one with a key to two of them at once. Returns whether
    /// it was accepted.
    async fn send(&mut self, name: &str) -> bool {
        let Some(address) = self.choose_server() else { return false };
        let authorization = format!("Bearer {TOKEN}");
        let text = format!("Please do {name}");
        if self.lane.is_multiple_of(2) {
            let mut message =
                json!({ "messageId": name, "role": "ROLE_USER", "parts": [{ "text": text }] });
            if let Some(context) = &self.context {
                message["contextId"] = json!(context);
            }
            // Half of them wait for the end, the others send the next one meanwhile.
            let immediately = self.random.below(2) == 0;
            let configuration = json!({ "returnImmediately": immediately });
            let params = json!({ "message": message, "configuration": configuration });
            let body =
                json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params });
            let headers = [("authorization", authorization.as_str()), ("a2a-version", "1.0")];
            let Ok((200, answer)) = post(address, "/a2a", &headers, &body).await else {
                return false;
            };
            self.note_context(&answer)
        } else {
            let body = json!({
                "model": "lango",
                "messages": [{ "role": "user", "content": text }],
            });
            let headers = [("authorization", authorization.as_str()), ("idempotency-key", name)];
            let second = self.choose_server().filter(|_| self.random.below(2) == 0);
            let send = async |address| {
                let sent = post(address, "/v1/chat/completions", &headers, &body).await;
                matches!(sent, Ok((200, _)))
            };
            match second {
                None => send(address).await,
                Some(second) => {
                    let (first, second) = tokio::join!(send(address), send(second));
                    first || second
                }
            }
        }
    }

    /// Keeps the context of the conversation. Returns whether the answer is a task.
    fn note_context(&mut self, answer: &Value) -> bool {
        let task = &answer["result"]["task"];
        if let Some(context) = task["contextId"].as_str() {
            self.context = Some(context.to_owned());
        }
        task["id"].is_string()
    }
}
