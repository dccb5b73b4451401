//! The arguments of `lango graph`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use lango_protocol::Timestamp;

#[derive(Debug, Subcommand)]
pub enum GraphCommand {
    /// Show what is around a node, as a tree.
    #[command(after_help = "Examples:
  lango graph show \"Ada Lovelace\"
  lango graph show engine --depth 3 --at 2026-01-31

→ leads from subject to object, ← the other way. … leads further than was looked, ↑ is drawn in another place.")]
    Show {
        /// The node.
        node: String,
        /// Maximum distance, in relations.
        #[arg(long, value_name = "N", default_value_t = 2)]
        depth: u32,
        /// As it was then: a day, or a time as in 2026-01-31T12:00:00Z.
        #[arg(long, value_name = "TIME", value_parser = parse_moment)]
        at: Option<Timestamp>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Record a relation.
    #[command(after_help = "Examples:
  lango graph add \"Ada Lovelace\" wrote \"Notes on the Engine\"
  lango graph add Ada \"lives in\" London --since 2026-01-31 --source letters.md")]
    Add {
        #[command(flatten)]
        relation: RelationArguments,
        /// Source that supports it: a document, an address, or a sentence.
        #[arg(long, value_name = "TEXT")]
        source: Option<String>,
        /// Since when it holds; now by default.
        #[arg(long, value_name = "TIME", value_parser = parse_moment)]
        since: Option<Timestamp>,
    },
    /// Say that a relation holds no longer. It stays on record.
    #[command(after_help = "Examples:
  lango graph end Ada \"lives in\" London
  lango graph end Ada \"lives in\" London --at 2026-03-01")]
    End {
        #[command(flatten)]
        relation: RelationArguments,
        /// Since when; now by default.
        #[arg(long, value_name = "TIME", value_parser = parse_moment)]
        at: Option<Timestamp>,
    },
    /// Find relations.
    #[command(after_help = "Examples:
  lango graph query --subject Ada
  lango graph query --predicate \"lives in\" --history
  lango graph query --object London --at 2026-02-01 --json")]
    Query(QueryArguments),
    /// All relations, for other programs.
    #[command(after_help = "Examples:
  lango graph export --format dot | dot -Tsvg > graph.svg
  lango graph export --format json-ld --output graph.jsonld")]
    Export {
        /// The format.
        #[arg(long, value_name = "FORMAT")]
        format: ExportFormat,
        /// File to write to; standard output by default.
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Also relations that have ended.
        #[arg(long)]
        history: bool,
    },
}

/// A relation on the command line.
#[derive(Debug, Args)]
pub struct RelationArguments {
    /// Subject of the relation.
    pub subject: String,
    /// Predicate of the relation.
    pub predicate: String,
    /// Object of the relation.
    pub object: String,
}

/// The arguments of `lango graph query`.
#[derive(Debug, Args)]
#[group(id = "asked", required = true, multiple = true, args = ["subject", "predicate", "object"])]
pub struct QueryArguments {
    /// Subject of the relations.
    #[arg(long)]
    pub subject: Option<String>,
    /// Predicate of the relation.
    #[arg(long)]
    pub predicate: Option<String>,
    /// Object of the relations.
    #[arg(long)]
    pub object: Option<String>,
    /// As it was then: a day, or a time as in 2026-01-31T12:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    pub at: Option<Timestamp>,
    /// Also those that have ended.
    #[arg(long, conflicts_with = "at")]
    pub history: bool,
    /// Maximum number to show.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub limit: u32,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Graphviz.
    Dot,
    /// Linked data.
    JsonLd,
}

/// Parses a day, which means its first moment in the local time zone, or a time with its own zone.
fn parse_moment(text: &str) -> Result<Timestamp, String> {
    let time = text.parse::<jiff::Timestamp>().or_else(|_| {
        let day = text.parse::<jiff::civil::Date>()?;
        Ok::<_, jiff::Error>(day.to_zoned(jiff::tz::TimeZone::system())?.timestamp())
    });
    time.map(|time| Timestamp::from_microseconds(time.as_microsecond())).map_err(|_| {
        "expected a day such as 2026-01-31 or a time such as 2026-01-31T12:00:00Z".to_owned()
    })
}
