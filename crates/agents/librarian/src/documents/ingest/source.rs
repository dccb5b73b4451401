//! What is to be ingested, as a person or a model names it.

use std::fmt;
use std::path::PathBuf;

use url::Url;

/// A file, a directory or a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A file or a directory.
    Path(PathBuf),
    /// A page.
    Page(Url),
}

impl Source {
    /// Reads what was typed: an address if it begins as one, a path otherwise.
    pub fn parse(text: &str) -> Result<Self, SourceError> {
        if text.trim().is_empty() {
            return Err(SourceError::Empty);
        }
        let scheme = text.split_once("://").map(|(scheme, _)| scheme);
        match scheme {
            Some(scheme)
                if scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c)) =>
            {
                Self::page(text)
            }
            _ => Ok(Self::Path(PathBuf::from(text))),
        }
    }

    /// Reads an address.
    pub fn page(text: &str) -> Result<Self, SourceError> {
        let wrong = |reason: String| SourceError::Address { text: text.to_owned(), reason };
        let mut url = Url::parse(text.trim()).map_err(|error| wrong(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("only http: and https: are opened".to_owned()));
        }
        // A place within a page is the same page.
        url.set_fragment(None);
        Ok(Self::Page(url))
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => path.display().fmt(f),
            Self::Page(url) => url.fmt(f),
        }
    }
}

/// Why a text names no source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// Nothing was named.
    #[error("no path or address is given. Name one, as in: lango ingest docs")]
    Empty,
    /// It is not an address of a page.
    #[error(
        "{text:?} cannot be opened: {reason}. Write a path, or an address as in https://example.org/"
    )]
    Address {
        /// As given.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_paths() {
        assert_eq!(Source::parse("docs/a b").unwrap(), Source::Path("docs/a b".into()));
        assert_eq!(Source::parse("a:b").unwrap(), Source::Path("a:b".into()));
        assert_eq!(
            Source::parse("HTTPS://Example.org/a#part").unwrap().to_string(),
            "https://example.org/a"
        );
        for bad in ["ftp://example.org/", "file:///etc/passwd", "http://", " "] {
            assert!(Source::parse(bad).is_err(), "{bad}");
        }
    }
}
