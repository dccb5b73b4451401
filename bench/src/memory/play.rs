//! Playing a conversation through the chronicler, and counting.

use std::fmt;
use std::ops::AddAssign;
use std::sync::Arc;

use anyhow::Result;
use lango_chronicler::{Chronicler, MemoryContext, MemoryResources, MemorySettings, MemorySystem};
use lango_model::{Model, estimate_tokens};
use lango_protocol::{
    CallId, CallStatus, Event, EventBody, EventId, MessageOrigin, Outcome, OutcomeStatus,
    SessionId, Space, SpaceAccess, Timestamp, TurnId, WorkDone,
};
use lango_retrieval::{LocalEmbedder, RetrievalIndex};
use lango_store::{Database, DatabaseLocation, Journal, JournalAppend};
use tokio_util::sync::CancellationToken;

use super::conversation::{Conversation, Templates, Turn};
use super::observer::Scribe;

/// The counts of a run.
#[derive(Debug, Default)]
pub(crate) struct Score {
    /// Questions, right ones and stale ones; plain forms first, then hard ones.
    asked: [usize; 2],
    right: [usize; 2],
    stale: [usize; 2],
    tokens: u64,
    stored: usize,
    junk: usize,
    pub(crate) misses: Vec<String>,
}

impl AddAssign for Score {
    fn add_assign(&mut self, other: Self) {
        for form in 0..2 {
            self.asked[form] += other.asked[form];
            self.right[form] += other.right[form];
            self.stale[form] += other.stale[form];
        }
        self.tokens += other.tokens;
        self.stored += other.stored;
        self.junk += other.junk;
        self.misses.extend(other.misses);
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |part: usize, whole: usize| {
            let percent = (1000 * part + whole / 2) / whole.max(1);
            format!("{}.{} %", percent / 10, percent % 10)
        };
        for form in 0..2 {
            let (asked, right) = (self.asked[form], self.right[form]);
            write!(
                f,
                "| {right} of {asked} ({}) | {} ",
                share(right, asked),
                share(self.stale[form], asked)
            )?;
        }
        let asked = u64::try_from(self.asked[0] + self.asked[1]).unwrap_or(1).max(1);
        write!(
            f,
            "| {} | {} | {} |",
            self.tokens / asked,
            self.stored,
            share(self.junk, self.stored)
        )
    }
}

/// Turns that agents see without memory.
const VISIBLE: usize = 30;

/// Plays a persona's turns and asks its questions.
pub(crate) async fn play(
    templates: &Templates,
    conversation: &Conversation,
    remember: bool,
    settings: MemorySettings,
    observer: Option<Arc<Scribe>>,
) -> Result<Score> {
    let directory = tempfile::tempdir()?;
    let database =
        Database::open(&DatabaseLocation::Sqlite(directory.path().join("lango.db"))).await?;
    let journal = Journal::open(database.clone()).await?;
    let retrieval = RetrievalIndex::open(database, Some(Arc::new(LocalEmbedder::new()))).await?;
    let observer = observer.map(|observer| observer as Arc<dyn Model>);
    let resources = MemoryResources { journal: journal.clone(), retrieval, observer };
    let memory = MemorySystem::open(settings, resources).await?;
    let chronicler = Chronicler::new(memory.clone());
    let context = MemoryContext::new(memory.clone());
    let never = CancellationToken::new();
    let access = SpaceAccess::to(Space::Owner);
    let mut score = Score::default();
    for (number, turn) in conversation.turns.iter().enumerate() {
        let session: SessionId = format!("s{}", turn.session).parse()?;
        if let Some(expected) = &turn.expects {
            let prompt = if remember {
                let blocks = context.preview_blocks(&session, &turn.text, &access).await?;
                blocks.iter().map(|block| block.text.as_str()).collect::<Vec<&str>>().join("\n")
            } else {
                visible(&conversation.turns[..number], turn.session)
            };
            let form = usize::from(expected.hard);
            let right = prompt.contains(&expected.right);
            let stale = expected.stale.iter().any(|value| prompt.contains(value));
            score.asked[form] += 1;
            score.right[form] += usize::from(right);
            score.stale[form] += usize::from(stale);
            score.tokens += estimate_tokens(&prompt);
            if (!right || stale) && remember {
                score.misses.push(format!("{} {expected:?}\n{prompt}\n", turn.text));
            }
        }
        write(&journal, &session, turn, templates, number).await?;
        if remember {
            chronicler.work_on_session(&session, &never).await?;
        }
    }
    let all = memory.in_space(&Space::Owner).list_memories(true).await?;
    score.stored = all.len();
    let statements = templates.fact.iter().flat_map(|fact| &fact.values).chain(&templates.names);
    let statements: Vec<&String> = statements.collect();
    for memory in &all {
        let lower = memory.content.to_lowercase();
        let hostile = templates.hostile_marks.iter().any(|mark| lower.contains(mark));
        let stated = statements.iter().any(|value| memory.content.contains(*value));
        if hostile || !stated || lower.contains("yacht") {
            score.junk += 1;
            score.misses.push(format!("junk: {}", memory.content));
        }
    }
    let problems = chronicler.check().await?;
    anyhow::ensure!(problems.is_empty(), "the chronicler's tables do not agree: {problems:?}");
    Ok(score)
}

/// Returns the text of the last turns of a session.
fn visible(before: &[Turn], session: usize) -> String {
    let same = before.iter().rev().take(VISIBLE).filter(|turn| turn.session == session);
    same.map(|turn| turn.text.as_str()).collect::<Vec<&str>>().join("\n")
}

async fn write(
    journal: &Journal,
    session: &SessionId,
    turn: &Turn,
    templates: &Templates,
    number: usize,
) -> Result<()> {
    let claim = journal.claim_session(session, "/w").await?;
    let (attachment, images, origin) = (None, Vec::new(), MessageOrigin::Library);
    let mut bodies = vec![EventBody::UserMessage {
        text: turn.text.clone(),
        attachment,
        images,
        origin,
        sender: None,
        call: None,
    }];
    let mut answer = templates.answers[number % templates.answers.len()].clone();
    if let Some(page) = &turn.page {
        bodies.push(EventBody::ToolResult {
            call: CallId::generate(),
            tool: "browser_read".into(),
            status: CallStatus::Ok,
            output: page.clone(),
            full_output: None,
            report: None,
            milliseconds: 1,
        });
        // An agent that repeats what it read.
        answer = format!("The page says: {page}");
    }
    bodies.push(EventBody::Message { text: answer, answer: true });
    bodies.push(EventBody::TurnFinished(Outcome {
        status: OutcomeStatus::Done,
        work: WorkDone::default(),
    }));
    let id = TurnId::generate();
    let events: Vec<Event> = (claim.head() + 1..)
        .zip(bodies)
        .map(|(seq, body)| Event {
            id: EventId::generate(),
            session: session.clone(),
            turn: id,
            seq,
            at: Timestamp::now(),
            author: Some("user".into()),
            branch: None,
            step: None,
            body,
        })
        .collect();
    journal
        .append(
            &claim,
            JournalAppend { events: events.into(), release: true, ..JournalAppend::default() },
        )
        .await?;
    Ok(())
}
