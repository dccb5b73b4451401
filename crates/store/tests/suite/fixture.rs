//! Creates a fresh database for each test, deleted afterwards.

use std::future::Future;
use std::sync::Arc;

use lango_store::{Database, DatabaseLocation, Journal};
use tokio_postgres::NoTls;

/// The location of a test's database.
#[derive(Clone)]
pub(crate) struct Fixture {
    pub(crate) location: Arc<DatabaseLocation>,
}

impl Fixture {
    pub(crate) async fn database(&self) -> Database {
        Database::open(&self.location).await.unwrap()
    }

    pub(crate) async fn journal(&self) -> Journal {
        Journal::open(self.database().await).await.unwrap()
    }

    /// Returns a journal and its database, for checks in SQL.
    pub(crate) async fn both(&self) -> (Journal, Database) {
        let database = self.database().await;
        (Journal::open(database.clone()).await.unwrap(), database)
    }
}

pub(crate) async fn on_sqlite<F, T>(test: F)
where
    F: FnOnce(Fixture) -> T,
    T: Future<Output = ()> + Send + 'static,
{
    let directory = tempfile::tempdir().unwrap();
    let location = DatabaseLocation::Sqlite(directory.path().join("home/lango.db"));
    test(Fixture { location: Arc::new(location) }).await;
}

pub(crate) async fn on_postgres<F, T>(test: F)
where
    F: FnOnce(Fixture) -> T,
    T: Future<Output = ()> + Send + 'static,
{
    let admin_url = postgres_url();
    let name = format!("lango_{}", uuid::Uuid::new_v4().simple());
    administer(&admin_url, &format!("CREATE DATABASE {name}")).await;
    let (server, _) = admin_url.rsplit_once('/').unwrap();
    let location = Arc::new(format!("{server}/{name}").parse().unwrap());
    // A separate task, so that a failed test drops its database as well.
    let result = tokio::spawn(test(Fixture { location })).await;
    administer(&admin_url, &format!("DROP DATABASE {name} WITH (FORCE)")).await;
    if let Err(error) = result {
        std::panic::resume_unwind(error.into_panic());
    }
}

pub(crate) fn postgres_url() -> String {
    std::env::var("LANGO_TEST_POSTGRES").expect(
        "LANGO_TEST_POSTGRES is not set, so PostgreSQL would not be tested. \
         Run `cargo xtask test`, which starts a server for it",
    )
}

pub(crate) async fn administer(url: &str, sql: &str) {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    client.batch_execute(sql).await.unwrap();
    drop(client);
    connection.await.unwrap().unwrap();
}
