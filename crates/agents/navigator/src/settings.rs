//! What the navigator may use, and how much of it.

use std::path::PathBuf;
use std::time::Duration;

use lango_egress::{Guard, ProxyLimits};

/// The navigator's browser: which one, where it may go, how long it lives, where files go.
#[derive(Debug, Clone)]
pub struct NavigatorSettings {
    /// The program; looked for by its usual names when absent.
    pub chromium: Option<PathBuf>,
    /// Without a window.
    pub headless: bool,
    /// A browser that nobody used for so long is closed.
    pub idle: Duration,
    /// How long a page may take.
    pub timeout: Duration,
    /// A profile that is kept; one that is thrown away when absent.
    pub profile: Option<PathBuf>,
    /// Where downloads go, in a directory for each session.
    pub downloads: PathBuf,
    /// Where screenshots go.
    pub screenshots: PathBuf,
    /// Bytes of the largest download.
    pub download_bytes: u64,
    /// Browsers at the same time, one for each session.
    pub browsers: usize,
    /// Where pages, and everything on them, may come from.
    pub guard: Guard,
    /// How much may come through.
    pub proxy: ProxyLimits,
}

impl NavigatorSettings {
    /// The usual settings: files under `data`, connections where `guard` lets them.
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
        }
    }
}
