//! Accepts a message: as a new task, as a further turn of one, or as the repetition of a message
//! that was accepted before.

use std::sync::Arc;

use a2a::{Message, SendMessageRequest, TaskPushNotificationConfig, TaskState};
use lango_model::UserMessage;
use lango_protocol::{Caller, MessageOrigin, Sender, SessionId, TurnId};
use lango_runtime::TurnRequest;
use lango_store::{Statement, StoreError};
use tokio::sync::OwnedSemaphorePermit;

use super::clock;
use super::incoming::{self, MessageContent};
use super::live::{CallerReply, LiveState, LiveTask, LoadedTask};
use super::projection::Projection;
use super::stream::{StreamEnd, Subscription};
use super::tables::{ForcedEnd, NewTurn, TaskRow, TurnRow};
use super::tasks::{Tasks, check_history, internal_error, session_for_context, trim_task};
use crate::wire::error::ProtocolError;

/// The metadata of a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestMetadata {
    pub(crate) traceparent: Option<String>,
    /// The protocol version of notifications.
    pub(crate) version: &'static str,
}

/// A message that was accepted now or before.
struct AcceptedMessage {
    live: Arc<LiveTask>,
    /// The reply at the time of acceptance.
    first: Option<CallerReply>,
    subscription: Subscription,
}

impl Tasks {
    /// Sends a message and waits for the result, unless the caller wants an immediate reply.
    pub(crate) async fn send_message(
        self: &Arc<Self>,
        caller: &Caller,
        request: SendMessageRequest,
        metadata: RequestMetadata,
    ) -> Result<CallerReply, ProtocolError> {
        let configuration = request.configuration.as_ref();
        let history = configuration.and_then(|configuration| configuration.history_length);
        let at_once =
            configuration.and_then(|configuration| configuration.return_immediately) == Some(true);
        let accepted = self.accept_message(caller, request, metadata, false).await?;
        if !at_once {
            tokio::select! {
                () = accepted.live.wait_until_settled() => {}
                () = self.closing.cancelled() => {}
            }
        }
        let reply = match accepted.first.filter(|_| at_once) {
            Some(reply) => reply,
            None => accepted.live.current_reply().await.ok_or(ProtocolError::Internal)?,
        };
        Ok(match reply {
            CallerReply::Task(task) => CallerReply::Task(trim_task(task, history, true)),
            message @ CallerReply::Message(_) => message,
        })
    }

    /// Sends a message and streams its updates.
    pub(crate) async fn send_streaming(
        self: &Arc<Self>,
        caller: &Caller,
        request: SendMessageRequest,
        metadata: RequestMetadata,
    ) -> Result<Subscription, ProtocolError> {
        let accepted = self.accept_message(caller, request, metadata, true).await?;
        Ok(accepted.subscription.keep_task(accepted.live, self.closing.clone()))
    }

    async fn accept_message(
        self: &Arc<Self>,
        caller: &Caller,
        request: SendMessageRequest,
        metadata: RequestMetadata,
        streams: bool,
    ) -> Result<AcceptedMessage, ProtocolError> {
        let (tasks, caller) = (Arc::clone(self), caller.clone());
        self.run_to_completion(async move {
            tasks.check_and_accept(&caller, request, metadata, streams).await
        })
        .await
    }

    async fn check_and_accept(
        self: &Arc<Self>,
        caller: &Caller,
        request: SendMessageRequest,
        metadata: RequestMetadata,
        streams: bool,
    ) -> Result<AcceptedMessage, ProtocolError> {
        let mut message = request.message;
        // An absent and an empty text are equal in the protocol's definition.
        message.context_id = message.context_id.filter(|id| !id.is_empty());
        message.task_id = message.task_id.filter(|id| !id.is_empty());
        let read = incoming::read_message(&message, &self.settings.input_modes)?;
        let configuration = request.configuration.as_ref();
        check_history(configuration.and_then(|configuration| configuration.history_length))?;
        let notification = configuration
            .and_then(|configuration| configuration.task_push_notification_config.clone());
        if let Some(notification) = &notification {
            self.check_notification(notification)?;
        }
        let named = message.context_id.is_some() || message.task_id.is_some();
        let repeat_key = (self.settings.callers_are_known || named)
            .then(|| incoming::repeat_key(caller.as_str(), &message));
        let at_once =
            configuration.and_then(|configuration| configuration.return_immediately) == Some(true);
        let send = IncomingMessage {
            caller,
            message: &message,
            repeat_key,
            notification,
            metadata,
            streams,
            revealed: at_once,
        };
        match &message.task_id {
            Some(task) => self.continue_task(task, send, read).await,
            None => self.create_task(send, read).await,
        }
    }

    /// Creates a task.
    async fn create_task(
        self: &Arc<Self>,
        send: IncomingMessage<'_>,
        read: MessageContent,
    ) -> Result<AcceptedMessage, ProtocolError> {
        if let Some(accepted) = self.find_repetition(&send).await? {
            return Ok(accepted);
        }
        // Checked before anything is written: a caller without access leaves no task behind.
        self.find_runtime(send.caller)?;
        let permit = self.acquire_turn_permit(send.caller)?;
        let now = clock::now();
        let context =
            send.message.context_id.clone().unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
        let row = TaskRow {
            id: uuid::Uuid::now_v7().to_string(),
            caller: send.caller.clone(),
            session: session_for_context(send.caller, &context)?,
            context,
            state: TaskState::Submitted,
            status_at: now,
            created_at: now,
            revealed: send.revealed || send.notification.is_some(),
            turns: 1,
            ended: None,
            traceparent: send.metadata.traceparent.clone(),
        };
        let turn = send.new_turn(now);
        let live = self.live.find_or_add(&row.id);
        // Locked before the row is visible, so that a reader of the row waits until the turn has
        // begun.
        let mut state = live.state.lock().await;
        self.check_allowed(&mut state, &row.id, &send).await?;
        let promise = self.promise_turn(&send, &row, &turn, read).await?;
        match self.tables.create_task(&row, &turn, promise).await {
            Ok(()) => {}
            // The same message was sent at the same time.
            Err(StoreError::Conflict { .. }) => {
                drop(state);
                return self.find_repetition(&send).await?.ok_or(ProtocolError::Internal);
            }
            Err(error) => return Err(internal_error(error)),
        }
        let projection = Projection::new(&row.id, &row.context, now, row.revealed);
        state.loaded =
            Some(LoadedTask { row, turns: Vec::new(), projection, seen: 0, finished: true });
        self.start_turn(&live, &mut state, &send, turn, permit).await?;
        let accepted = self.build_accepted_message(&live, &mut state, send.streams)?;
        drop(state);
        Ok(accepted)
    }

    /// Adds a turn to a task that waits for one.
    async fn continue_task(
        self: &Arc<Self>,
        task: &str,
        send: IncomingMessage<'_>,
        read: MessageContent,
    ) -> Result<AcceptedMessage, ProtocolError> {
        let row = self.find_task_row(send.caller, task).await?;
        if send.message.context_id.as_ref().is_some_and(|context| *context != row.context) {
            let rule = "is not the context of this task; leave it out";
            return Err(ProtocolError::invalid_field("message.contextId", rule));
        }
        if let Some(accepted) = self.find_repetition(&send).await? {
            return Ok(accepted);
        }
        let live = self.live.find_or_add(task);
        let mut state = self.open(&live, &row).await?;
        let loaded = state.loaded.as_ref().ok_or(ProtocolError::Internal)?;
        if loaded.projection.state().is_terminal() {
            let message = format!("the task {task:?} has ended; send a message without taskId");
            return Err(ProtocolError::UnsupportedOperation(message));
        }
        if loaded.projection.waits_for_owner() {
            // A caller cannot answer for the owner: it gets the task unchanged.
            let accepted = self.build_accepted_message(&live, &mut state, send.streams)?;
            drop(state);
            return Ok(accepted);
        }
        if !loaded.finished {
            let message = format!("the task {task:?} is at work; wait for it, or cancel it");
            return Err(ProtocolError::UnsupportedOperation(message));
        }
        self.check_allowed(&mut state, task, &send).await?;
        let permit = self.acquire_turn_permit(send.caller)?;
        let loaded = state.loaded.as_ref().ok_or(ProtocolError::Internal)?;
        let now = clock::now().max(loaded.projection.status_at());
        let turn = send.new_turn(now);
        let promise = self.promise_turn(&send, &loaded.row, &turn, read).await?;
        match self.tables.add_turn(&loaded.row, &turn, promise).await {
            Ok(()) => {}
            Err(StoreError::Conflict { .. }) => {
                drop(state);
                let busy = || {
                    let message = format!("the task {task:?} was just changed; look at it again");
                    ProtocolError::UnsupportedOperation(message)
                };
                return self.find_repetition(&send).await?.ok_or_else(busy);
            }
            Err(error) => return Err(internal_error(error)),
        }
        if let Some(loaded) = state.loaded.as_mut() {
            loaded.row.turns += 1;
        }
        self.start_turn(&live, &mut state, &send, turn, permit).await?;
        let accepted = self.build_accepted_message(&live, &mut state, send.streams)?;
        drop(state);
        Ok(accepted)
    }

    /// Returns the result of an earlier copy of the same message.
    async fn find_repetition(
        self: &Arc<Self>,
        send: &IncomingMessage<'_>,
    ) -> Result<Option<AcceptedMessage>, ProtocolError> {
        let Some(key) = &send.repeat_key else { return Ok(None) };
        let Some(task) = self.tables.find_task_of_repetition(key).await.map_err(internal_error)?
        else {
            return Ok(None);
        };
        let row = self.tables.find_task(&task).await.map_err(internal_error)?;
        let row = row.ok_or(ProtocolError::Internal)?;
        let live = self.live.find_or_add(&task);
        let mut state = self.open(&live, &row).await?;
        let accepted = self.build_accepted_message(&live, &mut state, send.streams)?;
        drop(state);
        self.follow_other_process(send.caller, &live).await?;
        Ok(Some(accepted))
    }

    /// Checks that everything a message asks for is allowed. Called before anything is written, so
    /// that a refused message leaves nothing behind.
    async fn check_allowed(
        &self,
        state: &mut LiveState,
        task: &str,
        send: &IncomingMessage<'_>,
    ) -> Result<(), ProtocolError> {
        self.find_runtime(send.caller)?;
        if send.streams {
            self.check_follower_limit(state)?;
        }
        match &send.notification {
            Some(notification) => self.check_notification_limit(task, notification).await,
            None => Ok(()),
        }
    }

    /// Returns the statement that queues the turn of a message.
    async fn promise_turn(
        &self,
        send: &IncomingMessage<'_>,
        row: &TaskRow,
        turn: &NewTurn,
        read: MessageContent,
    ) -> Result<Statement, ProtocolError> {
        let sender = Sender {
            caller: send.caller.clone(),
            message: Some(turn.message_id.clone()),
            trace: row.traceparent.clone(),
        };
        let request = build_turn_request(sender, row.session.clone(), turn.turn, read);
        let runtime = self.find_runtime(send.caller)?;
        runtime.promise_turn(&request).await.map_err(internal_error)
    }

    /// Starts a turn that is queued, or ends the task if not everything that belongs to it can be
    /// stored.
    async fn start_turn(
        self: &Arc<Self>,
        live: &Arc<LiveTask>,
        state: &mut LiveState,
        send: &IncomingMessage<'_>,
        turn: NewTurn,
        permit: OwnedSemaphorePermit,
    ) -> Result<(), ProtocolError> {
        let started = self.try_start(live, state, send, turn, permit).await;
        if started.is_err() {
            // The error is logged where it occurs. If this cannot be stored either, the turn runs.
            let _ = self.force_end(live, state, ForcedEnd::Failed).await;
        }
        started
    }

    async fn try_start(
        self: &Arc<Self>,
        live: &Arc<LiveTask>,
        state: &mut LiveState,
        send: &IncomingMessage<'_>,
        turn: NewTurn,
        permit: OwnedSemaphorePermit,
    ) -> Result<(), ProtocolError> {
        let team = self.find_runtime(send.caller)?;
        let Some(loaded) = state.loaded.as_mut() else { return Err(ProtocolError::Internal) };
        if let Some(notification) = &send.notification {
            self.add_notification(&loaded.row.id, notification, send.metadata.version).await?;
        }
        let position = loaded.row.turns;
        let updates = loaded.projection.begin_turn(position, &turn.message_id, turn.at);
        let session = loaded.row.session.clone();
        loaded.finished = false;
        loaded.turns.push(TurnRow {
            position,
            turn: turn.turn,
            message_id: turn.message_id,
            pending: None,
            at: turn.at,
        });
        state.driven = Some(position);
        self.publish_updates(live, state, updates);
        if let Some(loaded) = &state.loaded {
            tracing::info!(task = %loaded.row.id, turn = %turn.turn, "task accepted");
        }
        let handle = team.drive_turn(session, turn.turn);
        state.stop = Some(handle.canceller());
        self.spawn_turn_follower(live, position, handle, Some(permit));
        Ok(())
    }

    /// Returns the accepted message, with a stream that begins before the next update.
    fn build_accepted_message(
        &self,
        live: &Arc<LiveTask>,
        state: &mut LiveState,
        streams: bool,
    ) -> Result<AcceptedMessage, ProtocolError> {
        let loaded = state.loaded.as_ref().ok_or(ProtocolError::Internal)?;
        let projection = &loaded.projection;
        let first = match projection.message() {
            Some(message) => Some(CallerReply::Message(message.clone())),
            None => projection.is_revealed().then(|| CallerReply::Task(projection.snapshot_task())),
        };
        let more = streams && !projection.is_settled();
        let updates = if more { Some(self.add_follower(state)?) } else { None };
        let subscription = Subscription::new(first.clone(), updates, StreamEnd::Settled);
        Ok(AcceptedMessage { live: Arc::clone(live), first, subscription })
    }
}

/// A message that is being accepted.
struct IncomingMessage<'a> {
    caller: &'a Caller,
    message: &'a Message,
    repeat_key: Option<String>,
    notification: Option<TaskPushNotificationConfig>,
    metadata: RequestMetadata,
    streams: bool,
    revealed: bool,
}

impl IncomingMessage<'_> {
    fn new_turn(&self, at: i64) -> NewTurn {
        NewTurn {
            turn: TurnId::generate(),
            message_id: self.message.message_id.clone(),
            repeat_key: self.repeat_key.clone(),
            at,
        }
    }
}

pub(super) fn build_turn_request(
    sender: Sender,
    session: SessionId,
    turn: TurnId,
    read: MessageContent,
) -> TurnRequest {
    let MessageContent { text, attachment, images, .. } = read;
    let message = UserMessage { text, attachment, task: None, images };
    TurnRequest {
        turn,
        sender: Some(sender),
        ..TurnRequest::new(session, message, MessageOrigin::A2a)
    }
}
