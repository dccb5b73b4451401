//! Recognises addresses of web pages, and makes the calls that show them.

use super::words::RequestWords;
use super::{PlannedCall, Understanding};
use crate::arguments::Argument;

/// Ends of host names that are no extensions of files.
#[rustfmt::skip]
const TOP_LEVEL_DOMAINS: &[&str] = &[
    "com", "org", "net", "io", "dev", "app", "de", "uk", "fr", "it", "es", "nl", "ch", "at", "eu",
    "us", "ca", "edu", "gov", "info", "ai", "co", "se", "no", "dk", "pl", "jp", "kr", "rs", "tv",
    "page", "blog", "xyz", "news", "wiki", "example", "test", "localhost",
];

/// Tells whether a word is the address of a web page.
pub(super) fn is_address(word: &str) -> bool {
    if word.starts_with("http://") || word.starts_with("https://") {
        return true;
    }
    let host = word.split(['/', '?', '#']).next().unwrap_or(word).to_lowercase();
    let has_path = host.len() < word.len();
    let mut parts = host.rsplit('.');
    let (Some(last), Some(name)) = (parts.next(), parts.next()) else { return false };
    let is_name = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    // "lib.rs" and "run.it" are files more often than hosts.
    let may_be_file = ["rs", "it", "at", "test", "example", "app", "page"].contains(&last);
    is_name(name)
        && TOP_LEVEL_DOMAINS.contains(&last)
        && (!may_be_file || has_path || host.starts_with("www."))
}

/// Returns the address in a request, as it is opened.
pub(super) fn find_address(request: &RequestWords<'_>) -> Option<String> {
    let typed = request.words.iter().map(|word| &request.text[word.range.clone()]);
    let address = typed.map(|word| word.trim_end_matches('.')).find(|word| is_address(word))?;
    Some(if address.contains("://") { address.to_owned() } else { format!("https://{address}") })
}

impl Understanding<'_> {
    /// Opens a page and shows the part of it that a request names: its links, or a picture of it.
    pub(super) fn web_calls(&self, request: &RequestWords<'_>) -> Option<Vec<PlannedCall>> {
        let address = find_address(request)?;
        let opens = self.has_tool("browser_navigate")
            && request.has_any(&[
                "open",
                "visit",
                "go",
                "show",
                "give",
                "list",
                "get",
                "load",
                "check",
                "see",
                "screenshot",
                "take",
                "make",
                "want",
                "grab",
                "need",
                "capture",
            ])
            && !super::asks_for_change(request)
            && !request.has_any(&["ingest", "index", "fetch", "every", "ping", "curl", "remember"]);
        if !opens || !request.quotations.is_empty() {
            return None;
        }
        let show = if request.has_any(&["screenshot", "screenshots", "picture", "screencap"]) {
            let call = PlannedCall::new("browser_screenshot");
            let is_whole = request.has_phrase(&["full page", "whole page", "entire page"])
                || request.has_any(&["full-page"]);
            if is_whole { call.with("full_page", Argument::Boolean(true)) } else { call }
        } else if request.has_any(&["link", "links", "urls"]) {
            PlannedCall::new("browser_read").text("mode", "links")
        } else {
            return None;
        };
        self.has_tool(&show.tool)
            .then(|| vec![PlannedCall::new("browser_navigate").text("url", address), show])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_files() {
        for address in ["https://example.com", "docs.rs/serde", "gutenberg.org", "www.kernel.org"] {
            assert!(is_address(address), "{address}");
        }
        for file in ["lib.rs", "src/lib.rs", "notes.txt", "config.yaml", "README", "a.b", "docs"] {
            assert!(!is_address(file), "{file}");
        }
    }
}
