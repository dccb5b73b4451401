//! The start of every client: resolves the directories and the configuration once.

use std::env;
use std::path::PathBuf;

use lango_redaction::Scrubber;
use lango_store::{Database, DatabaseLocation, DurabilityPolicy, Journal};

use crate::config::{Config, LoadedConfig, StoreDurability, load_config};
use crate::open_databases::OpenDatabases;
use crate::{AppError, Home};

/// Holds what a client chooses before anything is read.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// The configuration file; the default one if absent.
    pub config_file: Option<PathBuf>,
}

/// Holds the configuration and the directories, from which everything else starts.
#[derive(Debug)]
pub struct App {
    /// The directories of Lango's files.
    pub home: Home,
    /// The configuration, with the origin of each value.
    pub loaded: LoadedConfig,
    /// The databases that were opened.
    pub databases: OpenDatabases,
    /// Knows the values that must not be logged, recorded or shown.
    pub scrubber: Scrubber,
}

/// The open database and the journal in it. Clones share the connections.
#[derive(Clone)]
pub struct Stores {
    /// The database.
    pub database: Database,
    /// The journal in it.
    pub journal: Journal,
}

impl App {
    /// Reads the configuration. Nothing is opened or written.
    pub fn load(options: LoadOptions) -> Result<Self, AppError> {
        let explicit = options.config_file.clone();
        let home = Home::find(options.config_file)?;
        if let Some(path) = explicit.filter(|path| !path.exists()) {
            return Err(AppError::usage(format!("there is no file {}", path.display())));
        }
        // A variable that is not UTF-8 belongs to another program, or does not fit its key.
        let text = |value: std::ffi::OsString| value.to_string_lossy().into_owned();
        let variables = env::vars_os().map(|(name, value)| (text(name), text(value)));
        let loaded = load_config(&home.config_file, variables)?;
        let (databases, scrubber) = (OpenDatabases::default(), Scrubber::default());
        Ok(Self { home, loaded, databases, scrubber })
    }

    /// Returns the configuration.
    pub fn config(&self) -> &Config {
        &self.loaded.config
    }

    /// Returns the location of the database.
    pub fn database_location(&self) -> Result<DatabaseLocation, AppError> {
        match &self.config().database.url {
            Some(url) => Ok(url.parse()?),
            None => Ok(DatabaseLocation::Sqlite(self.home.database())),
        }
    }

    /// Opens the database and the journal in it, for commands that need no agents.
    pub async fn open_stores(&self) -> Result<Stores, AppError> {
        let location = self.database_location()?;
        let policy = match self.config().store.durability {
            StoreDurability::Full => DurabilityPolicy::Full,
            StoreDurability::Normal => DurabilityPolicy::Normal,
        };
        let database = Database::open_with(&location, policy).await.map_err(AppError::Database)?;
        self.databases.add(database.clone());
        let journal = Journal::open(database.clone()).await.map_err(AppError::Database)?;
        Ok(Stores { database, journal })
    }
}
