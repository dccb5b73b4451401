//! Implements the navigator agent: web pages, in a real browser.
//!
//! [`NavigatorAgent`] provides the tools. A session has a browser of its own, started when it is
//! first needed and closed when it is idle. The guard in the [`NavigatorSettings`] decides for
//! every connection which addresses the browser may reach; whether a call may run is decided by the
//! runtime. What pages say is data, and leaves this crate marked as such.

mod agent;
mod browser;
mod chromium;
mod error;
mod incidents;
mod outcome;
mod page;
mod protocol;
mod sessions;
mod settings;
mod storage;
mod tools;

pub use agent::NavigatorAgent;
pub use chromium::{ChromiumError, find as find_chromium, runs_without_sandbox};
pub use sessions::Navigator;
pub use settings::NavigatorSettings;
