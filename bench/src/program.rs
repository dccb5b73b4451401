//! Measures turns of the whole program from outside: `lango serve` with every agent and observer,
//! asked over its OpenAI API. Only the CPU time and memory of its process are counted.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use futures_util::future::try_join_all;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const SEQUENTIAL: u32 = 1500;
const WARM_UP: u32 = 50;
const SESSIONS: u32 = 64;
const TURNS_EACH: u32 = 25;
const QUESTION: &str = "How large is notes.txt?";

/// The figures of one run of the program.
#[derive(Debug)]
pub(crate) struct Figures {
    /// CPU-ms of a turn, each in a conversation of its own, one after the other.
    pub(crate) sequential: f64,
    /// CPU-ms of a turn, in 64 conversations at once.
    pub(crate) parallel: f64,
    /// Resident memory before the first turn, in MB.
    pub(crate) idle: f64,
    /// Resident memory after 64 conversations at once, in MB.
    pub(crate) after_parallel: f64,
}

/// Starts the program in an empty home and measures it.
pub(crate) async fn measure(lango: &Path, model: &str) -> Result<Figures> {
    let home = tempfile::tempdir()?;
    let program = Program::start(lango, home.path(), model)?;
    program.turns(WARM_UP).await?;
    let before = program.cpu_milliseconds()?;
    program.turns(SEQUENTIAL).await?;
    let sequential = (program.cpu_milliseconds()? - before) / f64::from(SEQUENTIAL);
    drop(program);

    let home = tempfile::tempdir()?;
    let program = Program::start(lango, home.path(), model)?;
    let idle = program.resident()?;
    program.turns(WARM_UP).await?;
    let before = program.cpu_milliseconds()?;
    try_join_all((0..SESSIONS).map(|_| program.turns(TURNS_EACH))).await?;
    let parallel = (program.cpu_milliseconds()? - before) / f64::from(SESSIONS * TURNS_EACH);
    let after_parallel = program.resident()?;
    Ok(Figures { sequential, parallel, idle, after_parallel })
}

/// CPU-ms of turn 30 and later of one conversation, which the client sends whole each time.
pub(crate) async fn measure_long(lango: &Path, model: &str) -> Result<f64> {
    const TURNS: u32 = 300;
    let home = tempfile::tempdir()?;
    let program = Program::start(lango, home.path(), model)?;
    let mut client = program.connect().await?;
    let mut messages = Vec::new();
    let mut before = 0.0;
    for turn in 0..WARM_UP + TURNS {
        if turn == WARM_UP {
            before = program.cpu_milliseconds()?;
        }
        messages.push(json!({ "role": "user", "content": QUESTION }));
        let answer = client.ask(&messages).await?;
        messages.push(json!({ "role": "assistant", "content": answer }));
    }
    Ok((program.cpu_milliseconds()? - before) / f64::from(TURNS))
}

/// The turns of a long conversation that are measured: a name, and the first and last of them.
pub(crate) const CONVERSATION_PARTS: [(&str, u32, u32); 3] = [
    ("turns 51 to 250", 51, 250),
    ("turns 401 to 600", 401, 600),
    ("turns 2,301 to 2,500", 2301, 2500),
];

/// Says what the user of a long conversation talks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Talk {
    /// A task, always the same.
    Tasks,
    /// The task, and something about the user that is remembered: two texts to embed in each turn.
    TasksAndFacts,
}

/// CPU-ms of a turn in parts of one conversation, whose session the client names.
pub(crate) async fn measure_conversation(
    lango: &Path,
    model: &str,
    talk: Talk,
) -> Result<Vec<f64>> {
    let home = tempfile::tempdir()?;
    let program = Program::start(lango, home.path(), model)?;
    let mut client = program.connect().await?;
    client.stays_in_session = true;
    let mut figures = Vec::new();
    let mut turn = 1;
    for (_, first, last) in CONVERSATION_PARTS {
        let mut before = 0.0;
        while turn <= last {
            if turn == first {
                before = program.cpu_milliseconds()?;
            }
            let message = match talk {
                Talk::Tasks => QUESTION.to_owned(),
                Talk::TasksAndFacts => {
                    format!("{QUESTION} My boat number {turn} is called Anna {turn}.")
                }
            };
            client.ask(&[json!({ "role": "user", "content": message })]).await?;
            turn += 1;
        }
        figures.push((program.cpu_milliseconds()? - before) / f64::from(last + 1 - first));
    }
    Ok(figures)
}

/// A running `lango serve`. It is killed when this is dropped.
struct Program {
    child: Child,
    address: String,
    token: String,
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended already, which the failed request reports.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Program {
    fn start(lango: &Path, home: &Path, model: &str) -> Result<Self> {
        let workspace = home.join("workspace");
        std::fs::create_dir(&workspace)?;
        std::fs::write(workspace.join("notes.txt"), "a few\nlines\n")?;
        let mut child = Command::new(lango)
            .args(["serve", "--port", "0"])
            .current_dir(&workspace)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", home)
            .env("LANGO_HOME", home.join("lango"))
            .env("LANGO_MODEL_NAME", "openai/gpt-5-mini")
            .env("OPENAI_BASE_URL", model)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", lango.display()))?;
        let output = child.stdout.take().context("the program has no output")?;
        let mut program = Self { child, address: String::new(), token: String::new() };
        for line in BufReader::new(output).lines() {
            let line = line?;
            if let Some(address) = line.strip_prefix("Lango serves at http://") {
                address.clone_into(&mut program.address);
            }
            if line.trim().starts_with("lango_") {
                line.trim().clone_into(&mut program.token);
            }
            if line.starts_with("Ctrl-C") {
                break;
            }
        }
        ensure!(!program.token.is_empty(), "lango serve printed no token");
        Ok(program)
    }

    /// Runs turns one after the other over one connection, each in a conversation of its own.
    async fn turns(&self, count: u32) -> Result<()> {
        let mut client = self.connect().await?;
        let messages = [json!({ "role": "user", "content": QUESTION })];
        for _ in 0..count {
            client.ask(&messages).await?;
        }
        Ok(())
    }

    async fn connect(&self) -> Result<Client<'_>> {
        let socket = TcpStream::connect(&self.address).await?;
        socket.set_nodelay(true)?;
        Ok(Client { socket, program: self, stays_in_session: false, session: String::new() })
    }

    fn cpu_milliseconds(&self) -> Result<f64> {
        cpu_milliseconds(self.child.id())
    }

    fn resident(&self) -> Result<f64> {
        crate::worker::resident_of(&self.child.id().to_string())
    }
}

/// CPU time of a process with all threads that it has had.
pub(crate) fn cpu_milliseconds(process: u32) -> Result<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    let (_, fields) = stat.rsplit_once(')').context("no process name in stat")?;
    let ticks: Vec<f64> =
        fields.split_whitespace().skip(11).take(2).map(str::parse).collect::<Result<_, _>>()?;
    let per_second = rustix::param::clock_ticks_per_second();
    #[expect(clippy::cast_precision_loss, reason = "there are about 100 ticks in a second")]
    Ok(ticks.iter().sum::<f64>() * 1000.0 / per_second as f64)
}

/// One connection that is used again and again.
struct Client<'a> {
    socket: TcpStream,
    program: &'a Program,
    /// True if all messages go to the session of the first one.
    stays_in_session: bool,
    session: String,
}

impl Client<'_> {
    /// Sends the conversation and returns the answer.
    async fn ask(&mut self, messages: &[Value]) -> Result<String> {
        let body = json!({ "model": "lango", "messages": messages }).to_string();
        let session = match self.session.as_str() {
            "" => String::new(),
            session => format!("x-lango-session: {session}\r\n"),
        };
        let request = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n{session}\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.program.address,
            self.program.token,
            body.len(),
        );
        self.socket.write_all(request.as_bytes()).await?;
        let mut reply = Vec::new();
        let head = loop {
            if let Some(at) = reply.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            ensure!(self.socket.read_buf(&mut reply).await? > 0, "lango closed the connection");
        };
        let text = String::from_utf8_lossy(&reply[..head]).to_ascii_lowercase();
        let length = text.lines().find_map(|line| line.strip_prefix("content-length:"));
        let session = text.lines().find_map(|line| line.strip_prefix("x-lango-session:"));
        if let Some(session) = session.filter(|_| self.stays_in_session) {
            session.trim().clone_into(&mut self.session);
        }
        let length: usize = length.context("a reply without a length")?.trim().parse()?;
        while reply.len() < head + length {
            ensure!(self.socket.read_buf(&mut reply).await? > 0, "lango closed the connection");
        }
        let reply: Value = serde_json::from_slice(&reply[head..])?;
        if reply["lango"]["agent"] != "operator" {
            bail!("not the turn that should be measured: {reply}");
        }
        let answer = reply["choices"][0]["message"]["content"].as_str();
        Ok(answer.context("a reply without an answer")?.to_owned())
    }
}
