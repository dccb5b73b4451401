//! `POST /v1/chat/completions`.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use lango_model::UserMessage;
use lango_protocol::{Caller, Origin, Sender, SessionId, TurnId};
use lango_runtime::{OWNER, Runtime, TurnRequest, owns_session};
use sha2::{Digest as _, Sha256};

use super::Shared;
use super::error::ApiError;
use super::history::Mark;
use super::keys::{Keyed, Keys};
use super::request::ChatRequest;
use super::telling::Telling;
use super::turn::{Course, Keeping, News, Source};
use super::{stream, wire};

pub(super) async fn complete(
    State(shared): State<Arc<Shared>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    match answer(shared, caller, &headers, &body).await {
        Ok(response) => response,
        Err(error) => error.into_response(),
    }
}

async fn answer(
    shared: Arc<Shared>,
    caller: Caller,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Response, ApiError> {
    let request = ChatRequest::parse(body)?;
    let runtime = shared.teams.team(&caller).ok_or_else(ApiError::no_team)?;
    let place = shared.room.enter(&caller).ok_or_else(ApiError::too_many)?;
    let wishes = Wishes::of(headers, &request)?;
    let (stream, include_usage) = (request.stream, request.include_usage);
    let notices = request.notices.clone();
    let begun = begin(&shared, &runtime, &caller, request, &wishes, body).await?;
    let telling = Telling::new(begun.session.clone(), begun.turn);
    let course = Course {
        shared: Arc::clone(&shared),
        source: begun.source,
        telling: telling.clone(),
        // Who sends a key means to ask again when the connection breaks.
        ends_with_client: !wishes.detach && wishes.key.is_none(),
        keeping: begun.keeping,
        for_owner: caller.as_str() == OWNER,
        place,
    };
    let news = course.begin();
    let mut response = if stream {
        stream::respond(shared, news, telling, notices, include_usage)
    } else {
        whole(&shared, news, &notices).await.unwrap_or_else(ApiError::into_response)
    };
    if let Ok(session) = HeaderValue::from_str(begun.session.as_str()) {
        response.headers_mut().insert("x-lango-session", session);
    }
    Ok(response)
}

/// Waits for the end of a turn.
async fn whole(
    shared: &Shared,
    mut news: tokio::sync::mpsc::Receiver<News>,
    notices: &[&'static str],
) -> Result<Response, ApiError> {
    let ended = async {
        loop {
            match news.recv().await {
                Some(News::Update(_)) => {}
                Some(News::Ended(ended)) => break ended,
                None => break Err(ApiError::closing()),
            }
        }
    };
    let telling = tokio::select! {
        biased;
        ended = ended => ended?,
        () = shared.closing.cancelled() => return Err(ApiError::closing()),
    };
    Ok(Json(wire::completion(&telling, notices)).into_response())
}

/// What the headers ask for.
struct Wishes {
    session: Option<SessionId>,
    key: Option<String>,
    detach: bool,
}

impl Wishes {
    fn of(headers: &HeaderMap, request: &ChatRequest) -> Result<Self, ApiError> {
        let header = |name: &'static str| {
            headers
                .get(name)
                .map(|value| value.to_str().map(|text| text.trim().to_owned()))
                .transpose()
                .map_err(|_| {
                    ApiError::invalid(name, format!("the header {name} is not plain text"))
                })
        };
        let session = match header("x-lango-session")?.or_else(|| request.session.clone()) {
            None => None,
            Some(name) => Some(name.parse().map_err(|_| no_session())?),
        };
        let key = header("idempotency-key")?;
        if let Some(key) = &key {
            Keys::check(key)?;
        }
        let detach = header("x-lango-detach")?.is_some_and(|value| value == "1" || value == "true");
        Ok(Self { session, key, detach })
    }
}

/// One answer for a session that is not there and one that is somebody else's.
fn no_session() -> ApiError {
    let words = "there is no such session. Leave it out, and a new one is begun";
    ApiError::not_found("session", "session_not_found", words)
}

/// A turn for a request.
struct Begun {
    session: SessionId,
    turn: TurnId,
    source: Source,
    keeping: Option<Keeping>,
}

async fn begin(
    shared: &Shared,
    runtime: &Runtime,
    caller: &Caller,
    request: ChatRequest,
    wishes: &Wishes,
    body: &[u8],
) -> Result<Begun, ApiError> {
    let Some(key) = &wishes.key else {
        let found = find_session(shared, caller, &request, wishes).await?;
        return Ok(start(runtime, caller, request, found, TurnId::generate()));
    };
    let digest = wire::hexadecimal(&Sha256::digest(body));
    // See `Keys`: two requests with one key must not both find it new.
    let _beginning = shared.keys.begin().await;
    if let Some(keyed) = shared.keys.find(caller, key).await? {
        return again(shared, runtime, caller, request, keyed, &digest).await;
    }
    let found = find_session(shared, caller, &request, wishes).await?;
    let turn = TurnId::generate();
    let keyed = Keyed { request: digest.clone(), session: found.session.clone(), turn };
    if shared.keys.keep(caller, key, &keyed).await? {
        return Ok(start(runtime, caller, request, found, turn));
    }
    // Another process was faster.
    match shared.keys.find(caller, key).await? {
        Some(keyed) => again(shared, runtime, caller, request, keyed, &digest).await,
        None => Ok(start(runtime, caller, request, found, turn)),
    }
}

/// The session of a request, and what its agents have to be told.
struct Found {
    session: SessionId,
    taken: Option<Mark>,
    tell_instructions: bool,
    tell_earlier: bool,
}

impl Found {
    fn new_session() -> Self {
        Self {
            session: SessionId::generate(),
            taken: None,
            tell_instructions: true,
            tell_earlier: true,
        }
    }
}

async fn find_session(
    shared: &Shared,
    caller: &Caller,
    request: &ChatRequest,
    wishes: &Wishes,
) -> Result<Found, ApiError> {
    if let Some(session) = &wishes.session {
        if !owns_session(&shared.journal, caller, session).await? {
            return Err(no_session());
        }
        // Whoever names a session knows what is in it; how to answer may be new.
        return Ok(Found {
            session: session.clone(),
            taken: None,
            tell_instructions: true,
            tell_earlier: false,
        });
    }
    let Some(mark) = request.history.mark_before(caller) else { return Ok(Found::new_session()) };
    let Some(known) = shared.conversations.take(caller, &mark).await? else {
        return Ok(Found::new_session());
    };
    let summary = shared.journal.session(&known.session).await?;
    if summary.is_none_or(|summary| summary.turns != known.turns) {
        return Ok(Found::new_session());
    }
    Ok(Found {
        session: known.session,
        taken: Some(mark),
        tell_instructions: known.instructions != request.history.mark_of_instructions(),
        tell_earlier: false,
    })
}

fn start(
    runtime: &Runtime,
    caller: &Caller,
    request: ChatRequest,
    found: Found,
    turn: TurnId,
) -> Begun {
    let history = request.history;
    // The owner's words are the user's; everybody else's are a stranger's.
    let sender = (caller.as_str() != OWNER).then(|| Sender {
        caller: caller.clone(),
        message: None,
        trace: None,
    });
    let message = UserMessage {
        text: history.new.text.clone(),
        attachment: history.attachment(found.tell_instructions, found.tell_earlier),
        task: None,
        images: history.new.images.clone(),
    };
    let started = TurnRequest {
        turn,
        sender,
        ..TurnRequest::new(found.session.clone(), message, Origin::Openai)
    };
    let handle = runtime.start_turn(started);
    let keeping = Keeping { caller: caller.clone(), history, taken: found.taken };
    Begun { session: found.session, turn, source: Source::Own(handle), keeping: Some(keeping) }
}

/// A key that came before: the same turn, wherever it stands.
async fn again(
    shared: &Shared,
    runtime: &Runtime,
    caller: &Caller,
    request: ChatRequest,
    keyed: Keyed,
    digest: &Mark,
) -> Result<Begun, ApiError> {
    if keyed.request != *digest {
        return Err(ApiError::key_reused());
    }
    let Keyed { session, turn, .. } = keyed;
    let running = runtime.is_under_way(turn);
    let events = shared.journal.turn_events(&session, turn).await?;
    if events.is_empty() && !running {
        // The process died between the key and the turn.
        let first = shared.journal.session(&session).await?.is_none_or(|found| found.turns == 0);
        let found = Found { session, taken: None, tell_instructions: first, tell_earlier: first };
        return Ok(start(runtime, caller, request, found, turn));
    }
    let unfinished = shared.journal.unfinished_turns(Some(&session)).await?;
    let interrupted = unfinished.iter().any(|open| open.turn == turn && open.running.is_none());
    if interrupted && !running {
        let handle = runtime.resume_turn(session.clone(), turn);
        let history = request.history;
        let keeping = Keeping { caller: caller.clone(), history, taken: None };
        let source = Source::Own(handle);
        return Ok(Begun { session, turn, source, keeping: Some(keeping) });
    }
    let following = runtime.follow(session.clone(), turn, 0);
    Ok(Begun { session, turn, source: Source::Other(Box::new(following)), keeping: None })
}
