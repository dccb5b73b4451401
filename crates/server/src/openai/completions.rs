//! Implements `POST /v1/chat/completions`.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use lango_model::UserMessage;
use lango_protocol::{Caller, MessageOrigin, Sender, SessionId, TurnId};
use lango_runtime::{OWNER, Runtime, TurnRequest, owns_session};
use lango_store::TurnState;
use sha2::{Digest as _, Sha256};

use super::EndpointState;
use super::error::ApiError;
use super::history::ConversationDigest;
use super::keys::{IdempotencyKeys, KeyRecord};
use super::request::ChatRequest;
use super::turn::{ConversationSaver, EventSource, TurnFollower, TurnUpdate};
use super::turn_summary::TurnSummary;
use super::{stream, wire};

pub(super) async fn serve_completion(
    State(shared): State<Arc<EndpointState>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    match answer_request(shared, caller, &headers, &body).await {
        Ok(response) => response,
        Err(error) => error.into_response(),
    }
}

async fn answer_request(
    shared: Arc<EndpointState>,
    caller: Caller,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Response, ApiError> {
    let request = ChatRequest::parse(body)?;
    let runtime = shared.teams.team(&caller).ok_or_else(ApiError::no_team)?;
    let permit = shared.quota.acquire_permit(&caller).ok_or_else(ApiError::too_many)?;
    let options = RequestHeaders::of(headers, &request)?;
    let (stream, include_usage) = (request.stream, request.include_usage);
    let notices = request.notices.clone();
    let started_turn = begin_turn(&shared, &runtime, &caller, request, &options, body).await?;
    let summary = TurnSummary::new(started_turn.session.clone(), started_turn.turn);
    let follower = TurnFollower {
        shared: Arc::clone(&shared),
        source: started_turn.source,
        summary: summary.clone(),
        // A client that sends a key intends to repeat the request when the connection breaks.
        ends_with_client: !options.detach && options.key.is_none(),
        saver: started_turn.saver,
        for_owner: caller.as_str() == OWNER,
        permit,
    };
    let updates = follower.start_following();
    let mut response = if stream {
        stream::respond_with_stream(shared, updates, summary, notices, include_usage)
    } else {
        respond_whole(&shared, updates, &notices).await.unwrap_or_else(ApiError::into_response)
    };
    if let Ok(session) = HeaderValue::from_str(started_turn.session.as_str()) {
        response.headers_mut().insert("x-lango-session", session);
    }
    Ok(response)
}

/// Waits for the end of a turn.
async fn respond_whole(
    shared: &EndpointState,
    mut updates: tokio::sync::mpsc::Receiver<TurnUpdate>,
    notices: &[&'static str],
) -> Result<Response, ApiError> {
    let ended = async {
        loop {
            match updates.recv().await {
                Some(TurnUpdate::Update(_)) => {}
                Some(TurnUpdate::Ended(ended)) => break ended,
                None => break Err(ApiError::closing()),
            }
        }
    };
    let summary = tokio::select! {
        biased;
        ended = ended => ended?,
        () = shared.closing.cancelled() => return Err(ApiError::closing()),
    };
    Ok(Json(wire::build_completion(&summary, notices)).into_response())
}

/// Holds the options in the headers.
struct RequestHeaders {
    session: Option<SessionId>,
    key: Option<String>,
    detach: bool,
}

impl RequestHeaders {
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
            Some(name) => Some(name.parse().map_err(|_| no_session_error())?),
        };
        let key = header("idempotency-key")?;
        if let Some(key) = &key {
            IdempotencyKeys::check(key)?;
        }
        let detach = header("x-lango-detach")?.is_some_and(|value| value == "1" || value == "true");
        Ok(Self { session, key, detach })
    }
}

/// Returns the same error for a session that does not exist and for one of another caller.
fn no_session_error() -> ApiError {
    let words = "there is no such session. Leave it out to start a new one";
    ApiError::not_found("session", "session_not_found", words)
}

/// Holds the turn of a request.
struct StartedTurn {
    session: SessionId,
    turn: TurnId,
    source: EventSource,
    saver: Option<ConversationSaver>,
}

async fn begin_turn(
    shared: &EndpointState,
    runtime: &Runtime,
    caller: &Caller,
    request: ChatRequest,
    options: &RequestHeaders,
    body: &[u8],
) -> Result<StartedTurn, ApiError> {
    let Some(key) = &options.key else {
        let choice = find_session(shared, caller, &request, options).await?;
        let taken = choice.taken.clone();
        let turn = build_turn_request(caller, &request, &choice, TurnId::generate());
        let (session, id) = (turn.session.clone(), turn.turn);
        let source = EventSource::First(runtime.start_turn(turn));
        return Ok(StartedTurn::new(caller, request, taken, (session, id), source));
    };
    let digest = lango_text::hex(Sha256::digest(body));
    // See `IdempotencyKeys`: of two requests with one key, only one may start a turn.
    let _beginning = shared.keys.lock_keys().await;
    if let Some(key_record) = shared.keys.find(caller, key).await? {
        return resume_keyed_turn(shared, runtime, caller, request, key_record, &digest).await;
    }
    let choice = find_session(shared, caller, &request, options).await?;
    let turn = build_turn_request(caller, &request, &choice, TurnId::generate());
    let key_record =
        KeyRecord { request: digest.clone(), session: turn.session.clone(), turn: turn.turn };
    let promise = runtime.promise_turn(&turn).await?;
    if shared.keys.store_key(caller, key, &key_record, promise).await? {
        let (session, id) = (turn.session, turn.turn);
        let source = EventSource::First(runtime.drive_turn(session.clone(), id));
        return Ok(StartedTurn::new(caller, request, choice.taken, (session, id), source));
    }
    // Another process was faster.
    match shared.keys.find(caller, key).await? {
        Some(key_record) => {
            resume_keyed_turn(shared, runtime, caller, request, key_record, &digest).await
        }
        None => Err(ApiError::closing()),
    }
}

/// Holds the session of a request, and what its agents have to be told.
struct SessionChoice {
    session: SessionId,
    taken: Option<ConversationDigest>,
    tell_instructions: bool,
    tell_earlier: bool,
}

impl SessionChoice {
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
    shared: &EndpointState,
    caller: &Caller,
    request: &ChatRequest,
    options: &RequestHeaders,
) -> Result<SessionChoice, ApiError> {
    if let Some(session) = &options.session {
        if !owns_session(&shared.journal, caller, session).await? {
            return Err(no_session_error());
        }
        // A client that names a session knows its content; the instructions may be new.
        return Ok(SessionChoice {
            session: session.clone(),
            taken: None,
            tell_instructions: true,
            tell_earlier: false,
        });
    }
    let Some(mark) = request.history.mark_before(caller) else {
        return Ok(SessionChoice::new_session());
    };
    let Some(known) = shared.conversations.take_session(caller, &mark).await? else {
        return Ok(SessionChoice::new_session());
    };
    let summary = shared.journal.find_session(&known.session).await?;
    if summary.is_none_or(|summary| summary.turns != known.turns) {
        return Ok(SessionChoice::new_session());
    }
    Ok(SessionChoice {
        session: known.session,
        taken: Some(mark),
        tell_instructions: known.instructions != request.history.mark_of_instructions(),
        tell_earlier: false,
    })
}

fn build_turn_request(
    caller: &Caller,
    request: &ChatRequest,
    choice: &SessionChoice,
    turn: TurnId,
) -> TurnRequest {
    let history = &request.history;
    // The owner's messages are the user's; those of other callers carry their sender.
    let sender = (caller.as_str() != OWNER).then(|| Sender {
        caller: caller.clone(),
        message: None,
        trace: None,
    });
    let message = UserMessage {
        text: history.new.text.clone(),
        attachment: history.render_attachment(choice.tell_instructions, choice.tell_earlier),
        task: None,
        images: history.new.images.clone(),
    };
    TurnRequest {
        turn,
        sender,
        ..TurnRequest::new(choice.session.clone(), message, MessageOrigin::Openai)
    }
}

impl StartedTurn {
    fn new(
        caller: &Caller,
        request: ChatRequest,
        taken: Option<ConversationDigest>,
        (session, turn): (SessionId, TurnId),
        source: EventSource,
    ) -> Self {
        let history = request.history;
        let saver = Some(ConversationSaver { caller: caller.clone(), history, taken });
        Self { session, turn, source, saver }
    }
}

/// Returns the turn that a repeated key belongs to, whatever its state and whichever process runs it.
async fn resume_keyed_turn(
    shared: &EndpointState,
    runtime: &Runtime,
    caller: &Caller,
    request: ChatRequest,
    key_record: KeyRecord,
    digest: &ConversationDigest,
) -> Result<StartedTurn, ApiError> {
    if key_record.request != *digest {
        return Err(ApiError::key_reused());
    }
    let KeyRecord { session, turn, .. } = key_record;
    let is_here = runtime.is_under_way(turn);
    let state = shared.journal.find_turn_state(&session, turn).await?;
    if !is_here
        && state == TurnState::Closed
        && shared.journal.read_turn_events(&session, turn).await?.is_empty()
    {
        // An earlier version stored the key and ended before it started the turn, or the turn was
        // withdrawn.
        let first =
            shared.journal.find_session(&session).await?.is_none_or(|stored| stored.turns == 0);
        let choice = SessionChoice {
            session: session.clone(),
            taken: None,
            tell_instructions: first,
            tell_earlier: first,
        };
        runtime.promise_again(&build_turn_request(caller, &request, &choice, turn)).await?;
    }
    let source = EventSource::Repetition(runtime.drive_turn(session.clone(), turn));
    let mut started = StartedTurn::new(caller, request, None, (session, turn), source);
    if is_here {
        // The request that came first stores the conversation.
        started.saver = None;
    }
    Ok(started)
}
