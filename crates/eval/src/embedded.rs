//! Measures the embedded model on this machine.

use lango_embedded::EmbeddedModel;
use lango_model::{Model, ModelId, ReplyOptions};
use serde::Serialize;

use crate::EvalError;
use crate::calls::{
    self, CountShare, DecisionClock, DecisionTimes, EvaluatedTeam, Examiner, RequestFigures,
    RequestTally, TimeFigures, milliseconds, parse_requests,
};
use crate::trial::{TestFinding, TestVerdict};

/// Holds sixty requests that it was not trained on, twenty of each level.
const REQUESTS: &str = include_str!("requests.jsonl");

/// These limits are what the model promises on one core.
const MAX_LOAD_MILLISECONDS: f64 = 150.0;
const MAX_DECISION_MILLISECONDS: f64 = 40.0;
const MAX_RESIDENT_BYTES: u64 = 80_000_000;

/// The figures of the embedded model.
#[derive(Debug, Serialize)]
pub struct EmbeddedFigures {
    /// The processor time of loading it.
    pub load_cpu_milliseconds: f64,
    /// The time of a decision as the orchestrator.
    pub as_orchestrator: TimeFigures,
    /// The time of a decision as a specialist.
    pub as_specialist: TimeFigures,
    /// The memory that it takes; `None` if the system does not report it.
    pub resident_bytes: Option<u64>,
    /// The size of its weights.
    pub weights_bytes: usize,
    /// The accuracy of its decisions.
    pub accuracy: RequestFigures,
}

/// Measures the embedded model; `model` is a chain that contains it. It must not have been used
/// before: the time of loading it is measured, too.
pub async fn measure_embedded(
    model: &dyn Model,
    options: ReplyOptions,
    id: &ModelId,
) -> Result<EmbeddedFigures, EvalError> {
    let team = EvaluatedTeam::new()?;
    let requests = parse_requests("the built-in requests", REQUESTS, &team)?;
    let resident_before = read_resident_bytes();
    let clock = DecisionClock::start();
    EmbeddedModel::new().load();
    let load = clock.stop();
    let examiner = Examiner { team: &team, model, options, id };
    let mut tally = RequestTally::default();
    let (mut as_orchestrator, mut as_specialist) =
        (DecisionTimes::default(), DecisionTimes::default());
    for label in &requests {
        let observed = examiner.examine(&label.text).await?;
        tally.add(label, &observed, &calls::RequestVerdict::of(label, &observed, &team));
        observed.as_orchestrator.into_iter().for_each(|spent| as_orchestrator.add(spent));
        observed.as_specialist.into_iter().for_each(|spent| as_specialist.add(spent));
    }
    let resident_bytes = read_resident_bytes()
        .zip(resident_before)
        .map(|(after, before)| after.saturating_sub(before));
    Ok(EmbeddedFigures {
        load_cpu_milliseconds: milliseconds(load.processor),
        as_orchestrator: as_orchestrator.figures(true),
        as_specialist: as_specialist.figures(true),
        resident_bytes,
        weights_bytes: EmbeddedModel::weights_size(),
        accuracy: tally.figures(true),
    })
}

/// Returns the memory of this process that is in use now, if the system reports it.
fn read_resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Judges the figures by what the embedded model promises.
pub fn judge_figures(measured: &EmbeddedFigures) -> Vec<TestFinding> {
    let within = |is_within: bool| if is_within { TestVerdict::Works } else { TestVerdict::Partly };
    let load = measured.load_cpu_milliseconds;
    let mut findings = vec![TestFinding {
        what: "load",
        verdict: within(load <= MAX_LOAD_MILLISECONDS),
        detail: format!("{load:.0} ms of CPU time"),
    }];
    for (what, time) in
        [("orchestrator", &measured.as_orchestrator), ("specialist", &measured.as_specialist)]
    {
        let median = time.median_cpu_milliseconds.unwrap_or_default();
        let detail = format!("{median:.1} ms of CPU time per decision (median)");
        findings.push(TestFinding {
            what,
            verdict: within(median <= MAX_DECISION_MILLISECONDS),
            detail,
        });
    }
    let resident = measured.resident_bytes;
    findings.push(TestFinding {
        what: "memory",
        verdict: within(resident.is_none_or(|bytes| bytes <= MAX_RESIDENT_BYTES)),
        detail: match resident {
            Some(bytes) => format!("{} MB more resident", bytes / 1_000_000),
            None => "? (this system does not say)".to_owned(),
        },
    });
    findings.push(TestFinding {
        what: "weights",
        verdict: TestVerdict::Works,
        detail: format!("{} MB, part of the program", measured.weights_bytes / 1_000_000),
    });
    let RequestFigures { agent_right, tool_right, arguments_exact, small_talk_right, .. } =
        &measured.accuracy;
    for (what, share) in [
        ("agents", agent_right),
        ("tools", tool_right),
        ("arguments", arguments_exact),
        ("small talk", small_talk_right),
    ] {
        findings.push(judge_accuracy(what, share));
    }
    let dangerous = &measured.accuracy.dangerous_misread;
    findings.push(TestFinding {
        what: "danger",
        verdict: within(dangerous.count == 0),
        detail: format!("{} dangerous calls on a wrong reading", dangerous.count),
    });
    findings
}

/// Judges the accuracy. A model that is wrong more often than right is broken; with few requests,
/// one more or less says little.
fn judge_accuracy(what: &'static str, share: &CountShare) -> TestFinding {
    let verdict = match share.percent.unwrap_or_default() {
        percent if percent < 50.0 => TestVerdict::Fails,
        percent if percent < 80.0 => TestVerdict::Partly,
        _ => TestVerdict::Works,
    };
    let detail = format!("{} of {} right ({} %)", share.count, share.of, share.shown());
    TestFinding { what, verdict, detail }
}
