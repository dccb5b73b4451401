//! Measures what one model call costs beyond the HTTP client that carries it, on every wire.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use futures_util::StreamExt;
use lango_model::{
    Chain, ChainLink, Endpoint, Message, Model, ModelEvent, ModelFacts, ModelId, ModelRequest,
    RemoteModel, RetryPolicy, Wire,
};
use lango_scripted::{Reply, ScriptedCall, WireProfile, WireVariant, profile, render_reply};
use lango_tool::ToolDeclaration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::worker::{cpu, per, since};

const CALLS: u32 = 1500;
const WARM_UP: u32 = 100;
/// Pieces of text in a reply: a model streams about one for each word.
const PIECES: usize = 100;

/// Answers every request at once with the reply that its path asks for.
pub(crate) async fn serve(listener: TcpListener) -> Result<()> {
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        tokio::spawn(async move {
            // A client that has what it wanted goes away.
            let _ = talk(socket).await;
        });
    }
}

async fn talk(mut socket: TcpStream) -> Result<()> {
    let mut pending = Vec::new();
    let mut replies: Vec<(Wire, Vec<u8>)> = Vec::new();
    loop {
        let head = loop {
            if let Some(at) = pending.windows(4).position(|four| four == b"\r\n\r\n") {
                break String::from_utf8_lossy(&pending[..at + 4]).into_owned();
            }
            if socket.read_buf(&mut pending).await? == 0 {
                return Ok(());
            }
        };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
        });
        let whole = head.len() + length.unwrap_or(0);
        while pending.len() < whole {
            if socket.read_buf(&mut pending).await? == 0 {
                return Ok(());
            }
        }
        pending.drain(..whole);
        let wire = wire_of(&head).context("an unknown path")?;
        if replies.iter().all(|(known, _)| *known != wire) {
            replies.push((wire, response(wire)));
        }
        let reply = replies.iter().find(|(known, _)| *known == wire);
        socket.write_all(&reply.context("no reply")?.1).await?;
    }
}

fn wire_of(head: &str) -> Option<Wire> {
    let path = head.split(' ').nth(1)?;
    Wire::ALL.into_iter().find(|wire| path.ends_with(profile(*wire).request_path))
}

/// A whole response, each event a chunk of its own, as servers stream them: words and one call.
fn response(wire: Wire) -> Vec<u8> {
    let kind = profile(wire).framing.content_type();
    let mut response =
        format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n")
            .into_bytes();
    let text: String = (0..PIECES).map(|n| format!("word{n} ")).collect();
    let raw = Some(r#"{"path":"a"}"#.to_owned());
    let call = ScriptedCall { name: "fs_stat".into(), raw, ..ScriptedCall::default() };
    let reply = Reply { say: Some(text), call: vec![call], ..Reply::default() };
    let variant = WireVariant { words: true, ..WireVariant::default() };
    for event in render_reply(wire, &reply, &variant) {
        response.extend(format!("{:x}\r\n", event.len()).into_bytes());
        response.extend(event);
        response.extend(b"\r\n");
    }
    response.extend(b"0\r\n\r\n");
    response
}

/// CPU time of one call over the bare client, subtracted from that of one through the chain.
pub(crate) async fn overhead(wire: Wire, address: &str) -> Result<(f64, f64)> {
    let WireProfile { base_path, request_path, .. } = profile(wire);
    let url = format!("http://{address}{base_path}");
    let id = ModelId::new("bench", "model");
    let remote = RemoteModel::new(Endpoint::new(id, wire, url.clone()))?;
    let facts =
        ModelFacts { window: Some(400_000), max_output: Some(128_000), ..ModelFacts::default() };
    let link = ChainLink { model: Arc::new(remote), facts, health: Arc::default() };
    let chain = Chain::new(link, Vec::new(), RetryPolicy::default());
    let request = Arc::new(request().await?);
    let ask = async || -> Result<()> {
        let (mut text, mut calls) = (0, 0);
        let mut stream = chain.stream(Arc::clone(&request));
        while let Some(event) = stream.next().await {
            match event? {
                ModelEvent::Text(piece) => text += piece.len(),
                ModelEvent::Call(_) => calls += 1,
                _ => {}
            }
        }
        if text < PIECES || calls != 1 {
            bail!("not the reply that should be measured: {text} bytes, {calls} calls");
        }
        Ok(())
    };
    let body = sent(wire, &request).await?;
    #[expect(clippy::disallowed_methods, reason = "the bare client is what is compared with")]
    let client = reqwest::Client::builder().no_proxy().tcp_nodelay(true).build()?;
    let address = format!("{url}{request_path}");
    let bare = async || -> Result<()> {
        let post = client.post(&address).header("content-type", "application/json");
        let mut response = post.body(body.clone()).send().await?;
        let mut length = 0;
        while let Some(chunk) = response.chunk().await? {
            length += chunk.len();
        }
        if length < PIECES {
            bail!("only {length} bytes came");
        }
        Ok(())
    };
    for _ in 0..WARM_UP {
        ask().await?;
        bare().await?;
    }
    let before = cpu();
    for _ in 0..CALLS {
        bare().await?;
    }
    let floor = per(since(before), CALLS);
    let before = cpu();
    for _ in 0..CALLS {
        ask().await?;
    }
    Ok((floor, per(since(before), CALLS)))
}

/// The bytes that the chain sends for a request.
async fn sent(wire: Wire, request: &Arc<ModelRequest>) -> Result<Vec<u8>> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    let remote = RemoteModel::new(Endpoint::new(ModelId::new("bench", "model"), wire, url))?;
    let mut stream = remote.stream(Arc::clone(request));
    let receive = async {
        let (mut socket, _) = listener.accept().await?;
        let mut bytes = Vec::new();
        loop {
            socket.read_buf(&mut bytes).await?;
            let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
            let head = String::from_utf8_lossy(&bytes[..at]).to_lowercase();
            let (_, length) = head.split_once("content-length: ").context("no length")?;
            let length: usize = length.lines().next().context("no length")?.parse()?;
            if bytes.len() >= at + 4 + length {
                return Ok::<_, anyhow::Error>(bytes.split_off(at + 4));
            }
        }
    };
    tokio::select! {
        body = receive => body,
        event = stream.next() => bail!("the request was not sent: {event:?}"),
    }
}

/// A request as the operator makes them: an instruction, tools, and a few turns.
async fn request() -> Result<ModelRequest> {
    let (directory, records) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let tools = crate::operator::tools(records.path(), directory.path()).await?;
    let tools: Vec<ToolDeclaration> = tools.iter().map(|tool| tool.declaration.clone()).collect();
    let mut messages = Vec::new();
    for turn in 0..5 {
        messages.push(Message::user(format!("Question {turn}: how large is notes.txt?")));
        let text = "It has a few lines, and was changed today.".to_owned();
        messages.push(Message::Assistant { author: None, text });
    }
    messages.push(Message::user("And now?"));
    Ok(ModelRequest {
        instruction: include_str!("../../topologies/standard/operator.md").into(),
        messages,
        tools,
        ..ModelRequest::default()
    })
}
