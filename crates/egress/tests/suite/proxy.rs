//! Tests the proxy from a client's side.

use std::time::Duration;

use lango_egress::{Guard, Proxy, ProxyLimits, Rules};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::support::{Server, TEST_TIMEOUT, allowing, redirect, response};

async fn proxy_for(rules: Rules) -> Proxy {
    Proxy::start(Guard::new(rules), ProxyLimits::default()).await.unwrap()
}

fn authorization(proxy: &Proxy) -> String {
    use base64::Engine as _;
    let credentials = proxy.credentials();
    let pair = format!("{}:{}", credentials.user(), credentials.password());
    let encoded = base64::prelude::BASE64_STANDARD.encode(pair);
    format!("Proxy-Authorization: Basic {encoded}\r\n")
}

/// Sends a head and reads until the connection ends.
async fn exchange(proxy: &Proxy, head: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", proxy.port())).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // A connection that was cut off may end with an error.
    let _ = timeout(TEST_TIMEOUT, stream.read_to_end(&mut answer)).await.expect("the proxy hangs");
    String::from_utf8_lossy(&answer).into_owned()
}

async fn get(proxy: &Proxy, url: &str) -> String {
    let authorization = authorization(proxy);
    let head = format!(
        "GET {url} HTTP/1.1\r\nHost: other-host\r\n{authorization}Connection: close\r\n\r\n"
    );
    exchange(proxy, &head).await
}

#[tokio::test]
async fn an_allowed_page_comes_through_and_nothing_else_does() {
    let (good, other) = (Server::answering(response("hello")).await, Server::answering("").await);
    let proxy = proxy_for(allowing(&[&good.address.to_string()])).await;
    let answer = get(&proxy, &good.url()).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("hello"), "{answer}");
    assert!(proxy.take_blocked().is_empty());

    for url in [
        other.url(),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        format!("http://localhost:{}/", other.address.port()),
        format!("http://[::ffff:127.0.0.1]:{}/", other.address.port()),
        "ftp://example.org/".to_owned(),
        "https://example.org/".to_owned(),
    ] {
        let answer = get(&proxy, &url).await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{url}: {answer}");
        let blocked = proxy.take_blocked();
        assert_eq!(blocked.len(), 1, "{url}: {blocked:?}");
        assert_eq!(blocked[0].target, url);
    }
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn a_client_without_the_password_is_not_served() {
    let server = Server::answering(response("hello")).await;
    let proxy = proxy_for(allowing(&[&server.address.to_string()])).await;
    let url = server.url();
    for header in ["", "Proxy-Authorization: Basic bGFuZ286\r\n", "Proxy-Authorization: \r\n"] {
        let head = format!("GET {url} HTTP/1.1\r\nHost: x\r\n{header}Connection: close\r\n\r\n");
        let answer = exchange(&proxy, &head).await;
        assert!(answer.starts_with("HTTP/1.1 407"), "{header}: {answer}");
        let address = server.address;
        let head =
            format!("CONNECT {address} HTTP/1.1\r\nHost: x\r\n{header}Connection: close\r\n\r\n");
        assert!(exchange(&proxy, &head).await.starts_with("HTTP/1.1 407"), "{header}");
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_tunnel_opens_only_to_allowed_places() {
    let (good, other) = (Server::answering(response("hi")).await, Server::answering("").await);
    let proxy = proxy_for(allowing(&[&good.address.to_string()])).await;
    let authorization = authorization(&proxy);
    let mut stream = TcpStream::connect(("127.0.0.1", proxy.port())).await.unwrap();
    let head = format!("CONNECT {} HTTP/1.1\r\nHost: x\r\n{authorization}\r\n", good.address);
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut piece = [0; 1024];
    let length = timeout(TEST_TIMEOUT, stream.read(&mut piece)).await.unwrap().unwrap();
    assert!(piece[..length].starts_with(b"HTTP/1.1 200"), "{:?}", &piece[..length]);
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    timeout(TEST_TIMEOUT, stream.read_to_string(&mut answer)).await.unwrap().unwrap();
    assert!(answer.ends_with("hi"), "{answer}");

    for target in [other.address.to_string(), "169.254.169.254:80".into(), "localhost:443".into()] {
        let head = format!(
            "CONNECT {target} HTTP/1.1\r\nHost: x\r\n{authorization}Connection: close\r\n\r\n"
        );
        assert!(exchange(&proxy, &head).await.starts_with("HTTP/1.1 403"), "{target}");
    }
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn c2_a_redirect_is_passed_on_and_its_target_is_checked_like_any_other() {
    let other = Server::answering("").await;
    let good = Server::answering(redirect(&other.url())).await;
    let proxy = proxy_for(allowing(&[&good.address.to_string()])).await;
    let answer = get(&proxy, &good.url()).await;
    assert!(answer.starts_with("HTTP/1.1 302"), "{answer}");
    assert!(get(&proxy, &other.url()).await.starts_with("HTTP/1.1 403"));
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn c7_a_response_without_end_is_cut_off_and_reported() {
    let body = "x".repeat(300_000);
    let long =
        Server::answering(format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{body}")).await;
    let limits = ProxyLimits { response_bytes: 100_000, ..ProxyLimits::default() };
    let guard = Guard::new(allowing(&[&long.address.to_string()]));
    let proxy = Proxy::start(guard, limits).await.unwrap();
    let answer = get(&proxy, &long.url()).await;
    assert!(answer.len() < 110_000, "{}", answer.len());
    let blocked = proxy.take_blocked();
    assert!(blocked[0].reason.contains("longer than 100000 bytes"), "{blocked:?}");
}

#[tokio::test]
async fn c7_a_connection_that_stands_still_is_closed() {
    let half = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf";
    let stalling = Server::stalling(half).await;
    let limits = ProxyLimits {
        idle_timeout: Duration::from_millis(200),
        header_timeout: Duration::from_millis(200),
        header_bytes: 8192,
        ..ProxyLimits::default()
    };
    let guard = Guard::new(allowing(&[&stalling.address.to_string()]));
    let proxy = Proxy::start(guard, limits).await.unwrap();
    // The server stops in the middle of its answer.
    assert!(get(&proxy, &stalling.url()).await.ends_with("half"));
    assert!(proxy.take_blocked()[0].reason.contains("nothing came"));
    // The client stops in the middle of its request.
    assert!(!exchange(&proxy, "GET http://a/ HTTP/1.1\r\nHost:").await.contains("200 OK"));
    // The client's head has no end.
    let endless = format!("GET http://a/ HTTP/1.1\r\nX: {}", "y".repeat(20_000));
    assert!(!exchange(&proxy, &endless).await.contains("200 OK"));
    // A tunnel without traffic.
    let head = format!(
        "CONNECT {} HTTP/1.1\r\nHost: x\r\n{}\r\n",
        stalling.address,
        authorization(&proxy)
    );
    assert!(exchange(&proxy, &head).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn a_dropped_proxy_is_gone_with_its_connections() {
    let proxy = proxy_for(Rules::default()).await;
    let port = proxy.port();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    drop(proxy);
    let mut rest = Vec::new();
    let ended = timeout(TEST_TIMEOUT, stream.read_to_end(&mut rest)).await.expect("still served");
    assert!(ended.is_err() || rest.is_empty());
    let gone = async {
        while TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(TEST_TIMEOUT, gone).await.expect("the port is still open");
}
