//! Authenticates the owner of a server: the token, and its origin.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use lango_server::{CallerToken, Callers};

use crate::config::ServerConfig;
use crate::home::expand_path;
use crate::{AppError, OwnerOptions};

/// Says how the owner is authenticated.
pub enum OwnerToken {
    /// By a token that was made just now, which is shown only this once.
    New(CallerToken),
    /// By the token that was printed at an earlier start.
    Before,
    /// By the token of the configuration.
    Configured(CallerToken),
    /// Not at all: every program on this machine is accepted as the owner.
    Open,
}

impl OwnerToken {
    /// Returns the token that the owner chose, before anything is opened.
    pub(crate) fn read_configured(
        config: &ServerConfig,
        options: OwnerOptions,
    ) -> Result<Option<CallerToken>, AppError> {
        if options.open {
            return Ok(None);
        }
        let configured = match std::env::var("LANGO_SERVER_TOKEN") {
            Ok(text) => Some(("LANGO_SERVER_TOKEN".to_owned(), text)),
            Err(_) => config.token_file.as_deref().map(read_token).transpose()?,
        };
        let Some((from, text)) = configured else { return Ok(None) };
        if options.new_token {
            return Err(AppError::usage(format!(
                "your token comes from {from}, so a new one is made there and not here"
            )));
        }
        let token = CallerToken::from_user(&text);
        Ok(Some(token.map_err(|error| AppError::usage(format!("{from}: {error}")))?))
    }

    /// Returns how the owner is authenticated. Makes a token if there is none.
    pub(crate) async fn find_or_create(
        configured: Option<CallerToken>,
        options: OwnerOptions,
        callers: &Callers,
    ) -> Result<Self, AppError> {
        if options.open {
            return Ok(Self::Open);
        }
        if let Some(token) = configured {
            return Ok(Self::Configured(token));
        }
        let token = callers.create_owner_token(options.new_token).await?;
        Ok(token.map_or(Self::Before, Self::New))
    }

    /// Returns the token if it comes from the configuration.
    pub(crate) fn configured_token(&self) -> Option<&CallerToken> {
        match self {
            Self::Configured(token) => Some(token),
            Self::New(_) | Self::Before | Self::Open => None,
        }
    }
}

/// Reads the token in a file that only its owner can read. Also returns where it comes from.
fn read_token(path: &str) -> Result<(String, String), AppError> {
    let wrong = |why: String| AppError::usage(format!("server.tokenFile {path}: {why}"));
    let file = expand_path(path).map_err(wrong)?;
    let mode = std::fs::metadata(&file).map_err(|error| wrong(error.to_string()))?.mode();
    if mode & 0o077 != 0 {
        let shown = Path::new(path).display();
        return Err(wrong(format!("others can read it. Type: chmod 600 {shown}")));
    }
    let text = std::fs::read_to_string(&file).map_err(|error| wrong(error.to_string()))?;
    Ok((format!("server.tokenFile {path}"), text))
}
