//! A message comes in: a new task, a further turn of one, or the repetition of a message that was
//! taken before.

use std::sync::Arc;
use std::time::Duration;

use a2a::{Message, SendMessageRequest, TaskPushNotificationConfig, TaskState};
use lango_model::UserMessage;
use lango_protocol::{Caller, Origin, Sender, SessionId, TurnId};
use lango_runtime::TurnRequest;
use lango_store::StoreError;
use tokio::sync::OwnedSemaphorePermit;

use super::clock;
use super::drive::Source;
use super::incoming::{self, Incoming};
use super::live::{LiveState, LiveTask, Loaded, Reply};
use super::projection::Projection;
use super::stream::{Subscription, Until};
use super::tables::{EndedBeside, NewTurn, TaskRow, TurnRow};
use super::tasks::{Tasks, check_history, internal, session_of, shaped};
use crate::wire::error::ProtocolError;

/// What came with a request beside its body.
#[derive(Debug, Clone, Default)]
pub(crate) struct Beside {
    pub(crate) traceparent: Option<String>,
    /// The version that notifications are written in.
    pub(crate) version: &'static str,
}

/// A message that was taken, or that had been before.
struct Taken {
    live: Arc<LiveTask>,
    /// What there was to say before anything could happen.
    first: Option<Reply>,
    subscription: Subscription,
}

impl Tasks {
    /// Sends a message and waits for what comes of it, unless the caller does not want to.
    pub(crate) async fn send(
        self: &Arc<Self>,
        caller: &Caller,
        request: SendMessageRequest,
        beside: Beside,
    ) -> Result<Reply, ProtocolError> {
        let configuration = request.configuration.as_ref();
        let history = configuration.and_then(|configuration| configuration.history_length);
        let at_once =
            configuration.and_then(|configuration| configuration.return_immediately) == Some(true);
        let taken = self.take_message(caller, request, beside, false).await?;
        if !at_once {
            tokio::select! {
                () = taken.live.settled() => {}
                () = self.closing.cancelled() => {}
            }
        }
        let reply = match taken.first.filter(|_| at_once) {
            Some(reply) => reply,
            None => taken.live.reply().await.ok_or(ProtocolError::Internal)?,
        };
        Ok(match reply {
            Reply::Task(task) => Reply::Task(shaped(task, history, true)),
            message @ Reply::Message(_) => message,
        })
    }

    /// Sends a message and follows what comes of it.
    pub(crate) async fn send_streaming(
        self: &Arc<Self>,
        caller: &Caller,
        request: SendMessageRequest,
        beside: Beside,
    ) -> Result<Subscription, ProtocolError> {
        let taken = self.take_message(caller, request, beside, true).await?;
        Ok(taken.subscription.keeping(taken.live, self.closing.clone()))
    }

    async fn take_message(
        self: &Arc<Self>,
        caller: &Caller,
        request: SendMessageRequest,
        beside: Beside,
        streams: bool,
    ) -> Result<Taken, ProtocolError> {
        let (tasks, caller) = (Arc::clone(self), caller.clone());
        self.unbroken(async move { tasks.take(&caller, request, beside, streams).await }).await
    }

    async fn take(
        self: &Arc<Self>,
        caller: &Caller,
        request: SendMessageRequest,
        beside: Beside,
        streams: bool,
    ) -> Result<Taken, ProtocolError> {
        let mut message = request.message;
        // Nothing and an empty text are the same in the protocol's definition.
        message.context_id = message.context_id.filter(|id| !id.is_empty());
        message.task_id = message.task_id.filter(|id| !id.is_empty());
        let read = incoming::read(&message, &self.settings.input_modes)?;
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
        let send = Send {
            caller,
            message: &message,
            repeat_key,
            notification,
            beside,
            streams,
            revealed: at_once,
        };
        match &message.task_id {
            Some(task) => self.go_on(task, send, read).await,
            None => self.begin(send, read).await,
        }
    }

    /// A new task.
    async fn begin(
        self: &Arc<Self>,
        send: Send<'_>,
        read: Incoming,
    ) -> Result<Taken, ProtocolError> {
        if let Some(taken) = self.repetition(&send).await? {
            return Ok(taken);
        }
        // Before anything is written: who is not let in leaves no task behind.
        self.team(send.caller)?;
        let permit = self.room_for(send.caller)?;
        let now = clock::now();
        let context =
            send.message.context_id.clone().unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
        let row = TaskRow {
            id: uuid::Uuid::now_v7().to_string(),
            caller: send.caller.clone(),
            session: session_of(send.caller, &context)?,
            context,
            state: TaskState::Submitted,
            status_at: now,
            created_at: now,
            revealed: send.revealed || send.notification.is_some(),
            turns: 1,
            ended: None,
            traceparent: send.beside.traceparent.clone(),
        };
        let turn = send.new_turn(now)?;
        let live = self.live.task(&row.id);
        // Before the row can be found, so that whoever finds it waits until the turn has begun.
        let mut state = live.state.lock().await;
        self.check_room(&mut state, &row.id, &send).await?;
        match self.tables.create(&row, &turn).await {
            Ok(()) => {}
            // Somebody sent the same message at the same time.
            Err(StoreError::Conflict { .. }) => {
                drop(state);
                return self.repetition(&send).await?.ok_or(ProtocolError::Internal);
            }
            Err(error) => return Err(internal(error)),
        }
        let projection = Projection::new(&row.id, &row.context, now, row.revealed);
        state.loaded = Some(Loaded { row, turns: Vec::new(), projection, seen: 0, finished: true });
        self.start(&live, &mut state, &send, turn, read, permit).await?;
        let taken = self.taken(&live, &mut state, send.streams)?;
        drop(state);
        Ok(taken)
    }

    /// A further turn of a task that waits for one.
    async fn go_on(
        self: &Arc<Self>,
        task: &str,
        send: Send<'_>,
        read: Incoming,
    ) -> Result<Taken, ProtocolError> {
        let row = self.row(send.caller, task).await?;
        if send.message.context_id.as_ref().is_some_and(|context| *context != row.context) {
            let rule = "is not the context of this task; leave it out";
            return Err(ProtocolError::invalid("message.contextId", rule));
        }
        if let Some(taken) = self.repetition(&send).await? {
            return Ok(taken);
        }
        let live = self.live.task(task);
        let mut state = self.open(&live, &row).await?;
        let loaded = state.loaded.as_ref().ok_or(ProtocolError::Internal)?;
        if loaded.projection.state().is_terminal() {
            let message = format!("the task {task:?} has ended; send a message without taskId");
            return Err(ProtocolError::UnsupportedOperation(message));
        }
        if loaded.projection.waits_for_owner() {
            // Nothing that a caller says answers for the owner: it gets the task as it is.
            let taken = self.taken(&live, &mut state, send.streams)?;
            drop(state);
            return Ok(taken);
        }
        if !loaded.finished {
            let message = format!("the task {task:?} is at work; wait for it, or cancel it");
            return Err(ProtocolError::UnsupportedOperation(message));
        }
        self.check_room(&mut state, task, &send).await?;
        let permit = self.room_for(send.caller)?;
        let loaded = state.loaded.as_ref().ok_or(ProtocolError::Internal)?;
        let now = clock::now().max(loaded.projection.status_at());
        let turn = send.new_turn(now)?;
        match self.tables.go_on(&loaded.row, &turn).await {
            Ok(()) => {}
            Err(StoreError::Conflict { .. }) => {
                drop(state);
                let busy = || {
                    let message = format!("the task {task:?} was just changed; look at it again");
                    ProtocolError::UnsupportedOperation(message)
                };
                return self.repetition(&send).await?.ok_or_else(busy);
            }
            Err(error) => return Err(internal(error)),
        }
        if let Some(loaded) = state.loaded.as_mut() {
            loaded.row.turns += 1;
        }
        self.start(&live, &mut state, &send, turn, read, permit).await?;
        let taken = self.taken(&live, &mut state, send.streams)?;
        drop(state);
        Ok(taken)
    }

    /// What came of the same message before.
    async fn repetition(self: &Arc<Self>, send: &Send<'_>) -> Result<Option<Taken>, ProtocolError> {
        let Some(key) = &send.repeat_key else { return Ok(None) };
        let Some(task) = self.tables.repeated(key).await.map_err(internal)? else {
            return Ok(None);
        };
        let row = self.tables.task(&task).await.map_err(internal)?;
        let row = row.ok_or(ProtocolError::Internal)?;
        let live = self.live.task(&task);
        let mut state = self.open(&live, &row).await?;
        let taken = self.taken(&live, &mut state, send.streams)?;
        drop(state);
        self.follow_elsewhere(send.caller, &live).await?;
        Ok(Some(taken))
    }

    /// Whether everything that a message wants can be done. Asked before anything is written: what is
    /// refused leaves nothing behind.
    async fn check_room(
        &self,
        state: &mut LiveState,
        task: &str,
        send: &Send<'_>,
    ) -> Result<(), ProtocolError> {
        self.team(send.caller)?;
        if send.streams {
            self.room_for_follower(state)?;
        }
        match &send.notification {
            Some(notification) => self.room_for_notification(task, notification).await,
            None => Ok(()),
        }
    }

    /// Starts a turn whose row is written, or ends the task: nobody would ever run it.
    async fn start(
        self: &Arc<Self>,
        live: &Arc<LiveTask>,
        state: &mut LiveState,
        send: &Send<'_>,
        turn: NewTurn,
        read: Incoming,
        permit: OwnedSemaphorePermit,
    ) -> Result<(), ProtocolError> {
        let started = self.try_start(live, state, send, turn, read, permit).await;
        if started.is_err() {
            // Where not even this can be stored, a restart runs it.
            let _ = self.end(live, state, EndedBeside::Failed).await;
        }
        started
    }

    async fn try_start(
        self: &Arc<Self>,
        live: &Arc<LiveTask>,
        state: &mut LiveState,
        send: &Send<'_>,
        turn: NewTurn,
        read: Incoming,
        permit: OwnedSemaphorePermit,
    ) -> Result<(), ProtocolError> {
        let team = self.team(send.caller)?;
        let Some(loaded) = state.loaded.as_mut() else { return Err(ProtocolError::Internal) };
        if let Some(notification) = &send.notification {
            self.add_notification(&loaded.row.id, notification, send.beside.version).await?;
        }
        let position = loaded.row.turns;
        let updates = loaded.projection.begin_turn(position, &turn.message_id, turn.at);
        let (session, trace) = (loaded.row.session.clone(), loaded.row.traceparent.clone());
        loaded.finished = false;
        loaded.turns.push(TurnRow {
            position,
            turn: turn.turn,
            message_id: turn.message_id.clone(),
            pending: None,
            at: turn.at,
        });
        state.driven = Some(position);
        self.tell(live, state, updates);
        let sender = Sender { caller: send.caller.clone(), message: Some(turn.message_id), trace };
        let request = turn_request(sender, session, turn.turn, read);
        let handle = team.start_turn(request);
        state.stop = Some(handle.canceller());
        self.drive(live, position, Source::Here(Box::new(handle)), Some(permit));
        Ok(())
    }

    /// A stream for the sender, begun before anything can happen.
    fn taken(
        &self,
        live: &Arc<LiveTask>,
        state: &mut LiveState,
        streams: bool,
    ) -> Result<Taken, ProtocolError> {
        let loaded = state.loaded.as_ref().ok_or(ProtocolError::Internal)?;
        let projection = &loaded.projection;
        let first = match projection.message() {
            Some(message) => Some(Reply::Message(message.clone())),
            None => projection.is_revealed().then(|| Reply::Task(projection.task())),
        };
        let more = streams && !projection.is_settled();
        let updates = if more { Some(self.follower(state)?) } else { None };
        let subscription = Subscription::new(first.clone(), updates, Until::Settled);
        Ok(Taken { live: Arc::clone(live), first, subscription })
    }

    /// Begins or goes on with what a process that died left behind. First what was in the middle: a
    /// new turn of a session closes what nobody goes on with. Then what had not begun, as it came.
    pub(crate) async fn resume(self: &Arc<Self>) -> Result<(), StoreError> {
        let mut interrupted = Vec::new();
        let mut waiting = Vec::new();
        // What cannot be read does not keep the others from going on.
        for row in self.tables.unfinished().await? {
            match self.resume_one(&row, false).await {
                Ok(Resumed::Runs(turn)) => interrupted.push((row.session, turn)),
                Ok(Resumed::Waits(at)) => waiting.push((at, row)),
                Ok(Resumed::Nothing) | Err(_) => {}
            }
        }
        waiting.sort_by_key(|(at, _)| *at);
        for (_, row) in waiting {
            let first = interrupted.iter().filter(|(session, _)| *session == row.session);
            for (session, turn) in first {
                self.under_way(session, *turn).await;
            }
            let _ = self.resume_one(&row, true).await;
        }
        Ok(())
    }

    /// Waits until a turn that goes on has its session, or a moment if it does not get it.
    async fn under_way(&self, session: &SessionId, turn: TurnId) {
        for _ in 0..200 {
            let Ok(unfinished) = self.journal.unfinished_turns(Some(session)).await else { return };
            let still = unfinished.iter().find(|other| other.turn == turn);
            if still.is_none_or(|turn| turn.running.is_some()) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Goes on with one task; with one whose turn had not begun only if `begin` says so.
    async fn resume_one(
        self: &Arc<Self>,
        row: &TaskRow,
        begin: bool,
    ) -> Result<Resumed, StoreError> {
        let Some(team) = self.teams.team(&row.caller) else { return Ok(Resumed::Nothing) };
        let live = self.live.task(&row.id);
        let mut state = live.state.lock().await;
        if state.driven.is_some() {
            return Ok(Resumed::Nothing);
        }
        let loaded = self.load(row.clone()).await?;
        live.stage.send_replace(loaded.stage());
        let turn = loaded.turns.last().cloned();
        let (finished, seen) = (loaded.finished, loaded.seen);
        let ended = row.ended.is_some();
        state.loaded = Some(loaded);
        let Some(turn) = turn else { return Ok(Resumed::Nothing) };
        if finished || ended {
            if !ended {
                self.store(&mut state).await;
            }
            return Ok(Resumed::Nothing);
        }
        let events = self.journal.turn_events(&row.session, turn.turn).await?;
        let source = if events.is_empty() {
            if !begin {
                return Ok(Resumed::Waits(turn.at));
            }
            let pending = turn.pending.as_deref().and_then(|text| serde_json::from_str(text).ok());
            let Some(read) = pending.and_then(|message: Message| {
                incoming::read(&message, &self.settings.input_modes).ok()
            }) else {
                // Nobody can run it any more. If this cannot be stored, the next start tries again.
                let _ = self.end(&live, &mut state, EndedBeside::Failed).await;
                return Ok(Resumed::Nothing);
            };
            let sender = Sender {
                caller: row.caller.clone(),
                message: Some(turn.message_id.clone()),
                trace: row.traceparent.clone(),
            };
            let request = turn_request(sender, row.session.clone(), turn.turn, read);
            Source::Here(Box::new(team.start_turn(request)))
        } else {
            let unfinished = self.journal.unfinished_turns(Some(&row.session)).await?;
            let runs =
                unfinished.iter().any(|other| other.turn == turn.turn && other.running.is_some());
            if runs {
                let following = team.follow(row.session.clone(), turn.turn, seen);
                Source::Elsewhere(Box::new(following))
            } else {
                Source::Here(Box::new(team.resume_turn(row.session.clone(), turn.turn)))
            }
        };
        state.driven = Some(turn.position);
        state.stop = match &source {
            Source::Here(handle) => Some(handle.canceller()),
            Source::Elsewhere(_) => None,
        };
        drop(state);
        // They had their room when they began.
        let permit = self.room_for(&row.caller).ok();
        self.drive(&live, turn.position, source, permit);
        Ok(Resumed::Runs(turn.turn))
    }
}

/// What came of a task that a process left behind.
enum Resumed {
    /// There was nothing to do, or nobody to do it.
    Nothing,
    /// Its turn has not begun; when it came.
    Waits(i64),
    /// This turn goes on.
    Runs(TurnId),
}

/// One message on its way in.
struct Send<'a> {
    caller: &'a Caller,
    message: &'a Message,
    repeat_key: Option<String>,
    notification: Option<TaskPushNotificationConfig>,
    beside: Beside,
    streams: bool,
    revealed: bool,
}

impl Send<'_> {
    fn new_turn(&self, at: i64) -> Result<NewTurn, ProtocolError> {
        Ok(NewTurn {
            turn: TurnId::generate(),
            message_id: self.message.message_id.clone(),
            repeat_key: self.repeat_key.clone(),
            message: serde_json::to_string(self.message).map_err(|_| ProtocolError::Internal)?,
            at,
        })
    }
}

fn turn_request(sender: Sender, session: SessionId, turn: TurnId, read: Incoming) -> TurnRequest {
    let Incoming { text, attachment, images, .. } = read;
    let message = UserMessage { text, attachment, task: None, images };
    TurnRequest { turn, sender: Some(sender), ..TurnRequest::new(session, message, Origin::A2a) }
}
