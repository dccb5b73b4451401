//! The navigator's hands: web pages, in a real browser.
//!
//! [`NavigatorAgent`] brings the tools. A session has a browser of its own, started when it
//! is first needed and gone when nobody uses it. Where the browser may go is decided by the guard
//! in the [`NavigatorSettings`], for every connection that it makes; whether a call may run is
//! decided by the runtime. What pages say is data, and leaves this crate marked as such.

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
