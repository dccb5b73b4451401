//! Parses the address of a database without opening it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::StoreError;

/// The address of a database.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseLocation {
    /// A file on this machine.
    Sqlite(PathBuf),
    /// The URL of a server. It may contain a password, so it is never shown unchanged.
    Postgres(String),
}

impl FromStr for DatabaseLocation {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Self::Postgres(text.to_owned()));
        }
        let path = match text.strip_prefix("sqlite:") {
            // `sqlite:///var/x` and `sqlite:/var/x` are both in use.
            Some(rest) => rest.strip_prefix("//").unwrap_or(rest),
            None => text,
        };
        // Readers and the writer have separate connections, so a private in-memory database would
        // be two databases. Another scheme may carry a password, so only its name is repeated.
        if path.is_empty() || path == ":memory:" {
            return Err(StoreError::Location { given: text.to_owned() });
        }
        if let Some((scheme, _)) = path.split_once("://") {
            return Err(StoreError::Location { given: format!("{scheme}://…") });
        }
        Ok(Self::Sqlite(path.into()))
    }
}

impl fmt::Display for DatabaseLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => fmt::Display::fmt(&path.display(), f),
            Self::Postgres(url) => f.write_str(&without_password(url)),
        }
    }
}

impl fmt::Debug for DatabaseLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatabaseLocation({self})")
    }
}

/// Returns the user, host and database of a URL. Parameters are dropped because `?password=` is
/// one.
fn without_password(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("postgres", url));
    let rest = rest.split('?').next().unwrap_or_default();
    // A password may contain an unescaped '@'; the host cannot.
    match rest.rsplit_once('@') {
        Some((credentials, host)) => {
            let user = credentials.split(':').next().unwrap_or_default();
            format!("{scheme}://{user}@{host}")
        }
        None => format!("{scheme}://{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_a_path_or_a_url() {
        let parse = |text: &str| text.parse::<DatabaseLocation>().unwrap();
        assert_eq!(parse("a/b.db"), DatabaseLocation::Sqlite("a/b.db".into()));
        assert_eq!(parse("sqlite:a.db"), DatabaseLocation::Sqlite("a.db".into()));
        assert_eq!(parse("sqlite:///a.db"), DatabaseLocation::Sqlite("/a.db".into()));
        assert!(matches!(parse("postgresql://h/d"), DatabaseLocation::Postgres(_)));
        for bad in ["", "sqlite:", ":memory:", "mysql://user:secret@host/db"] {
            let error = bad.parse::<DatabaseLocation>().unwrap_err();
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        for url in [
            "postgres://lango:secret@db:5432/main",
            "postgres://lango:secr@secret@db:5432/main?sslmode=require",
            "postgres://lango@db:5432/main?password=secret",
        ] {
            let location: DatabaseLocation = url.parse().unwrap();
            assert_eq!(location.to_string(), "postgres://lango@db:5432/main");
            assert!(!format!("{location:?}").contains("secret"));
        }
    }
}
