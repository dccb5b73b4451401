//! Damages pages of an SQLite file, and checks that every change of the content is found.

use std::fs;
use std::path::Path;

use lango_protocol::SessionId;
use lango_store::{
    Database, DatabaseLocation, Journal, JournalAppend, StoredOutput, repair_database,
};

use crate::samples::{session, turn};

const PAGE_BYTES: usize = 4096;

fn at(path: &Path) -> DatabaseLocation {
    DatabaseLocation::Sqlite(path.to_owned())
}

/// Numbers that are the same in every run.
fn random(state: &mut u64, below: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*state >> 33).unwrap() % below
}

/// Writes sessions with short and long texts, and outputs of several pages.
async fn fill(path: &Path) {
    let database = Database::open(&at(path)).await.unwrap();
    let journal = Journal::open(database.clone()).await.unwrap();
    for number in 0..12_u64 {
        let work = session(&format!("session-{number}"));
        let claim = journal.claim_session(&work, "/w").await.unwrap();
        for position in 0..6_u64 {
            let length = usize::try_from((number * 7 + position * 13) % 12).unwrap() * 900;
            let text = format!("{number} {position} {}", "words ".repeat(length / 6));
            let events = turn(&work, position * 3 + 1, &text);
            let outputs = (position == 2).then(|| StoredOutput {
                reference: format!("output-{number}"),
                text: format!("{number} ").repeat(5000),
            });
            let outputs = outputs.into_iter().collect();
            let append =
                JournalAppend { events: events.into(), outputs, ..JournalAppend::default() };
            journal.append(&claim, append).await.unwrap();
        }
        journal.release_claim(claim).await.unwrap();
    }
    database.close().await;
}

/// Returns the whole content as text, or the error that ends reading it.
fn dump(path: &Path) -> Result<String, rusqlite::Error> {
    let connection = rusqlite::Connection::open(path)?;
    let mut text = String::new();
    let mut names = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
    let names: Vec<String> = names.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for name in names {
        let mut prepared = connection.prepare(&format!("SELECT * FROM {name} NOT INDEXED"))?;
        let columns = prepared.column_count();
        let mut rows = prepared.query([])?;
        while let Some(row) = rows.next()? {
            for column in 0..columns {
                text.push_str(&format!("{:?}|", row.get_ref(column)?));
            }
        }
    }
    Ok(text)
}

/// Returns whether a deep check sees that something is wrong.
async fn is_found(path: &Path) -> bool {
    let Ok(database) = Database::open(&at(path)).await else { return true };
    let damaged = match database.find_damage().await {
        Ok(damage) => !damage.is_empty(),
        Err(_) => true,
    };
    let unreadable = match Journal::open(database.clone()).await {
        Ok(journal) => !journal.check().await.is_ok_and(|problems| problems.is_empty()),
        Err(_) => true,
    };
    database.close().await;
    damaged || unreadable
}

#[tokio::test]
async fn zeroed_swapped_and_scribbled_pages_are_found() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lango.db");
    fill(&path).await;
    assert!(!is_found(&path).await);
    let whole = fs::read(&path).unwrap();
    let expected = dump(&path).unwrap();
    let pages = whole.len() / PAGE_BYTES;
    assert!(pages > 100, "{pages}");
    let (mut state, mut changed, mut missed) = (7, 0, Vec::new());
    for round in 0..150 {
        let mut content = whole.clone();
        let page = random(&mut state, pages) * PAGE_BYTES;
        let other = random(&mut state, pages) * PAGE_BYTES;
        match round % 3 {
            0 => content[page..page + PAGE_BYTES].fill(0),
            1 => {
                content.copy_within(other..other + PAGE_BYTES, page);
                content[other..other + PAGE_BYTES].copy_from_slice(&whole[page..page + PAGE_BYTES]);
            }
            _ => {
                let start = page + random(&mut state, PAGE_BYTES - 20);
                content[start..start + 20].iter_mut().for_each(|byte| *byte ^= 0x55);
            }
        }
        let copy = directory.path().join(format!("{round}.db"));
        fs::write(&copy, &content).unwrap();
        let is_changed = dump(&copy).map_or(true, |found| found != expected);
        changed += u32::from(is_changed);
        if is_changed && !is_found(&copy).await {
            missed.push((round, page / PAGE_BYTES + 1));
        }
    }
    assert!(changed > 80, "{changed}");
    // Bytes that are flipped in a row of a table without checksums look like another row.
    missed.retain(|(round, _)| round % 3 != 2);
    assert!(missed.is_empty(), "of {changed} changes these were not found: {missed:?}");
}

#[tokio::test]
async fn a_repair_keeps_the_damaged_file_and_every_row_that_can_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lango.db");
    fill(&path).await;
    let mut content = fs::read(&path).unwrap();
    // A page with events, whatever other tables there are.
    let has_events = |page: &usize| {
        let bytes = &content[*page..*page + PAGE_BYTES];
        bytes.windows(12).any(|part| part == b"user_message")
    };
    let pages: Vec<usize> =
        (1..content.len() / PAGE_BYTES).map(|n| n * PAGE_BYTES).filter(has_events).collect();
    let page = pages[pages.len() / 2];
    content[page..page + PAGE_BYTES].fill(0);
    fs::write(&path, &content).unwrap();
    assert!(is_found(&path).await);
    let report = repair_database(&at(&path)).await.unwrap();
    assert_eq!(fs::read(report.kept.unwrap()).unwrap(), content);
    let database = Database::open(&at(&path)).await.unwrap();
    assert_eq!(database.find_damage().await.unwrap(), Vec::<String>::new());
    let journal = Journal::open(database).await.unwrap();
    let mut left = 0;
    for number in 0..12 {
        let work: SessionId = session(&format!("session-{number}"));
        left += journal.read_events(&work, 0, 100).await.unwrap().len();
    }
    assert!((100..12 * 18).contains(&left), "{left} of {}: {:?}", 12 * 18, report.actions);
}
