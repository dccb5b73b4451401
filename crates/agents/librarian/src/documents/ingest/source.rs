//! Parses the sources of an ingest as a person or a model names them.

use std::fmt;
use std::path::PathBuf;

use url::Url;

/// Represents a file, a directory or a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IngestSource {
    /// A file or a directory.
    Path(PathBuf),
    /// A page.
    Page(Url),
}

impl IngestSource {
    /// Parses a source: an address if it begins with a scheme, a path otherwise.
    pub fn parse(text: &str) -> Result<Self, SourceError> {
        if text.trim().is_empty() {
            return Err(SourceError::Empty);
        }
        let scheme = text.split_once("://").map(|(scheme, _)| scheme);
        match scheme {
            Some(scheme)
                if scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c)) =>
            {
                Self::parse_address(text)
            }
            _ => Ok(Self::Path(PathBuf::from(text))),
        }
    }

    /// Parses an address.
    pub fn parse_address(text: &str) -> Result<Self, SourceError> {
        let wrong = |reason: String| SourceError::Address { text: text.to_owned(), reason };
        let mut url = Url::parse(text.trim()).map_err(|error| wrong(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("only http: and https: are opened".to_owned()));
        }
        // A fragment names the same page.
        url.set_fragment(None);
        Ok(Self::Page(url))
    }
}

impl fmt::Display for IngestSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => path.display().fmt(f),
            Self::Page(url) => url.fmt(f),
        }
    }
}

/// Says why a text names no source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// The text is empty.
    #[error("no path or address is given. Name one, as in: lango ingest docs")]
    Empty,
    /// The text is not an address of a page.
    #[error(
        "{text:?} cannot be opened: {reason}. Write a path, or an address as in https://example.org/"
    )]
    Address {
        /// The text as given.
        text: String,
        /// The reason.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_paths() {
        assert_eq!(IngestSource::parse("docs/a b").unwrap(), IngestSource::Path("docs/a b".into()));
        assert_eq!(IngestSource::parse("a:b").unwrap(), IngestSource::Path("a:b".into()));
        assert_eq!(
            IngestSource::parse("HTTPS://Example.org/a#part").unwrap().to_string(),
            "https://example.org/a"
        );
        for bad in ["ftp://example.org/", "file:///etc/passwd", "http://", " "] {
            assert!(IngestSource::parse(bad).is_err(), "{bad}");
        }
    }
}
