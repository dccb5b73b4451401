//! Which tools the librarian brings.

use lango_tool::{DuplicateTool, ToolRegistry};

use std::path::PathBuf;

use crate::Holdings;
use crate::documents::{self, Library, RetrievePassages};
use crate::graph::tools::{AddRelation, FollowRelations, QueryRelations};
use crate::inquiries::tools::{AnswerInquiry, DismissInquiry, PendingInquiries};
use crate::knowledge::tools::{SaveKnowledge, SearchKnowledge};
use crate::learnings::tools::{SaveLearning, SearchLearnings};
use crate::skills::SkillShelf;
use crate::skills::tools::{CreateSkill, ListSkills};
use crate::web::{SearchWeb, WebSearch};

/// Which of its subsystems are there. A tool without its store is not offered.
#[derive(Debug, Clone, Default)]
pub struct Offered {
    /// The relations.
    pub graph: bool,
    /// Knowledge, lessons and open questions.
    pub knowledge: bool,
    /// Documents; files are read in this directory alone.
    pub documents: Option<(Library, PathBuf)>,
    /// Whether documents are found by their meaning.
    pub retrieval: bool,
    /// A server that searches the web.
    pub web: Option<WebSearch>,
    /// Skills, where there is a place for drafts.
    pub skills: Option<SkillShelf>,
}

/// Adds the tools that work on [`Holdings`].
pub fn register(
    registry: &mut ToolRegistry,
    holdings: &Holdings,
    offered: Offered,
) -> Result<(), DuplicateTool> {
    if offered.graph {
        registry.add(AddRelation::new(holdings.clone()))?;
        registry.add(QueryRelations::new(holdings.clone()))?;
        registry.add(FollowRelations::new(holdings.clone()))?;
    }
    if offered.knowledge {
        registry.add(SaveKnowledge(holdings.clone()))?;
        registry.add(SearchKnowledge(holdings.clone()))?;
        registry.add(SaveLearning(holdings.clone()))?;
        registry.add(SearchLearnings(holdings.clone()))?;
        registry.add(PendingInquiries(holdings.clone()))?;
        registry.add(AnswerInquiry(holdings.clone()))?;
        registry.add(DismissInquiry(holdings.clone()))?;
    }
    if let Some((library, workspace)) = offered.documents {
        documents::register(registry, &library, workspace)?;
        if offered.retrieval {
            let (holdings, graph) = (holdings.clone(), offered.graph);
            registry.add(RetrievePassages { holdings, graph })?;
        }
    }
    if let Some(web) = offered.web {
        registry.add(SearchWeb(web))?;
    }
    if let Some(shelf) = offered.skills {
        registry.add(CreateSkill(shelf.clone()))?;
        registry.add(ListSkills(shelf))?;
    }
    Ok(())
}
