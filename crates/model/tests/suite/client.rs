//! Tests servers that cannot be reached, do not answer, or refuse.

use std::time::Duration;

use lango_model::{ModelFault, RemoteModel, Wire};

use crate::hearing::{endpoint, receive};
use crate::raw_server::{self, Response};

#[tokio::test]
async fn a_refused_connection_is_reported_with_the_address_and_the_next_step() {
    for wire in Wire::ALL {
        let endpoint = endpoint(wire, "http://user:secret@127.0.0.1:9/v1");
        let received = receive(&RemoteModel::new(endpoint).unwrap()).await;
        assert_eq!(received.fault(), Some(ModelFault::Unreachable), "{received:?}");
        let error = received.error.unwrap().to_string();
        assert!(error.contains("127.0.0.1:9") && error.contains("lango models test"), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }
}

#[tokio::test]
async fn a_refusal_is_told_in_the_providers_words() {
    let server = raw_server::serve(|_, _| Response {
        status: 404,
        content_type: "application/json",
        chunks: vec![b"{\"error\":\"model 'model' not found, try pulling it first\"}".to_vec()],
    })
    .await;
    let received = receive(&RemoteModel::new(endpoint(Wire::Ollama, &server.url)).unwrap()).await;
    assert_eq!(received.fault(), Some(ModelFault::UnknownModel));
    assert!(received.error.unwrap().to_string().contains("try pulling it first"));
}

#[tokio::test]
async fn a_server_that_says_nothing_is_not_waited_for_for_ever() {
    // Takes connections and never answers.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut endpoint = endpoint(Wire::Anthropic, &url);
    endpoint.idle_timeout = Duration::from_millis(100);
    let received = receive(&RemoteModel::new(endpoint).unwrap()).await;
    assert_eq!(received.fault(), Some(ModelFault::Silent), "{received:?}");
}
