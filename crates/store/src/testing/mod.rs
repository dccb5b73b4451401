//! Provides fresh databases for the tests of other crates, on both engines.
//!
//! Not part of the program: it is behind the feature `testing`, which only tests enable.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![expect(clippy::missing_panics_doc, reason = "the same")]

mod proxy;

use std::future::Future;

use crate::{Database, DatabaseLocation};
pub use proxy::{CommitFault, Proxy};

/// Runs a test with an empty SQLite database, which is deleted afterwards.
pub async fn on_sqlite<F, T>(test: F)
where
    F: FnOnce(DatabaseLocation) -> T,
    T: Future<Output = ()> + Send + 'static,
{
    let directory = tempfile::tempdir().unwrap();
    test(DatabaseLocation::Sqlite(directory.path().join("home/lango.db"))).await;
}

/// Runs a test with an empty PostgreSQL database, which is deleted afterwards. The server is the
/// one that `cargo xtask test` starts.
pub async fn on_postgres<F, T>(test: F)
where
    F: FnOnce(DatabaseLocation) -> T,
    T: Future<Output = ()> + Send + 'static,
{
    let server = std::env::var("LANGO_TEST_POSTGRES").expect(
        "LANGO_TEST_POSTGRES is not set, so PostgreSQL would not be tested. \
         Run `cargo xtask test`, which starts a server for it",
    );
    let name = format!("lango_{}", uuid::Uuid::new_v4().simple());
    administer(&server, &format!("CREATE DATABASE {name}")).await;
    let (address, _) = server.rsplit_once('/').unwrap();
    let location = format!("{address}/{name}").parse().unwrap();
    // A separate task, so that a failed test drops its database as well.
    let result = tokio::spawn(test(location)).await;
    administer(&server, &format!("DROP DATABASE {name} WITH (FORCE)")).await;
    if let Err(error) = result {
        std::panic::resume_unwind(error.into_panic());
    }
}

async fn administer(url: &str, sql: &str) {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    client.batch_execute(sql).await.unwrap();
    drop(client);
    connection.await.unwrap().unwrap();
}

/// Opens the database of a test.
pub async fn open(location: &DatabaseLocation) -> Database {
    Database::open(location).await.unwrap()
}

/// Generates two tests from each function: one on SQLite, one on PostgreSQL. A function takes the
/// [`DatabaseLocation`] of an empty database.
#[macro_export]
#[expect(clippy::crate_in_macro_def, reason = "the tests are of the crate that calls it")]
macro_rules! on_both_engines {
    ($($module:ident::$test:ident,)*) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                $crate::testing::on_sqlite(crate::$module::$test).await;
            })*
        }
        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                $crate::testing::on_postgres(crate::$module::$test).await;
            })*
        }
    };
}
