//! Matches paths with glob patterns.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use lango_tool::ToolError;

/// Selects files by their name or path.
pub(super) struct PathGlob {
    matcher: GlobMatcher,
    /// True if the pattern is about the file name alone.
    is_name: bool,
}

impl PathGlob {
    /// Compiles a pattern. One without a slash is about the file name.
    pub(super) fn new(pattern: &str) -> Result<Self, ToolError> {
        Self::build(pattern, false)
    }

    /// Compiles a pattern that ignores case. One without wildcards is about a part of the file name.
    pub(super) fn ignoring_case(pattern: &str) -> Result<Self, ToolError> {
        if pattern.contains('/') || has_wildcard(pattern) {
            Self::build(pattern, true)
        } else {
            Self::build(&format!("*{pattern}*"), true)
        }
    }

    fn build(pattern: &str, ignores_case: bool) -> Result<Self, ToolError> {
        let pattern = pattern.trim_start_matches("./");
        let glob = GlobBuilder::new(pattern)
            .literal_separator(true)
            .case_insensitive(ignores_case)
            .build()
            .map_err(|error| ToolError::Arguments(format!("the glob is not valid: {error}")))?;
        Ok(Self { matcher: glob.compile_matcher(), is_name: !pattern.contains('/') })
    }

    /// Tells whether a path, relative to the workspace, matches: itself, relative to `start`, or by its
    /// file name.
    pub(super) fn is_match(&self, path: &Path, start: &Path) -> bool {
        self.matcher.is_match(path)
            || path.strip_prefix(start).is_ok_and(|path| self.matcher.is_match(path))
            || (self.is_name && path.file_name().is_some_and(|name| self.matcher.is_match(name)))
    }

    /// Tells whether exactly this path matches.
    pub(super) fn is_exact(&self, path: &Path) -> bool {
        self.matcher.is_match(path)
    }
}

/// Tells whether a text has characters that a glob gives a meaning to.
pub(super) fn has_wildcard(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}
