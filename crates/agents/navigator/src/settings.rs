//! Defines what the navigator may use, and how much of it.

use std::path::PathBuf;
use std::time::Duration;

use lango_egress::{Guard, ProxyLimits};
use lango_keystore::SecretHandles;

/// Configures the navigator's browser: which one, where it may go, how long it lives, where files
/// go.
#[derive(Debug, Clone)]
pub struct NavigatorSettings {
    /// The program; looked up by its usual names if not set.
    pub chromium: Option<PathBuf>,
    /// True if it runs without a window.
    pub headless: bool,
    /// The time after which an idle browser is closed.
    pub idle: Duration,
    /// The limit on how long a page may take.
    pub timeout: Duration,
    /// A persistent profile; a temporary one if not set.
    pub profile: Option<PathBuf>,
    /// The directory of downloads, with a directory for each session.
    pub downloads: PathBuf,
    /// The directory of screenshots.
    pub screenshots: PathBuf,
    /// The size of the largest download in bytes.
    pub download_bytes: u64,
    /// The most browsers at the same time, one for each session.
    pub browsers: usize,
    /// The guard that decides where pages, and everything on them, may come from.
    pub guard: Guard,
    /// The limits of the proxy.
    pub proxy: ProxyLimits,
    /// The handles of secrets that may be typed into pages.
    pub handles: SecretHandles,
}

impl NavigatorSettings {
    /// Returns the default settings: files under `data`, connections as `guard` allows them.
    pub fn new(data: &std::path::Path, guard: Guard) -> Self {
        Self {
            chromium: None,
            headless: true,
            idle: Duration::from_mins(5),
            timeout: Duration::from_secs(30),
            profile: None,
            downloads: data.join("downloads"),
            screenshots: data.join("screenshots"),
            download_bytes: 100 * 1024 * 1024,
            browsers: 4,
            guard,
            proxy: ProxyLimits::default(),
            handles: SecretHandles::default(),
        }
    }
}
