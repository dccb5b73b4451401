//! Which tools the navigator brings.

use lango_tool::{DuplicateTool, ToolRegistry};

use crate::tools::{Back, Click, Close, Navigate, Read, Screenshot, Type, Wait};
use crate::{Navigator, NavigatorSettings};

/// Adds the navigator's tools. They are there whether or not there is a Chromium: a call says how
/// to get one. The browsers live as long as the tools, or until [`Navigator::close`].
pub fn register(
    registry: &mut ToolRegistry,
    settings: NavigatorSettings,
) -> Result<Navigator, DuplicateTool> {
    let navigator = Navigator::new(settings);
    registry.add(Navigate::new(navigator.clone()))?;
    registry.add(Read::new(navigator.clone()))?;
    registry.add(Click::new(navigator.clone()))?;
    registry.add(Type::new(navigator.clone()))?;
    registry.add(Wait::new(navigator.clone()))?;
    registry.add(Screenshot::new(navigator.clone()))?;
    registry.add(Back::new(navigator.clone()))?;
    registry.add(Close::new(navigator.clone()))?;
    Ok(navigator)
}
