//! Fetches of our own.

use std::time::Duration;

use lango_egress::{
    ClientLimits, EgressError, FetchError, Guard, GuardedClient, RedirectScope, Refusal, Rules,
};

use crate::support::{ScriptedResolver, Server, allowing, redirect, response};

fn client(rules: Rules) -> GuardedClient {
    GuardedClient::new(Guard::new(rules), ClientLimits::default())
}

#[tokio::test]
async fn an_allowed_page_is_fetched() {
    let server = Server::answering(response("hello")).await;
    let client = client(allowing(&[&server.address.to_string()]));
    let fetched = client.get(&server.url()).await.unwrap();
    assert_eq!((fetched.status.as_u16(), fetched.body.as_slice()), (200, b"hello".as_slice()));
}

#[tokio::test]
async fn c2_every_hop_is_checked() {
    let other = Server::answering(response("secret")).await;
    for target in [
        other.url(),
        format!("http://localhost:{}/", other.address.port()),
        "http://169.254.169.254/latest/".to_owned(),
        "file:///etc/passwd".to_owned(),
        "ws://example.org/".to_owned(),
    ] {
        let first = Server::answering(redirect(&target)).await;
        let client = client(allowing(&[&first.address.to_string()]));
        let error = client.get(&first.url()).await.unwrap_err();
        assert!(matches!(error, FetchError::Egress(EgressError::Refused(_))), "{target}: {error}");
    }
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn names_are_looked_up_once_and_only_by_the_guard() {
    let server = Server::answering(response("hello")).await;
    let port = server.address.port();
    let rules = allowing(&[&format!("127.0.0.1:{port}")]);
    let guard = ScriptedResolver::guard(&[&["127.0.0.1"], &["127.0.0.2"]], rules);
    let client = GuardedClient::new(guard, ClientLimits::default());
    // No other resolver knows this name, and the dot at its end changes nothing.
    let fetched = client.get(&format!("http://Rebind.Invalid.:{port}/")).await.unwrap();
    assert_eq!(fetched.body, b"hello");
    let error = client.get(&format!("http://rebind.invalid:{port}/")).await.unwrap_err();
    let is_refused =
        matches!(error, FetchError::Egress(EgressError::Refused(Refusal::Address { .. })));
    assert!(is_refused, "{error}");
}

#[tokio::test]
async fn c7_bombs_circles_and_silence_are_bounded() {
    let bomb = Server::answering(response(&"x".repeat(200_000))).await;
    let circle = Server::answering(redirect("/again")).await;
    let silent = Server::stalling("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx").await;
    let places = [bomb.address, circle.address, silent.address].map(|address| address.to_string());
    let guard = Guard::new(allowing(&places.each_ref().map(String::as_str)));
    let limits = ClientLimits { bytes: 100_000, redirects: 3, ..ClientLimits::default() };
    let client = GuardedClient::new(guard.clone(), limits.clone());
    let error = client.get(&bomb.url()).await.unwrap_err();
    assert!(matches!(error, FetchError::TooLong { max_bytes: 100_000, .. }), "{error}");
    let error = client.get(&circle.url()).await.unwrap_err();
    assert!(error.to_string().contains("more than 3 redirects"), "{error}");
    assert_eq!(circle.connections(), 4);
    let hasty = ClientLimits { time: Duration::from_millis(300), ..limits };
    let error = GuardedClient::new(guard, hasty).get(&silent.url()).await.unwrap_err();
    assert!(matches!(error, FetchError::TooSlow { .. }), "{error}");
}

#[tokio::test]
async fn what_was_posted_is_not_sent_to_another_host() {
    let other = Server::answering(response("")).await;
    let first = Server::answering(redirect(&other.url())).await;
    let places = [first.address.to_string(), other.address.to_string()];
    let client = client(allowing(&places.each_ref().map(String::as_str)));
    let (method, url) = ("POST".parse().unwrap(), first.url());
    let sent = client.send(method, &url, lango_egress::HeaderMap::new(), b"body".to_vec());
    let error = sent.await.unwrap_err();
    assert!(matches!(error, FetchError::Redirect { .. }), "{error}");
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn a_fetch_of_one_site_is_not_led_to_another() {
    let other = Server::answering(response("secret")).await;
    let first = Server::answering(redirect(&other.url())).await;
    let places = [first.address.to_string(), other.address.to_string()];
    let client = client(allowing(&places.each_ref().map(String::as_str)));
    assert_eq!(client.get(&first.url()).await.unwrap().body, b"secret");
    let client = client.with_redirects(RedirectScope::SameSite);
    let before = other.connections();
    let error = client.get(&first.url()).await.unwrap_err();
    assert!(error.to_string().contains(&format!("leads to {}", other.url())), "{error}");
    assert_eq!(other.connections(), before);
    // Within the site they are followed.
    let circle = Server::answering(redirect("/again")).await;
    let rules = allowing(&[circle.address.to_string().as_str()]);
    let client = self::client(rules).with_redirects(RedirectScope::SameSite);
    let error = client.get(&circle.url()).await.unwrap_err();
    assert!(error.to_string().contains("more than 5 redirects"), "{error}");
}
