//! Tests the channel to one origin.

use lango_egress::{Channel, EgressError, FetchError, Guard, HeaderMap, Method, Url};

use crate::support::{ScriptedResolver, Server, allowing, redirect, response};

async fn open(channel: &Channel, url: &str) -> Result<Vec<u8>, FetchError> {
    let url: Url = url.parse().unwrap();
    channel
        .open(Method::POST, &url, HeaderMap::new(), b"secret".to_vec())
        .await?
        .collect(1000)
        .await
}

#[tokio::test]
async fn the_body_comes_in_pieces_and_is_bounded() {
    let server = Server::answering(response(&"x".repeat(1001))).await;
    let guard = Guard::new(allowing(&[&server.address.to_string()]));
    let channel = Channel::new(guard, &server.url()).unwrap();
    let error = open(&channel, &server.url()).await.unwrap_err();
    assert!(matches!(error, FetchError::TooLong { max_bytes: 1000, .. }), "{error}");
    let url = server.url().parse().unwrap();
    let mut answer = channel.open(Method::GET, &url, HeaderMap::new(), Vec::new()).await.unwrap();
    let mut length = 0;
    while let Some(piece) = answer.piece().await.unwrap() {
        length += piece.len();
    }
    assert_eq!(length, 1001);
}

#[tokio::test]
async fn g6_nothing_is_sent_to_another_origin() {
    let other = Server::answering(response("secret")).await;
    let first = Server::answering(redirect(&other.url())).await;
    let places = [first.address.to_string(), other.address.to_string()];
    let guard = Guard::new(allowing(&places.each_ref().map(String::as_str)));
    let channel = Channel::new(guard, &first.url()).unwrap();
    for url in [first.url(), other.url(), first.url().replace("http:", "https:")] {
        let error = open(&channel, &url).await.unwrap_err();
        assert!(matches!(error, FetchError::Redirect { .. }), "{error}");
    }
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn the_address_of_each_connection_is_checked() {
    let server = Server::answering(response("hello")).await;
    let port = server.address.port();
    let private = Channel::new(Guard::new(allowing(&[])), &server.url()).unwrap();
    let error = open(&private, &server.url()).await.unwrap_err();
    assert!(matches!(error, FetchError::Egress(EgressError::Refused(_))), "{error}");
    // A name that leads somewhere else the second time.
    let rules = allowing(&[&format!("127.0.0.1:{port}")]);
    let guard = ScriptedResolver::guard(&[&["127.0.0.1"], &["127.0.0.2"]], rules);
    let url = format!("http://Rebind.Invalid.:{port}/");
    let channel = Channel::new(guard, &url).unwrap();
    assert_eq!(open(&channel, &url).await.unwrap(), b"hello");
    let error = open(&channel, &url).await.unwrap_err();
    assert!(error.to_string().contains("127.0.0.2"), "{error}");
}
