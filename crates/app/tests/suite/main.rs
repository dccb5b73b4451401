//! The application as a client sees it: load, open, run; or load and look.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use lango_app::config::{Config, LoadedConfig};
use lango_app::provider::ModelOptions;
use lango_app::{App, AppError, ErrorKind, Home, InspectOptions, OpenOptions, TeamOptions};
use lango_protocol::{EventBody, MessageOrigin, SessionId};
use lango_runtime::{TurnRequest, UnattendedApprover};

fn app(directory: &Path, config: Config) -> App {
    // As the program does; a second call finds it installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let home = Home {
        config_file: directory.join("config.toml"),
        config_directory: directory.to_owned(),
        state: directory.join("data"),
        data: directory.join("data"),
    };
    let loaded = LoadedConfig { config, origins: BTreeMap::new(), unknown_variables: Vec::new() };
    App {
        home,
        loaded,
        databases: lango_app::OpenDatabases::default(),
        scrubber: lango_runtime::Scrubber::default(),
    }
}

fn team(directory: &Path) -> TeamOptions {
    let workspace = directory.join("workspace");
    std::fs::create_dir_all(&workspace).unwrap();
    TeamOptions { workspace: Some(workspace), ..TeamOptions::default() }
}

#[tokio::test(flavor = "current_thread")]
async fn a_client_loads_opens_and_runs_a_turn() {
    let directory = tempfile::tempdir().unwrap();
    let app = app(directory.path(), Config::default());
    let team = team(directory.path());
    std::fs::write(directory.path().join("workspace/notes.txt"), "one\n").unwrap();
    let models =
        ModelOptions::Choose { wanted: Some("embedded".to_owned()), record: None, consent: None };
    let assembly = app.open(OpenOptions::new(team, models)).await.unwrap();
    let running = assembly.runtime(Arc::new(UnattendedApprover));
    let session = SessionId::generate();
    let request = TurnRequest::new(session.clone(), "list the files here", MessageOrigin::Library);
    let outcome = running.runtime.start_turn(request).wait_for_outcome().await.unwrap();
    assert!(outcome.is_done(), "{outcome:?}");
    assert_eq!(running.wait_for_observers().await, Vec::<String>::new());
    let events = running.runtime.journal().read_events(&session, 0, 100).await.unwrap();
    let answer = events.iter().find_map(|event| match &event.body {
        EventBody::Message { text, answer: true } => Some(text.clone()),
        _ => None,
    });
    assert!(answer.unwrap().contains("notes.txt"));
    assert!(running.collect_notices().await.unwrap().is_empty());
}

#[tokio::test(flavor = "current_thread")]
async fn looking_needs_no_model_and_sees_the_same_team() {
    let directory = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.model.discover = false;
    config.model.provider = Some("unknown-provider".to_owned());
    let app = app(directory.path(), config);
    let options = InspectOptions { team: team(directory.path()), ..InspectOptions::default() };
    let inspection = app.inspect(options).await.unwrap();
    let roster = &inspection.roster;
    for tool in ["exec_shell", "browser_navigate", "save_knowledge", "memory_store"] {
        assert!(roster.tools.get(tool).is_some(), "{tool}");
    }
    let agents: Vec<&str> = roster.tree.sub_agents().iter().map(|a| a.name.as_str()).collect();
    let expected =
        ["operator", "navigator", "vault", "librarian", "automator", "planner", "chronicler"];
    assert_eq!(agents, expected);
    assert!(roster.list_unmatched_tools().is_empty());
    let taken = roster.check_remote_name(&"operator".parse().unwrap()).unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::Usage, "{taken}");
    roster.check_remote_name(&"weather".parse().unwrap()).unwrap();
    let models = ModelOptions::Choose { wanted: None, record: None, consent: None };
    let options = OpenOptions::new(team(directory.path()), models);
    let unknown = app.open(options).await.err().unwrap();
    assert!(unknown.to_string().contains("unknown-provider"), "{unknown}");
}

#[tokio::test(flavor = "current_thread")]
async fn a_model_that_cannot_be_had_leaves_no_database_behind() {
    let directory = tempfile::tempdir().unwrap();
    let app = app(directory.path(), Config::default());
    let models = ModelOptions::Choose {
        wanted: Some("nowhere/model".to_owned()),
        record: None,
        consent: None,
    };
    let mut config = OpenOptions::new(team(directory.path()), models);
    config.team.topology = Some("compact".to_owned());
    assert!(app.open(config).await.is_err());
    assert!(!app.home.database().exists());
}

#[tokio::test(flavor = "current_thread")]
async fn a_database_that_cannot_be_opened_is_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("data"), "not a directory").unwrap();
    let app = app(directory.path(), Config::default());
    let options = InspectOptions { team: team(directory.path()), ..InspectOptions::default() };
    let error = app.inspect(options).await.err().unwrap();
    assert!(matches!(error, AppError::Database(_)), "{error}");
    assert_eq!(error.kind(), ErrorKind::Usage);
}
