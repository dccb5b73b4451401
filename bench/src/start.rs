//! From the start of the program to its first request: CPU time of the real binary.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

const REPLY: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n\
    data: {\"choices\":[{\"delta\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}\n\n\
    data: [DONE]\n\n";

/// Starts the program `count` times with a database that exists.
pub(crate) fn measure(lango: &Path, count: usize) -> Result<Vec<f64>> {
    let home = tempfile::tempdir()?;
    start(lango, home.path())?;
    (0..count).map(|_| start(lango, home.path())).collect()
}

/// Starts the program `count` times with the database of a home.
pub(crate) fn measure_at(lango: &Path, home: &Path, count: usize) -> Result<Vec<f64>> {
    (0..count).map(|_| start(lango, home)).collect()
}

/// Starts the program `count` times, each time with an empty home.
pub(crate) fn measure_first(lango: &Path, count: usize) -> Result<Vec<f64>> {
    (0..count).map(|_| start(lango, tempfile::tempdir()?.path())).collect()
}

fn start(lango: &Path, home: &Path) -> Result<f64> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut child = Command::new(lango)
        .args(["run", "hello", "--quiet"])
        .env_clear()
        .env("LANGO_HOME", home)
        .env("LANGO_MODEL_NAME", "openai/gpt-5-mini")
        .env("OPENAI_BASE_URL", format!("http://{}/v1", listener.local_addr()?))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .context("cannot start lango")?;
    let (mut socket, _) = listener.accept()?;
    read_request(&mut socket)?;
    let spent = cpu_milliseconds(child.id())?;
    socket.write_all(REPLY.as_bytes())?;
    drop(socket);
    child.wait()?;
    Ok(spent)
}

fn read_request(socket: &mut TcpStream) -> Result<()> {
    let mut request = Vec::new();
    let mut buffer = [0; 16 * 1024];
    while !request.ends_with(b"}") {
        let length = socket.read(&mut buffer)?;
        anyhow::ensure!(length > 0, "lango closed the connection");
        request.extend_from_slice(&buffer[..length]);
    }
    Ok(())
}

/// CPU time of all threads of a process.
fn cpu_milliseconds(process: u32) -> Result<f64> {
    let mut nanoseconds = 0_f64;
    for task in std::fs::read_dir(format!("/proc/{process}/task"))? {
        let text = std::fs::read_to_string(task?.path().join("schedstat"))?;
        let first = text.split_whitespace().next().context("no schedstat")?;
        nanoseconds += first.parse::<f64>()?;
    }
    Ok(nanoseconds / 1e6)
}
