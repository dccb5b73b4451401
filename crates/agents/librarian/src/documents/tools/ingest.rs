//! Implements `rag_ingest`, which reads a file, a directory or a page into a collection.

use std::path::PathBuf;
use std::sync::Arc;

use lango_egress::Destination;
use lango_keystore::{HeaderSecret, SecretHandles};
use lango_places::Places;
use lango_protocol::{CallReport, Space};
use lango_text::{code_span, make_visible, to_one_line};
use lango_tool::{CarriedText, Proposal, ProposedStep, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::{
    DEFAULT_COLLECTION, IngestReport, IngestSource, Ingester, UnreadableReason, check_collection,
};
use super::{MAX_LISTED_COUNT, number_with_noun};
use crate::reporting::{MAX_REMARK_CHARACTERS, describe_activity};

/// Reads files in the workspace only.
pub(super) struct IngestDocuments {
    pub(super) ingest: Ingester,
    pub(super) workspace: PathBuf,
    pub(super) places: Arc<Places>,
    pub(super) handles: SecretHandles,
}

#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct IngestArguments {
    /// A file or directory in the workspace. Give this or `url`.
    #[serde(default)]
    path: Option<String>,
    /// The address of a page or a PDF on the web, http or https. Give this or `path`.
    #[serde(default)]
    url: Option<String>,
    /// Where to keep it; `documents` by default.
    #[serde(default)]
    collection: Option<String>,
    /// A secret that the site of `url` wants.
    #[serde(default)]
    secret: Option<HeaderSecret>,
}

#[derive(Serialize)]
pub(super) struct IngestResult {
    collection: String,
    documents: u64,
    added: u64,
    replaced: u64,
    unchanged: u64,
    removed: usize,
    passages: u64,
    skipped: Vec<SkippedView>,
    /// The number of skipped sources that `skipped` leaves out.
    #[serde(skip_serializing_if = "is_zero")]
    more_skipped: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

#[derive(Serialize)]
struct SkippedView {
    source: String,
    why: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl IngestResult {
    fn new(collection: String, report: &IngestReport) -> Self {
        let more_skipped = report.skipped.len().saturating_sub(MAX_LISTED_COUNT);
        let skipped = report.skipped.iter().take(MAX_LISTED_COUNT);
        Self {
            collection,
            documents: report.documents(),
            added: report.added,
            replaced: report.replaced,
            unchanged: report.unchanged,
            removed: report.removed.len(),
            passages: report.passages,
            skipped: skipped
                .map(|one| SkippedView { source: one.source.clone(), why: one.reason.to_string() })
                .collect(),
            more_skipped,
            notes: report
                .notes
                .iter()
                .take(MAX_LISTED_COUNT)
                .map(|one| format!("{}: {}", one.source, one.note))
                .collect(),
        }
    }
}

impl Tool for IngestDocuments {
    type Arguments = IngestArguments;
    type Output = IngestResult;
    const NAME: &'static str = "rag_ingest";
    const DESCRIPTION: &'static str = "Reads a file, a directory or a web page into the document \
        collection, so that rag_retrieve finds it: text, Markdown, HTML, PDF, source code, DOCX. What \
        is unchanged is left alone.";
    const LEVEL: SafetyLevel = SafetyLevel::Moderate;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: IngestArguments,
        context: ToolContext,
    ) -> Result<IngestResult, ToolError> {
        let source = match (arguments.path, arguments.url) {
            (Some(path), None) if !path.trim().is_empty() => {
                // The files are the owner's.
                if *context.space.own() != Space::Owner {
                    let text = "only the owner's turns read files of the workspace; give a url";
                    return Err(ToolError::Forbidden(text.to_owned()));
                }
                IngestSource::Path(PathBuf::from(path))
            }
            (None, Some(url)) => IngestSource::parse_address(&url)
                .map_err(|error| ToolError::Arguments(error.to_string()))?,
            _ => return Err(ToolError::Arguments("give either path or url".to_owned())),
        };
        let credential = match (&arguments.secret, &source) {
            (Some(secret), IngestSource::Page(url)) => {
                let resolved =
                    secret.resolve(&self.handles, url, &context.session, &context.agent).await;
                Some(resolved.map_err(|error| ToolError::Failed(error.to_string()))?)
            }
            (Some(_), IngestSource::Path(_)) => {
                return Err(ToolError::Arguments("secret goes with url only".to_owned()));
            }
            (None, _) => None,
        };
        let collection = arguments.collection.unwrap_or_else(|| DEFAULT_COLLECTION.to_owned());
        check_collection(&collection).map_err(|error| ToolError::Arguments(error.to_string()))?;
        let (places, excluded) = (Arc::clone(&self.places), context.excluded.clone());
        let ingest =
            self.ingest.clone().within(&self.workspace, places, excluded).map_err(|error| {
                ToolError::Failed(format!("the workspace cannot be read: {error}"))
            })?;
        let ingest = match credential {
            Some(credential) => ingest.with_credential(credential),
            None => ingest,
        };
        let (space, cancel) = (context.space.own(), &context.cancel);
        let ran = ingest.run(space, &[source], &collection, false, &mut |_| {}, cancel).await;
        let report = ran.map_err(|error| ToolError::Failed(error.to_string()))?;
        if report.cancelled {
            return Err(ToolError::Cancelled);
        }
        match report.skipped.first() {
            Some(only) if report.failed() && report.skipped.len() == 1 => {
                let text = format!("{}: {}", only.source, only.reason);
                Err(match only.reason {
                    UnreadableReason::Outside
                    | UnreadableReason::Hidden
                    | UnreadableReason::Excluded => ToolError::Forbidden(text),
                    _ => ToolError::Failed(text),
                })
            }
            _ => Ok(IngestResult::new(collection, &report)),
        }
    }

    fn describe(&self, arguments: &IngestArguments) -> Option<String> {
        let source = arguments.path.as_deref().or(arguments.url.as_deref())?;
        describe_activity("Ingesting", source)
    }

    fn report(&self, _: &IngestArguments, result: &IngestResult) -> Option<CallReport> {
        let summary = summarize_ingest(result);
        let skipped = result.skipped.len().saturating_add(result.more_skipped);
        let report = if skipped == 0 {
            CallReport::new(summary)
        } else {
            let lines: Vec<String> = result.skipped.iter().map(SkippedView::line).collect();
            CallReport::new(format!("{summary} Skipped {skipped}:")).markdown(lines.join("\n"))
        };
        let notes = result.notes.iter().map(|note| to_one_line(note, MAX_REMARK_CHARACTERS));
        Some(notes.fold(report, CallReport::note).data(result))
    }

    fn propose(&self, arguments: &IngestArguments) -> Option<Proposal> {
        if let Some(url) = &arguments.url {
            // The address is shown as it will be requested, so that no spelling hides where it
            // leads.
            let address = match Destination::of_url(url) {
                Ok((url, _)) => String::from(url),
                Err(_) => url.clone(),
            };
            let summary = format!("Fetch {}\ninto the documents", make_visible(&address));
            let mut proposal = Proposal::outbound(summary, &address);
            proposal.steps = vec![ProposedStep::new([&address]).with_spelling(vec![url.clone()])];
            return Some(match &arguments.secret {
                Some(secret) => {
                    let (line, reason) = secret.describe(&self.handles, &address);
                    let summary = format!("{}\n{line}", proposal.summary);
                    let always_ask = Some(proposal.always_ask.unwrap_or(reason));
                    Proposal { summary, always_ask, ..proposal }
                }
                None => proposal,
            });
        }
        let path = arguments.path.as_deref()?;
        let summary = format!("Read {} into the documents", make_visible(path));
        // What is ingested is found in later turns: which file that is, is for the user to say.
        let carried_text = Some(CarriedText { text: path.to_owned(), to: None });
        Some(Proposal { carried_text, ..Proposal::of_step(summary, self.propose_path(path)) })
    }
}

impl IngestDocuments {
    /// Describes a path by where it leads: relative to the workspace, without links and `..`.
    fn propose_path(&self, path: &str) -> ProposedStep {
        let resolved = self.workspace.join(path).canonicalize();
        let root = self.workspace.canonicalize();
        let (Ok(resolved), Ok(root)) = (resolved, root) else { return ProposedStep::new([path]) };
        let relative = match resolved.strip_prefix(&root) {
            Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
            Ok(below) => below.to_string_lossy().into_owned(),
            Err(_) => resolved.to_string_lossy().into_owned(),
        };
        ProposedStep::new([&relative])
            .with_spelling(vec![path.to_owned()])
            .with_spelling(vec![resolved.to_string_lossy().into_owned()])
    }
}

/// Returns the counts of an ingest, in one sentence.
fn summarize_ingest(result: &IngestResult) -> String {
    let IngestResult { added, replaced, unchanged, removed, .. } = result;
    let counts = [
        (*added, "added"),
        (*replaced, "replaced"),
        (*unchanged, "unchanged"),
        (*removed as u64, "removed"),
    ];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, outcome)| format!("{count} {outcome}"))
        .collect();
    let collection = code_span(&result.collection);
    if counts.is_empty() {
        return format!("No document was read into {collection}.");
    }
    let documents = number_with_noun(result.documents, "document", "documents");
    let passages = number_with_noun(result.passages, "new passage", "new passages");
    format!("{documents} read into {collection}: {}; {passages}.", counts.join(", "))
}

impl SkippedView {
    fn line(&self) -> String {
        let source = to_one_line(&self.source, MAX_REMARK_CHARACTERS);
        format!("- {source}: {}", to_one_line(&self.why, MAX_REMARK_CHARACTERS))
    }
}
