//! `lango graph`: shows and edits relations.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use lango_app::Stores;
use lango_librarian::graph::{
    AddOutcome, Direction, DotWriter, EndOutcome, Graph, GraphName, JsonLdWriter, NewTriple,
    RelationQuery, Traversal, TraversalLimits, TraversalRequest, Triple, render_tree,
};
use lango_librarian::inquiries::InquirySettings;
use lango_librarian::{Holdings, LibrarianError, Provenance};
use lango_protocol::{Space, Timestamp};
use lango_retrieval::RetrievalIndex;
use lango_text::make_visible;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::sessions::local_time;
use super::{CommandContext, Printer};
use crate::failure::{ExitStatus, Failure};
use lango_arguments::{ExportFormat, GraphCommand, GraphQueryArguments, RelationArguments};
use lango_terminal::render_table;

/// Limits what is drawn.
const DRAW_LIMITS: TraversalLimits = TraversalLimits { nodes: 500, edges: 1_000 };
/// Sets how many relations an export reads at a time.
const PAGE_SIZE: u32 = 1_000;
/// Names the source of relations that the user types.
const USER: &str = "user";

pub(crate) async fn graph(
    context: &CommandContext,
    command: GraphCommand,
    space: &Space,
) -> Result<ExitStatus, Failure> {
    let Stores { database, .. } = context.app.open_stores().await?;
    let index = RetrievalIndex::open(database, None).await?;
    let holdings = Holdings::open(index, InquirySettings::default()).await?.in_space(space);
    let graph = holdings.graph();
    match command {
        GraphCommand::Show { node, depth, at, json } => {
            show(context.printer, graph, &node, depth, at, json).await?;
        }
        GraphCommand::Add { relation, source, since } => {
            add(context.printer, graph, &relation, source, since).await?;
        }
        GraphCommand::End { relation, at } => {
            return end(context.printer, graph, &relation, at).await;
        }
        GraphCommand::Query(arguments) => query(context.printer, graph, &arguments).await?,
        GraphCommand::Export { format, output, history } => {
            export(context.printer, graph, format, output.as_deref(), history).await?;
        }
    }
    Ok(ExitStatus::Success)
}

/// Adds advice on how to add a node, if there is none of that name.
fn with_advice(error: LibrarianError) -> Failure {
    match error {
        LibrarianError::NoNode { .. } => Failure::usage(format!(
            "{error}. Relations are recorded with: lango graph add SUBJECT PREDICATE OBJECT"
        )),
        error => error.into(),
    }
}

fn parse_name(what: &'static str, text: &str) -> Result<GraphName, Failure> {
    Ok(GraphName::new(what, text)?)
}

#[derive(Serialize)]
struct TraversalView<'a> {
    nodes: Vec<NodeView<'a>>,
    edges: Vec<[&'a str; 3]>,
    incomplete: &'a [String],
}

#[derive(Serialize)]
struct NodeView<'a> {
    name: &'a str,
    depth: u32,
    leads_further: bool,
}

fn build_view(found: &Traversal) -> TraversalView<'_> {
    let name = |index: usize| &*found.nodes[index].name;
    TraversalView {
        nodes: found
            .nodes
            .iter()
            .map(|node| NodeView { name: &node.name, depth: node.depth, leads_further: node.open })
            .collect(),
        edges: found
            .edges
            .iter()
            .map(|edge| [name(edge.subject), &*edge.predicate, name(edge.object)])
            .collect(),
        incomplete: &found.cut,
    }
}

async fn show(
    printer: Printer,
    graph: &Graph,
    node: &str,
    depth: u32,
    at: Option<Timestamp>,
    json: bool,
) -> Result<(), Failure> {
    let reach = TraversalRequest {
        start: parse_name("the node", node)?,
        depth,
        predicates: Vec::new(),
        direction: Direction::Both,
        at,
        limits: DRAW_LIMITS,
        mark_open: true,
    };
    let found = graph.traverse(&reach, &CancellationToken::new()).await.map_err(with_advice)?;
    if json {
        Ok(printer.json(&build_view(&found))?)
    } else {
        Ok(printer.print(&render_tree(&found))?)
    }
}

async fn add(
    printer: Printer,
    graph: &Graph,
    relation: &RelationArguments,
    source: Option<String>,
    since: Option<Timestamp>,
) -> Result<(), Failure> {
    let triple = NewTriple {
        subject: parse_name("the subject", &relation.subject)?,
        predicate: parse_name("the predicate", &relation.predicate)?,
        object: parse_name("the object", &relation.object)?,
        provenance: Provenance { source, by: USER.to_owned(), ..Provenance::default() },
        valid_from: since,
        mentioned_in: Vec::new(),
    };
    let shown =
        render_relation(triple.subject.shown(), triple.predicate.shown(), triple.object.shown());
    Ok(printer.print(&match graph.record_relation(triple).await? {
        AddOutcome::Stored => format!("recorded: {shown}\n"),
        AddOutcome::AlreadyThere => format!("already there: {shown}\n"),
    })?)
}

fn render_relation(subject: &str, predicate: &str, object: &str) -> String {
    format!("{} – {} → {}", make_visible(subject), make_visible(predicate), make_visible(object))
}

async fn end(
    printer: Printer,
    graph: &Graph,
    relation: &RelationArguments,
    at: Option<Timestamp>,
) -> Result<ExitStatus, Failure> {
    let subject = parse_name("the subject", &relation.subject)?;
    let predicate = parse_name("the predicate", &relation.predicate)?;
    let object = parse_name("the object", &relation.object)?;
    let shown = render_relation(subject.shown(), predicate.shown(), object.shown());
    match graph.end_relation(&subject, &predicate, &object, USER, at).await? {
        EndOutcome::Ended => {
            printer.print(&format!("ended: {shown}\n"))?;
            Ok(ExitStatus::Success)
        }
        EndOutcome::NotThere => Err(Failure::usage(format!(
            "no such relation holds: {shown}. See: lango graph query --subject {:?} --history",
            relation.subject
        ))),
    }
}

async fn query(
    printer: Printer,
    graph: &Graph,
    arguments: &GraphQueryArguments,
) -> Result<(), Failure> {
    let optional = |what, text: &Option<String>| {
        text.as_deref().map(|text| parse_name(what, text)).transpose()
    };
    let question = RelationQuery {
        subject: optional("--subject", &arguments.subject)?,
        predicate: optional("--predicate", &arguments.predicate)?,
        object: optional("--object", &arguments.object)?,
        at: arguments.at,
        history: arguments.history,
        after: 0,
        limit: arguments.limit,
    };
    let found = graph.find_relations(&question).await?;
    if arguments.json {
        return Ok(printer.json(&found)?);
    }
    if found.triples.is_empty() {
        let hint = if arguments.history { "" } else { " Ended ones: --history" };
        return Ok(printer.print(&format!("No such relation is on record.{hint}\n"))?);
    }
    let row = |triple: &Triple| {
        vec![
            make_visible(&triple.subject),
            make_visible(&triple.predicate),
            make_visible(&triple.object),
            local_time(triple.valid_from),
            triple.valid_to.map(local_time).unwrap_or_default(),
            make_visible(&triple.provenance.by),
            make_visible(triple.provenance.source.as_deref().unwrap_or_default()),
        ]
    };
    let rows: Vec<Vec<String>> = found.triples.iter().map(row).collect();
    let header = ["SUBJECT", "PREDICATE", "OBJECT", "SINCE", "UNTIL", "BY", "SOURCE"];
    let more = if found.more { "There are more; raise --limit or name more.\n" } else { "" };
    Ok(printer.print(&format!("{}{more}", render_table(&header, &rows)))?)
}

/// Exports the graph. Relations are written as they are read, so that a large graph needs little
/// memory.
async fn export(
    printer: Printer,
    graph: &Graph,
    format: ExportFormat,
    output: Option<&Path>,
    history: bool,
) -> Result<(), Failure> {
    let Some(path) = output else {
        let write = |text: &str| match format {
            ExportFormat::Dot => Ok(printer.print(text)?),
            ExportFormat::JsonLd => Ok(printer.print_json_text(text)?),
        };
        return write_pieces(graph, format, history, write).await;
    };
    let unwritable =
        |error: std::io::Error| Failure::usage(format!("cannot write {}: {error}", path.display()));
    let mut file = BufWriter::new(File::create(path).map_err(unwritable)?);
    let write = |text: &str| file.write_all(text.as_bytes()).map_err(unwritable);
    write_pieces(graph, format, history, write).await?;
    file.flush().map_err(unwritable)
}

async fn write_pieces(
    graph: &Graph,
    format: ExportFormat,
    history: bool,
    mut write: impl FnMut(&str) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (dot, mut linked) = (DotWriter, JsonLdWriter::default());
    write(&match format {
        ExportFormat::Dot => dot.render_beginning(),
        ExportFormat::JsonLd => linked.render_beginning(),
    })?;
    let mut question = RelationQuery { history, limit: PAGE_SIZE, ..RelationQuery::default() };
    loop {
        let found = graph.page_relations(&question).await?;
        let text: String = found
            .triples
            .iter()
            .map(|triple| match format {
                ExportFormat::Dot => dot.render_triple(triple),
                ExportFormat::JsonLd => linked.render_triple(triple),
            })
            .collect();
        write(&text)?;
        match found.triples.last() {
            Some(last) if found.more => question.after = last.id,
            _ => break,
        }
    }
    write(&match format {
        ExportFormat::Dot => dot.render_end(),
        ExportFormat::JsonLd => linked.render_end(),
    })
}
