//! Tests what holds for every HTTP client.

use std::time::Duration;

use lango_egress::{BodyError, HttpClientBuilder, Rules, Url, read_body};

use crate::support::{ScriptedResolver, Server, redirect, response};

#[tokio::test]
async fn a_configured_address_is_reached_and_its_redirects_are_not_followed() {
    let other = Server::answering(response("another")).await;
    let server = Server::answering(redirect(&other.url())).await;
    let url: Url = server.url().parse().unwrap();
    let client = HttpClientBuilder::for_configured_address().build_for(&url).unwrap();
    let answer = client.get(url).send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 302);
    assert_eq!((server.connections(), other.connections()), (1, 0));
}

#[tokio::test]
async fn a_guarded_client_connects_only_where_the_guard_says() {
    let server = Server::answering(response("secret")).await;
    let guard = ScriptedResolver::guard(&[&["127.0.0.1"]], Rules::default());
    let url: Url = format!("http://example.org:{}/", server.address.port()).parse().unwrap();
    let client = HttpClientBuilder::guarded(guard).build_for(&url).unwrap();
    assert!(client.get(url).send().await.is_err());
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_server_that_says_nothing_is_waited_for_until_the_timeout() {
    let server = Server::stalling(Vec::new()).await;
    let url: Url = server.url().parse().unwrap();
    let client = HttpClientBuilder::for_configured_address()
        .total_timeout(Duration::from_millis(100))
        .build_for(&url)
        .unwrap();
    assert!(client.get(url).send().await.unwrap_err().is_timeout());
}

#[tokio::test]
async fn a_body_is_read_up_to_its_limit() {
    let server = Server::answering(response("hello")).await;
    let url: Url = server.url().parse().unwrap();
    let client = HttpClientBuilder::for_configured_address().build_for(&url).unwrap();
    let answer = || async { client.get(url.clone()).send().await.unwrap() };
    assert_eq!(read_body(answer().await, 5).await.unwrap(), b"hello");
    let error = read_body(answer().await, 4).await.unwrap_err();
    assert!(matches!(error, BodyError::TooLong { max_bytes: 4 }), "{error}");
}
