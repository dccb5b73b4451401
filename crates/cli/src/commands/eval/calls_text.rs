//! Renders a measurement of calls as text.

use lango_eval::calls::{
    Arguments, CallsView, FailureView, FastPath, TimeFigures, UNDECIDED, render_percentage,
};
use lango_text::to_one_line;

use lango_terminal::render_table;

/// Lists the levels that are shown first, in this order.
const LEVELS: [&str; 3] = ["plain", "indirect", "hard"];

/// Renders the figures as text.
pub(super) fn render_calls(view: &CallsView<'_>) -> String {
    let CallsView { model, all, given, .. } = view;
    let mut text = format!("{model}, {} of {given} requests, percent\n\n", all.requests);
    text.push_str(&render_figures(view));
    for (what, time) in [
        ("as orchestrator", &view.time_as_orchestrator),
        ("as specialist", &view.time_as_specialist),
    ] {
        text.push_str(&format!("\ntime per decision {what}: {}", time_text(time)));
    }
    text.push('\n');
    if let Some(FastPath { decided, wrong }) = &view.fast_path {
        let (share, decided) = (decided.shown(), decided.count);
        let (wrong_share, wrong) = (wrong.shown(), wrong.count);
        text.push_str(&format!(
            "fast path: {decided} requests ({share} %) decided without the model, {wrong} \
             ({wrong_share} %) wrongly\n"
        ));
    }
    text.push_str(&confused_agents(view));
    if let Some(failures) = view.failures.filter(|failures| !failures.is_empty()) {
        text.push_str("\nnot right:\n");
        text.extend(failures.iter().map(failure_text));
    }
    text
}

fn render_figures(view: &CallsView<'_>) -> String {
    let known = LEVELS.iter().filter_map(|level| Some((*level, view.levels.get(level)?)));
    let others = view.levels.iter().filter(|(level, _)| !LEVELS.contains(level));
    let others = others.map(|(level, figures)| (*level, figures));
    let rows = known.chain(others).chain([("all", &view.all)]).map(|(level, figures)| {
        vec![
            level.to_owned(),
            figures.requests.to_string(),
            figures.agent_right.shown(),
            figures.tool_right.shown(),
            figures.arguments_exact.shown(),
            render_percentage(figures.arguments_overlap),
            figures.small_talk_right.shown(),
            figures.acted.shown(),
            figures.acted_right.shown(),
            figures.asked.shown(),
            figures.dangerous_misread.percent.map_or("-".into(), |p| format!("{p:.2}")),
        ]
    });
    let header = [
        "LEVEL",
        "REQUESTS",
        "AGENT",
        "TOOL",
        "ARGUMENTS",
        "OVERLAP",
        "SMALL TALK",
        "ACTED",
        "RIGHTLY",
        "ASKED",
        "DANGEROUS",
    ];
    render_table(&header, &rows.collect::<Vec<_>>())
}

/// Describes which agents were confused with which others.
fn confused_agents(view: &CallsView<'_>) -> String {
    let mut text = String::new();
    for (meant, chosen) in view.confusion {
        let others: Vec<String> = chosen
            .iter()
            .filter(|(agent, _)| *agent != meant)
            .map(|(agent, count)| format!("{agent} {count}"))
            .collect();
        if !others.is_empty() {
            let total: u32 = chosen.values().sum();
            text.push_str(&format!("{meant} ({total}) taken for: {}\n", others.join(", ")));
        }
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}

fn failure_text(failure: &FailureView) -> String {
    let FailureView { text, level, expected, got } = failure;
    let level = level.as_ref().map(|level| format!(" ({level})")).unwrap_or_default();
    let call = |tool: Option<&String>, args: Option<&Arguments>| {
        let args = args.map(ToString::to_string);
        let args = args.filter(|_| tool.is_some()).unwrap_or_default();
        to_one_line(&format!("{} {args}", tool.map_or("-", String::as_str)), 200)
    };
    let expected_call = call(expected.tool.as_ref(), Some(&expected.args));
    let mode = if got.asked { " (asked)" } else { "" };
    let said = format!("\n    said      {}", to_one_line(&got.said, 160));
    let said = if got.called { String::new() } else { said };
    format!(
        "\n  {}{level}\n    expected  {}, {expected_call}\n    got       {}, {}{mode}{said}\n",
        to_one_line(text, 200),
        expected.agent,
        got.agent.as_deref().unwrap_or(UNDECIDED),
        call(got.tool.as_ref(), got.args.as_ref()),
    )
}

fn time_text(time: &TimeFigures) -> String {
    let (Some(median), Some(p95)) = (time.median_milliseconds, time.p95_milliseconds) else {
        return "-".to_owned();
    };
    let wall = format!("median {median:.1} ms, 95 of 100 within {p95:.1} ms");
    match (time.median_cpu_milliseconds, time.p95_cpu_milliseconds) {
        (Some(median), Some(p95)) => format!("{wall}; CPU {median:.1} and {p95:.1} ms"),
        _ => wall,
    }
}
