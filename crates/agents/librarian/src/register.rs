//! Which tools the librarian brings.

use lango_tool::{DuplicateTool, ToolRegistry};

use crate::Holdings;
use crate::graph::tools::{AddRelation, FollowRelations, QueryRelations};

/// Adds the tools that work on [`Holdings`].
pub fn register(registry: &mut ToolRegistry, holdings: &Holdings) -> Result<(), DuplicateTool> {
    registry.add(AddRelation::new(holdings.clone()))?;
    registry.add(QueryRelations::new(holdings.clone()))?;
    registry.add(FollowRelations::new(holdings.clone()))
}
