//! PostgreSQL that says nothing: limits hold, one Ctrl-C is enough, and health is told.

use std::time::{Duration, Instant};

use lango_store::testing::{Proxy, on_postgres};
use lango_store::{Database, DatabaseLocation, Statement};
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

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_away_for_a_while_does_not_end_turns_and_tasks() {
    on_postgres(|location| async move {
        let (proxy, url) = proxied(&location).await;
        let lango = Lango::playing(&[&slow(1_500, "Here again."), ECHO]).await;
        let running = lango.command(&["run", "slow"]).set("LANGO_DATABASE_URL", &url).start();
        until("the model is asked", || !lango.received().is_empty()).await;
        // Longer than a restart takes, and than connections were retried before.
        proxy.go_away();
        tokio::time::sleep(Duration::from_secs(12)).await;
        proxy.open();
        let ended = running.finish().await;
        assert_eq!((ended.code, ended.stdout.trim()), (0, "Here again."), "{ended:?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_refuses_a_server_that_allows_no_changes_as_run_does() {
    on_postgres(|location| async move {
        let DatabaseLocation::Postgres(url) = &location else { panic!("not PostgreSQL") };
        let lango = Lango::playing(&[ECHO]).await;
        let command = |arguments: &[&str]| lango.command(arguments).set("LANGO_DATABASE_URL", url);
        assert_eq!(command(&["run", "hello"]).run().await.code, 0);
        let database = Database::open(&location).await.unwrap();
        let name = "SELECT current_database()";
        let rows = database.query(Statement::new(name)).await.unwrap();
        let name = rows[0].text(0).unwrap().to_owned();
        let freeze = format!("ALTER DATABASE \"{name}\" SET default_transaction_read_only = on");
        database.write(Statement::new(freeze).into()).await.unwrap();
        database.close().await;
        assert_ne!(command(&["run", "hello"]).run().await.code, 0);
        let told = command(&["doctor"]).run().await;
        assert_ne!(told.code, 0, "{told:?}");
        assert!(told.stdout.contains("no changes"), "{told:?}");
    })
    .await;
}
