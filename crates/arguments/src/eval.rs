//! The arguments of `lango eval`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub enum EvalCommand {
    /// Measure search, on questions whose answers are known.
    #[command(after_help = "Examples:
  lango eval retrieval bench/retrieval
  lango eval retrieval ~/beir/scifact --json

DIR has corpus.jsonl, queries.jsonl and qrels/*.tsv, as BEIR collections do; of the qrels, test.tsv
alone counts where it is there. Nothing of yours is read or changed: the collection is kept in a
temporary database. The embedding model is that of the configuration.")]
    Retrieval {
        /// The collection.
        #[arg(value_name = "DIR")]
        directory: PathBuf,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Measure how well a model understands requests whose meaning is known.
    #[command(after_help = "Examples:
  lango eval calls requests.jsonl                          the model that `lango run` would use
  lango eval calls plain.jsonl hard.jsonl --model embedded --failures 20
  lango eval calls requests.jsonl --model ollama/qwen3:8b --limit 50 --json

A line of a file is a JSON object: text, agent (one of the seven, or none for small talk), tool
(null where none is meant), args, and level if you like, such as plain or hard. The model is asked
as the orchestrator of a team with all agents and tools, and then as the specialist that it chose.
Nothing is ever run. With a model that costs something, a request costs up to two calls.

A question counts by its first reading: the first tool that it names. Arguments are compared where
the right tool was called, or where a parameter was asked for that the label has (then they are
wrong); not where the label itself lacks a required parameter, nor where it was asked which tool is
meant. docs/models.md explains all figures. Ctrl-C leaves the figures so far.")]
    Calls(CallsArguments),
}

/// The arguments of `lango eval calls`.
#[derive(Debug, Args)]
pub struct CallsArguments {
    /// Labelled requests, one JSON object in a line.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// PROVIDER/NAME, or `embedded`; the one that `lango run` would use when absent.
    #[arg(long, value_name = "ID")]
    pub model: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Only the first N requests.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: Option<u32>,
    /// Also show the first N requests of which something was not right.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub failures: u32,
}
