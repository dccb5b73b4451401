//! A fresh database for each test, gone afterwards.

use std::future::Future;

use lango_protocol::{CallId, SessionId, TurnId};
use lango_store::{Database, DatabaseLocation};
use lango_tool::ToolContext;
use tokio_postgres::NoTls;
use tokio_util::sync::CancellationToken;

/// Runs each function on both engines.
macro_rules! on_both {
    ($($test:ident,)*) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                crate::database::on_sqlite(super::$test).await;
            })*
        }
        mod on_postgresql {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                crate::database::on_postgresql(super::$test).await;
            })*
        }
    };
}
pub(crate) use on_both;

pub(crate) async fn on_sqlite<F, T>(test: F)
where
    F: FnOnce(Database) -> T,
    T: Future<Output = ()> + Send + 'static,
{
    let directory = tempfile::tempdir().unwrap();
    let location = DatabaseLocation::Sqlite(directory.path().join("lango.db"));
    test(Database::open(&location).await.unwrap()).await;
}

pub(crate) async fn on_postgresql<F, T>(test: F)
where
    F: FnOnce(Database) -> T,
    T: Future<Output = ()> + Send + 'static,
{
    let admin_url = std::env::var("LANGO_TEST_POSTGRES").expect(
        "LANGO_TEST_POSTGRES is not set, so PostgreSQL would not be tested. \
         Run `cargo xtask test`, which starts a server for it",
    );
    let name = format!("lango_{}", uuid::Uuid::new_v4().simple());
    administer(&admin_url, &format!("CREATE DATABASE {name}")).await;
    let (server, _) = admin_url.rsplit_once('/').unwrap();
    let location: DatabaseLocation = format!("{server}/{name}").parse().unwrap();
    let database = Database::open(&location).await.unwrap();
    // A task, so that a failed test drops its database as well.
    let result = tokio::spawn(test(database)).await;
    administer(&admin_url, &format!("DROP DATABASE {name} WITH (FORCE)")).await;
    if let Err(error) = result {
        std::panic::resume_unwind(error.into_panic());
    }
}

async fn administer(url: &str, sql: &str) {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    client.batch_execute(sql).await.unwrap();
    drop(client);
    connection.await.unwrap().unwrap();
}

/// A call by the librarian, in a conversation of its own.
pub(crate) fn context() -> ToolContext {
    ToolContext {
        session: SessionId::generate(),
        turn: TurnId::generate(),
        call: CallId::generate(),
        agent: "librarian".parse().unwrap(),
        cancel: CancellationToken::new(),
    }
}
