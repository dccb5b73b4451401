//! `lango usage`: shows the tokens and the cost of models.

use std::collections::BTreeMap;
use std::time::Duration;

use lango_app::provider::PriceList;
use lango_model::Cost;
use lango_protocol::{Event, EventBody, SessionId, Timestamp, Usage};
use lango_store::Journal;
use serde::Serialize;

use super::{CommandContext, sessions};
use crate::failure::{ExitStatus, Failure};
use lango_arguments::{UsageArguments, UsageGrouping};
use lango_terminal::render_table;

/// Limits how far back usage is counted by default.
const DEFAULT_DAYS: u32 = 30;

/// Calls that were added up.
#[derive(Debug, Default, Serialize)]
struct UsageSum {
    /// The value that the calls are grouped by.
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<String>,
    calls: u64,
    #[serde(flatten)]
    usage: Usage,
    /// The calls whose figures are our own estimate.
    estimated_calls: u64,
    /// US dollars of the calls whose price is known.
    known_cost: Cost,
    /// The calls whose price is not known.
    unpriced_calls: u64,
}

impl UsageSum {
    fn add(&mut self, usage: Usage, estimated: bool, cost: Option<Cost>) {
        self.calls += 1;
        self.usage += usage;
        self.estimated_calls += u64::from(estimated);
        match cost {
            Some(cost) => self.known_cost += cost,
            None => self.unpriced_calls += 1,
        }
    }

    fn cost(&self) -> String {
        match self.unpriced_calls {
            0 => self.known_cost.to_string(),
            all if all == self.calls => "unknown".to_owned(),
            some => format!("{} and {some} calls unknown", self.known_cost),
        }
    }

    fn row(&self, name: &str) -> Vec<String> {
        let about = if self.estimated_calls > 0 { "~" } else { "" };
        let figure = |tokens: u64| format!("{about}{}", group_digits(tokens));
        vec![
            name.to_owned(),
            self.calls.to_string(),
            figure(self.usage.input),
            figure(self.usage.cached),
            figure(self.usage.output),
            figure(self.usage.reasoning),
            self.cost(),
        ]
    }
}

#[derive(Serialize)]
struct UsageReport {
    rows: Vec<UsageSum>,
    total: UsageSum,
}

pub(crate) async fn usage(
    context: &CommandContext,
    arguments: UsageArguments,
) -> Result<ExitStatus, Failure> {
    let config = context.config();
    let prices = PriceList::new(config)?;
    let journal = context.app.open_stores().await?.journal;
    let session = find_session(&journal, &arguments).await?;
    let days = arguments.days.or_else(|| session.is_none().then_some(DEFAULT_DAYS));
    let since = days.map_or(Timestamp::from_microseconds(0), days_ago);
    let events = journal.read_usage(session.as_ref(), since).await?;
    let report = build_report(&events, arguments.by, &prices);
    if arguments.json {
        context.printer.json(&report)?;
    } else if report.rows.is_empty() {
        context.printer.print("No model was asked in this time.\n")?;
    } else {
        context.printer.print(&render_report(&report, arguments.by))?;
    }
    Ok(ExitStatus::Success)
}

async fn find_session(
    journal: &Journal,
    arguments: &UsageArguments,
) -> Result<Option<SessionId>, Failure> {
    if arguments.last {
        return Ok(journal.find_latest_session().await?);
    }
    match &arguments.session {
        Some(given) => sessions::find_session(journal, given).await.map(Some),
        None => Ok(None),
    }
}

fn days_ago(days: u32) -> Timestamp {
    let back = Duration::from_secs(u64::from(days) * 24 * 60 * 60);
    let back = i64::try_from(back.as_micros()).unwrap_or(i64::MAX);
    Timestamp::from_microseconds(Timestamp::now().as_microseconds().saturating_sub(back))
}

fn build_report(events: &[Event], by: UsageGrouping, prices: &PriceList) -> UsageReport {
    let mut rows: BTreeMap<String, UsageSum> = BTreeMap::new();
    let mut total = UsageSum::default();
    for event in events {
        let EventBody::Usage { provider, model, usage, estimated } = &event.body else { continue };
        let cost = prices.cost(provider, model, usage);
        total.add(*usage, *estimated, cost);
        rows.entry(group_name(event, by, provider, model))
            .or_default()
            .add(*usage, *estimated, cost);
    }
    let rows = rows.into_iter().map(|(name, sum)| UsageSum { of: Some(name), ..sum }).collect();
    UsageReport { rows, total }
}

fn group_name(event: &Event, by: UsageGrouping, provider: &str, model: &str) -> String {
    let agent = event.author.as_deref().unwrap_or("?");
    match by {
        UsageGrouping::Model => format!("{provider}/{model}"),
        UsageGrouping::Agent => agent.to_owned(),
        UsageGrouping::Session => event.session.to_string(),
        // The ids sort by time.
        UsageGrouping::Turn => format!("{} {}", event.session, event.turn),
        UsageGrouping::Call => {
            let step = event.step.unwrap_or(0);
            format!("{} {} {step:>3} {agent} {provider}/{model}", event.session, event.turn)
        }
    }
}

fn render_report(report: &UsageReport, by: UsageGrouping) -> String {
    let title = match by {
        UsageGrouping::Model => "MODEL",
        UsageGrouping::Agent => "AGENT",
        UsageGrouping::Session => "SESSION",
        UsageGrouping::Turn => "TURN",
        UsageGrouping::Call => "CALL",
    };
    let header = [title, "CALLS", "INPUT", "CACHED", "OUTPUT", "REASONING", "COST"];
    let mut rows: Vec<Vec<String>> =
        report.rows.iter().map(|sum| sum.row(sum.of.as_deref().unwrap_or("?"))).collect();
    if rows.len() > 1 {
        rows.push(report.total.row("total"));
    }
    let mut text = render_table(&header, &rows);
    if report.total.estimated_calls > 0 {
        text.push_str("~ some providers did not count; these are estimates\n");
    }
    if report.total.unpriced_calls > 0 {
        text.push_str("set a price that is unknown: lango usage --help\n");
    }
    text
}

/// Renders `1234567` as `1,234,567`.
fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_grouped_and_unknown_prices_stay_unknown() {
        assert_eq!(group_digits(7), "7");
        assert_eq!(group_digits(1_234_567), "1,234,567");
        assert_eq!(group_digits(123_456), "123,456");
        let mut sum = UsageSum::default();
        sum.add(Usage::default(), false, None);
        assert_eq!(sum.cost(), "unknown");
        sum.add(Usage::default(), true, Some(Cost::default()));
        assert_eq!(sum.cost(), "$0.00 and 1 calls unknown");
        assert!(sum.row("x")[2].starts_with('~'));
    }
}
