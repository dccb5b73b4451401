//! Benchmarks, in CPU time: what a turn costs the machine, not what the clock says.
//!
//! `cargo xtask bench turn` runs them. Each figure is taken in a process of its own; the scripted
//! model is another process, so that its work is not counted.

mod figures;
mod start;
mod worker;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};
use lango_model::scripted::{Script, ScriptedServer};

/// Runs of each figure.
const REPEATS: usize = 7;

const SCRIPT: &str = include_str!("../turn.toml");

fn main() -> Result<()> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] | ["turn"] => turn(),
        ["serve"] => block_on(serve()),
        ["worker", name, url] => block_on(worker::run(name, url)),
        _ => bail!("usage: lango-bench [turn]"),
    }
}

/// The same flavour of runtime as the program itself.
fn block_on<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(future)
}

/// Serves the script until the other end of standard input closes.
async fn serve() -> Result<()> {
    let server = ScriptedServer::start_forgetful(Script::parse("turn.toml", SCRIPT)?).await?;
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{}", server.base_url())?;
    stdout.flush()?;
    let mut input = tokio::io::stdin();
    let mut byte = [0];
    while tokio::io::AsyncReadExt::read(&mut input, &mut byte).await? > 0 {}
    Ok(())
}

fn turn() -> Result<()> {
    let own = std::env::current_exe()?;
    let mut server = Command::new(&own)
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start the scripted model")?;
    let result = measure(&own, &mut server);
    drop(server.stdin.take());
    server.wait()?;
    result
}

fn measure(own: &std::path::Path, server: &mut Child) -> Result<()> {
    let mut url = String::new();
    let stdout = server.stdout.take().context("the scripted model has no output")?;
    BufReader::new(stdout).read_line(&mut url)?;
    let mut table = figures::Table::default();
    for (name, what, limit) in [
        ("bare", "three streamed calls, nothing else, CPU-ms", None),
        ("sequential", "turn, one after the other, CPU-ms", Some(1.0)),
        ("long", "turn 30 and later of one conversation, CPU-ms", None),
        ("parallel", "turn, 64 sessions at once, CPU-ms", Some(1.0)),
        ("idle", "resident memory, idle with the full tree, MB", Some(15.0)),
        ("parallel-memory", "resident memory, 64 sessions at once, MB", Some(40.0)),
    ] {
        let mut values = Vec::new();
        for _ in 0..REPEATS {
            let output = Command::new(own).args(["worker", name, url.trim()]).output()?;
            if !output.status.success() {
                bail!("{name}: {}", String::from_utf8_lossy(&output.stderr));
            }
            values.push(String::from_utf8(output.stdout)?.trim().parse::<f64>()?);
        }
        table.add(what, limit, values);
    }
    let lango = own.with_file_name("lango");
    if lango.exists() {
        table.add("start to first model request, CPU-ms", Some(20.0), start::measure(&lango, 15)?);
        let first = start::measure_first(&lango, 5)?;
        table.add("the same, very first start (makes the database), CPU-ms", None, first);
    } else {
        bail!("{} is missing: cargo build --release -p lango", lango.display());
    }
    let mut stdout = std::io::stdout();
    stdout.write_all(table.to_string().as_bytes())?;
    if table.is_over() {
        bail!("a figure is over its limit");
    }
    Ok(())
}
