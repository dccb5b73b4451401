//! PostgreSQL that says nothing: limits hold, one Ctrl-C is enough, and health is told.

use std::time::{Duration, Instant};

use lango_store::DatabaseLocation;
use lango_store::testing::{Proxy, on_postgres};
use rustix::process::Signal;

use crate::fixture::Lango;
use crate::invocation::until;
use crate::server::{ECHO, Server, slow};

/// Returns a proxy before the server of a database, and the URL through it.
async fn proxied(location: &DatabaseLocation) -> (Proxy, String) {
    let DatabaseLocation::Postgres(url) = location else { panic!("not PostgreSQL") };
    let (_, rest) = url.split_once("://").unwrap();
    let (authority, _) = rest.split_once('/').unwrap();
    let target = authority.rsplit('@').next().unwrap();
    let proxy = Proxy::start(target.to_owned()).await.unwrap();
    let through = url.replace(target, &proxy.address().to_string());
    assert_ne!(through, *url);
    (proxy, through)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_ends_at_its_limit_although_the_database_says_nothing() {
    on_postgres(|location| async move {
        let (proxy, url) = proxied(&location).await;
        let lango = Lango::playing(&[&slow(1_500, "Too late."), ECHO]).await;
        let running = lango
            .command(&["run", "slow"])
            .set("LANGO_DATABASE_URL", &url)
            .set("LANGO_BUDGET_SECONDS", "4")
            .start();
        until("the model is asked", || !lango.received().is_empty()).await;
        proxy.silence();
        let start = Instant::now();
        let ended = running.finish().await;
        assert_ne!(ended.code, 0, "{ended:?}");
        assert!(start.elapsed() < Duration::from_secs(30), "{:?}: {ended:?}", start.elapsed());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_interrupt_ends_a_run_although_the_database_says_nothing() {
    on_postgres(|location| async move {
        let (proxy, url) = proxied(&location).await;
        let lango = Lango::playing(&[&slow(1_500, "Too late."), ECHO]).await;
        let running = lango.command(&["run", "slow"]).set("LANGO_DATABASE_URL", &url).start();
        until("the model is asked", || !lango.received().is_empty()).await;
        proxy.silence();
        tokio::time::sleep(Duration::from_secs(3)).await;
        running.signal(Signal::INT);
        let start = Instant::now();
        let ended = running.finish().await;
        assert_ne!(ended.code, 0, "{ended:?}");
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}: {ended:?}", start.elapsed());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn health_is_told_at_once_and_a_server_works_again_after_the_silence() {
    on_postgres(|location| async move {
        let (proxy, url) = proxied(&location).await;
        let lango = Lango::playing(&[ECHO]).await;
        let invocation = lango.command(&["serve", "--port", "0"]).set("LANGO_DATABASE_URL", &url);
        let server = Server::started(invocation).await;
        assert_eq!(server.say("hello").await.status, 200);
        proxy.silence();
        let start = Instant::now();
        assert_eq!(server.request("GET", "/health").send().await.status, 200);
        let health = server.owner("GET", "/health").send().await;
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
        assert_eq!(health.status, 503, "{health:?}");
        let health = health.json();
        assert_eq!(health["ready"], false);
        assert!(health["reason"].as_str().unwrap().contains("no answer"), "{health}");
        proxy.open();
        assert_eq!(server.say("again").await.status, 200);
        assert_eq!(server.stop().await.code, 0);
    })
    .await;
}
