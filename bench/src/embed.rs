//! Measures what vectors of texts cost: passages in a second of CPU time, loading, memory.

use std::io::Write as _;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use lango_encoder::Encoder;

use crate::worker::{cpu, resident, since};
use crate::{REPEATS, figures, finish};

/// Sentences as documents have them.
const SENTENCES: [&str; 8] = [
    "The committee meets again on Thursday afternoon to look at the revised budget for the coming year, and a summary is sent out before.",
    "A turn that never resumes is closed when the next one of its session begins, and nothing that was written in it is lost.",
    "Heat the oil in a large pan, add the chopped onions, and fry them slowly until they are golden brown on both sides.",
    "Passengers with connecting flights should collect their luggage at belt four before passport control, and then follow the yellow signs to the trains.",
    "The function returns an error if the file cannot be opened, or if its first line is not a header of the known kind.",
    "In the spring of 1848 the river rose above the lower bridge and carried away two of the old mills with all their grain.",
    "Please remind my sister tomorrow at nine to call the dentist and to move her appointment to Friday, because she is away on Thursday.",
    "Most of the memory is used by the cache, which can be made smaller in the settings of the server without starting it again.",
];
/// Sentences in a long passage.
const LONG: usize = 8;
/// The expected length of a passage of each kind, in tokens.
const TOKENS: [(&str, std::ops::RangeInclusive<usize>); 2] =
    [("short", 22..=30), ("long", 180..=220)];
const BATCHES: [usize; 3] = [1, 8, 32];
/// Each figure is taken over at least this much CPU time.
const LEAST: Duration = Duration::from_millis(300);

/// Measures in processes of their own and prints the table.
pub(crate) fn measure() -> Result<()> {
    let own = std::env::current_exe()?;
    let mut runs: Vec<Vec<f64>> = Vec::new();
    for _ in 0..REPEATS {
        let output = Command::new(&own).arg("embed-worker").output()?;
        if !output.status.success() {
            bail!("embed-worker: {}", String::from_utf8_lossy(&output.stderr));
        }
        let text = String::from_utf8(output.stdout)?;
        runs.push(text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?);
    }
    let column = |index: usize| -> Vec<f64> {
        runs.iter().filter_map(|run| run.get(index).copied()).collect()
    };
    let mut table = figures::Table::default();
    table.add("loading, CPU-ms", Some(150.0), column(0));
    table.add("the first passage after that, CPU-ms", Some(40.0), column(1));
    table.add("resident memory more, after all of the below, MB", Some(80.0), column(2));
    let mut index = 3;
    for (kind, _) in TOKENS {
        for batch in BATCHES {
            let what = format!("{kind} passages, {batch} at a time, in a second of CPU time");
            let floor = (kind == "short" && batch > 1).then_some(100.0);
            table.add_rate(&what, floor, column(index));
            index += 1;
        }
    }
    finish(&table)
}

/// Takes each figure once and prints them in the order of the table.
pub(crate) fn work() -> Result<()> {
    let memory = resident()?;
    let before = cpu();
    let encoder = Encoder::shared();
    let mut figures = vec![milliseconds(since(before))];
    let before = cpu();
    ensure!(encoder.encode(&SENTENCES[..1]).len() == 1, "no vector");
    figures.push(milliseconds(since(before)));
    let mut rates = Vec::new();
    for (kind, tokens) in TOKENS {
        let passages = passages(kind);
        for passage in &passages {
            let count = encoder.count_tokens(passage);
            ensure!(tokens.contains(&count), "a {kind} passage has {count} tokens: {passage}");
        }
        for batch in BATCHES {
            rates.push(rate(encoder, &passages, batch));
        }
    }
    figures.push(resident()? - memory);
    figures.extend(rates);
    for figure in figures {
        writeln!(std::io::stdout(), "{figure}")?;
    }
    Ok(())
}

fn passages(kind: &str) -> Vec<String> {
    let sentences = if kind == "long" { LONG } else { 1 };
    let from = |start: usize| {
        let all = SENTENCES.iter().cycle().skip(start).take(sentences);
        all.copied().collect::<Vec<_>>().join(" ")
    };
    (0..SENTENCES.len()).map(from).collect()
}

/// Passages in a second of CPU time.
fn rate(encoder: &Encoder, passages: &[String], batch: usize) -> f64 {
    let mut next = passages.iter().map(String::as_str).cycle();
    let before = cpu();
    let mut count = 0_u32;
    while since(before) < LEAST {
        let texts: Vec<&str> = next.by_ref().take(batch).collect();
        count += u32::try_from(encoder.encode(&texts).len()).unwrap_or(0);
    }
    f64::from(count) / since(before).as_secs_f64()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
