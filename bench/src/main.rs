//! Benchmarks, in CPU time: what a turn costs the machine, not what the clock says.
//!
//! `cargo xtask bench turn`, `automation`, `conversation`, `call`, `sandbox`, `approval`, `decide`, `embed`, `graph`, `ingest`, `memory`,
//! `remote`, `retrieval` and `vault` run them. Each figure is taken in a process of its own; the scripted model is another process, so that its work is not counted.

mod approval;
mod automation;
mod call;
mod decide;
mod embed;
mod figures;
mod graph;
mod ingest;
mod memory;
mod operator;
mod program;
mod remote;
mod retrieval;
mod sandbox;
mod start;
mod vault;
mod worker;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};
use lango_model::Wire;
use lango_scripted::{Script, ScriptedServer};

/// Runs of each figure.
const REPEATS: usize = 7;

const SCRIPT: &str = include_str!("../turn.toml");

fn main() -> Result<()> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] | ["turn"] => {
            with_server("serve", |own, url| measure(own, &own.with_file_name("lango"), url))
        }
        ["turn", lango] => with_server("serve", |own, url| measure(own, lango.as_ref(), url)),
        ["conversation"] => {
            with_server("serve", |own, url| measure_conversation(&own.with_file_name("lango"), url))
        }
        ["conversation", lango] => {
            with_server("serve", |_, url| measure_conversation(lango.as_ref(), url))
        }
        ["call"] => with_server("serve-calls", measure_calls),
        ["automation"] => {
            let own = std::env::current_exe()?.with_file_name("lango");
            block_on(automation::measure(&own))
        }
        ["automation", lango] => block_on(automation::measure(lango.as_ref())),
        ["approval"] => approval::measure(),
        ["embed"] => embed::measure(),
        ["embed-worker"] => embed::work(),
        ["decide"] => decide::measure(),
        ["decide-worker"] => decide::work(),
        ["graph"] => graph::measure(),
        ["ingest"] => ingest::measure(),
        ["memory"] => block_on(memory::measure(None)),
        ["memory", file] => block_on(memory::measure(Some(*file))),
        ["remote"] => remote::measure(),
        ["remote-worker", kind, model, agent] => block_on(remote::work(kind, model, agent)),
        ["serve-remote-model"] => block_on(remote::serve_model()),
        ["serve-remote-agent"] => block_on(remote::serve_agent()),
        ["retrieval"] => retrieval::measure(),
        ["sandbox"] => sandbox::measure(),
        ["vault"] => vault::measure(),
        ["sandbox-worker", kind] => sandbox::work(kind),
        ["serve"] => block_on(serve()),
        ["serve-calls"] => block_on(serve_calls()),
        ["overhead", wire, address] => block_on(overhead(wire, address)),
        ["worker", name, url] => block_on(worker::run(name, url)),
        _ => bail!(
            "usage: lango-bench [turn | automation | conversation | call | sandbox | approval | decide | embed | graph | ingest | \
             memory | remote | retrieval | vault]"
        ),
    }
}

/// The same flavour of runtime as the program itself.
fn block_on<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(future)
}

/// Serves the script until the other end of standard input closes.
async fn serve() -> Result<()> {
    let server = ScriptedServer::start_without_history(Script::parse("turn.toml", SCRIPT)?).await?;
    until_input_ends(&server.base_url()).await
}

/// Says where it is, and waits until the other end of standard input closes.
async fn until_input_ends(address: &str) -> Result<()> {
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{address}")?;
    stdout.flush()?;
    let mut input = tokio::io::stdin();
    let mut byte = [0];
    while tokio::io::AsyncReadExt::read(&mut input, &mut byte).await? > 0 {}
    Ok(())
}

/// Serves whole replies at once until the other end of standard input closes.
async fn serve_calls() -> Result<()> {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{}", listener.local_addr()?)?;
    stdout.flush()?;
    let mut input = tokio::io::stdin();
    let mut byte = [0];
    tokio::select! {
        served = call::serve(listener) => served,
        _ = tokio::io::AsyncReadExt::read(&mut input, &mut byte) => Ok(()),
    }
}

async fn overhead(wire: &str, address: &str) -> Result<()> {
    let known = Wire::ALL.into_iter().find(|known| known.name() == wire);
    let (bare, model) = call::overhead(known.context("there is no such wire")?, address).await?;
    writeln!(std::io::stdout(), "{bare} {model}")?;
    Ok(())
}

/// The cost of a call on each wire, as a difference within one process.
fn measure_calls(own: &Path, address: &str) -> Result<()> {
    let mut table = figures::Table::default();
    for wire in Wire::ALL.map(Wire::name) {
        let (mut floors, mut over) = (Vec::new(), Vec::new());
        for _ in 0..REPEATS {
            let output = Command::new(own).args(["overhead", wire, address]).output()?;
            if !output.status.success() {
                bail!("{wire}: {}", String::from_utf8_lossy(&output.stderr));
            }
            let text = String::from_utf8(output.stdout)?;
            let (bare, model) = text.trim().split_once(' ').context("two figures")?;
            let (bare, model): (f64, f64) = (bare.parse()?, model.parse()?);
            floors.push(bare);
            over.push(model - bare);
        }
        table.add(&format!("{wire}: the bare client, CPU-ms"), None, floors);
        table.add(&format!("{wire}: what Lango adds to it, CPU-ms"), Some(0.2), over);
    }
    finish(&table)
}

fn finish(table: &figures::Table) -> Result<()> {
    std::io::stdout().write_all(table.to_string().as_bytes())?;
    if table.is_over() {
        bail!("a figure is beyond its limit");
    }
    Ok(())
}

/// Runs a measurement against a server in a process of its own.
fn with_server(name: &str, measure: impl FnOnce(&Path, &str) -> Result<()>) -> Result<()> {
    let own = std::env::current_exe()?;
    let mut server = Command::new(&own)
        .arg(name)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start the scripted model")?;
    let result = address_of(&mut server).and_then(|address| measure(&own, &address));
    drop(server.stdin.take());
    server.wait()?;
    result
}

fn address_of(server: &mut Child) -> Result<String> {
    let mut address = String::new();
    let stdout = server.stdout.take().context("the server has no output")?;
    BufReader::new(stdout).read_line(&mut address)?;
    Ok(address.trim().to_owned())
}

/// Measures how a turn costs more the longer its conversation is.
fn measure_conversation(lango: &Path, url: &str) -> Result<()> {
    const RUNS: usize = 3;
    let mut table = figures::Table::default();
    for (talk, name) in [
        (program::Talk::Tasks, "tasks"),
        (program::Talk::TasksAndFacts, "tasks and something to remember"),
    ] {
        let mut rows: [Vec<f64>; 3] = Default::default();
        for _ in 0..RUNS {
            let figures = block_on(program::measure_conversation(lango, url, talk))?;
            rows.iter_mut().zip(figures).for_each(|(row, figure)| row.push(figure));
        }
        for ((part, _, last), values) in program::CONVERSATION_PARTS.into_iter().zip(rows) {
            let limit = (last == 2500 && talk == program::Talk::Tasks).then_some(2.0);
            table.add(&format!("{name}: {part}, CPU-ms"), limit, values);
        }
    }
    finish(&table)
}

/// Measures turns of the program at `lango`, and what three model calls alone cost in the same
/// minutes.
fn measure(own: &Path, lango: &Path, url: &str) -> Result<()> {
    if !lango.exists() {
        bail!("{} is missing: cargo build --profile dist -p lango", lango.display());
    }
    let floor = |name: &str| -> Result<f64> {
        let output = Command::new(own).args(["worker", name, url]).output()?;
        if !output.status.success() {
            bail!("{name}: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(String::from_utf8(output.stdout)?.trim().parse()?)
    };
    let mut rows: [Vec<f64>; 7] = Default::default();
    for _ in 0..REPEATS {
        let figures = block_on(program::measure(lango, url))?;
        let values = [
            floor("sequential")?,
            figures.sequential,
            block_on(program::measure_long(lango, url))?,
            floor("parallel")?,
            figures.parallel,
            figures.idle,
            figures.after_parallel,
        ];
        for (row, value) in rows.iter_mut().zip(values) {
            row.push(value);
        }
    }
    let mut table = figures::Table::default();
    for ((what, limit), values) in [
        ("three streamed calls, one after the other, nothing else, CPU-ms", None),
        ("turn, one after the other, CPU-ms", Some(1.1)),
        ("turn 50 and later of one conversation, CPU-ms", None),
        ("three streamed calls, 64 at once, nothing else, CPU-ms", None),
        ("turn, 64 sessions at once, CPU-ms", Some(1.0)),
        ("resident memory, idle, MB", None),
        ("resident memory, 64 sessions at once, MB", Some(60.0)),
    ]
    .into_iter()
    .zip(rows)
    {
        table.add(what, limit, values);
    }
    table.add("start to first model request, CPU-ms", Some(20.0), start::measure(lango, 15)?);
    let first = start::measure_first(lango, 5)?;
    table.add("the same, very first start (makes the database), CPU-ms", None, first);
    finish(&table)
}
