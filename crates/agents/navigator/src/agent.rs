//! Defines the navigator agent: the settings that it needs and the tools that it provides.

use lango_keystore::SecretHandles;
use lango_runtime::AgentParts;
use lango_tool::RegisteredTool;

use crate::tools::{Back, Click, Close, Navigate, Read, Screenshot, Type, Wait};
use crate::{Navigator, NavigatorSettings};

/// Opens web pages in a real browser. It stores nothing in the database.
pub struct NavigatorAgent {
    navigator: Navigator,
    handles: SecretHandles,
}

impl NavigatorAgent {
    /// Opens the navigator. No browser is started before a tool needs one.
    pub fn open(settings: NavigatorSettings) -> Self {
        let handles = settings.handles.clone();
        Self { navigator: Navigator::new(settings), handles }
    }

    /// Returns the browsers, which live as long as the tools or until [`Navigator::close`].
    pub fn navigator(&self) -> &Navigator {
        &self.navigator
    }

    /// Returns what the navigator contributes to turns. The tools are offered whether or not
    /// Chromium is installed: a call says how to install it.
    pub fn parts(&self) -> AgentParts {
        let navigator = || self.navigator.clone();
        let tools = vec![
            RegisteredTool::new(Navigate::new(navigator())),
            RegisteredTool::new(Read::new(navigator())),
            RegisteredTool::new(Click::new(navigator())),
            RegisteredTool::new(Type::new(navigator(), self.handles.clone())),
            RegisteredTool::new(Wait::new(navigator())),
            RegisteredTool::new(Screenshot::new(navigator())),
            RegisteredTool::new(Back::new(navigator())),
            RegisteredTool::new(Close::new(navigator())),
        ];
        AgentParts { tools, ..AgentParts::default() }
    }
}
