//! The outbound network policy and the browser: the keys of `[egress]` and `[navigator]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Outbound network policy: addresses beside those of the public internet.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct EgressConfig {
    /// Places on this machine or in private networks that may be reached: a name, an address, or
    /// a range, with or without a port, such as `127.0.0.1:8080`, `wiki.corp` or `10.0.0.0/8`.
    pub allow: Vec<String>,
    /// Places that may never be reached, written in the same way; `*.example.org` is every name
    /// below it.
    pub deny: Vec<String>,
}

/// The navigator's browser.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NavigatorConfig {
    /// The Chromium to start: a path, or a name in PATH. Found by its usual names when absent.
    pub chromium: Option<String>,
    /// false: with a window.
    pub headless: bool,
    /// Seconds after which an unused browser is closed.
    pub idle_seconds: u64,
    /// Seconds that a page may take.
    pub timeout_seconds: u64,
    /// A directory for a profile that is kept, with its sign-ins; without it, every session has
    /// a new one that is thrown away.
    pub profile: Option<String>,
    /// The largest file that is downloaded.
    pub download_megabytes: u64,
}

impl Default for NavigatorConfig {
    fn default() -> Self {
        Self {
            chromium: None,
            headless: true,
            idle_seconds: 300,
            timeout_seconds: 30,
            profile: None,
            download_megabytes: 100,
        }
    }
}
