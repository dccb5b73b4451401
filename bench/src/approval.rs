//! Measures what an approval check costs: reading the command, describing it, finding the rules.

use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use lango_protocol::Rights;
use lango_runtime::{ApprovalPolicy, Effect, Rule, RuleCase, StepPattern, Verdict, decide_call};

use crate::{REPEATS, block_on, figures, finish};

/// Rules that a person might have gathered.
const RULES: usize = 100;
/// Checks in one measurement.
const CHECKS: u32 = 2000;

/// Commands as agents write them, the last one of several kilobytes, and whether they are asked about.
fn commands() -> [(String, bool); 4] {
    let piped = "cd src && grep -rn 'fn main' . | xargs -n1 echo; env A=1 sh -c 'wc -l *.rs'";
    [
        // It only reads.
        ("ls -la".to_owned(), false),
        ("cargo test --workspace -- --nocapture 2>&1 | tail -50".to_owned(), true),
        (piped.to_owned(), true),
        (format!("printf '%s' '{}' | sort | tee sorted", "x".repeat(4000)), true),
    ]
}

pub(crate) fn measure() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let records = tempfile::tempdir()?;
    let tools = block_on(crate::operator::tools(records.path(), directory.path()))?;
    let tool = tools.get("exec_shell").context("there is no exec_shell")?;
    let rules: Vec<Rule> = (0..RULES).map(|number| rule(number, directory.path())).collect();
    let agent = "operator".parse()?;
    let check = |arguments: &str| -> Result<Verdict> {
        let prepared = tool.prepare(arguments)?;
        let proposal = prepared.propose().context("no proposal")?;
        let case = RuleCase {
            tool: "exec_shell",
            agent: &agent,
            directory: directory.path(),
            proposal: &proposal,
        };
        Ok(decide_call(ApprovalPolicy::AskDangerous, true, &rules, &case))
    };
    let mut table = figures::Table::default();
    for (command, is_asked_about) in commands() {
        let arguments = serde_json::json!({ "command": command }).to_string();
        // The first one looks at the machine.
        let is_asked = matches!(check(&arguments)?, Verdict::Ask { .. });
        ensure!(is_asked == is_asked_about, "{command:?} is asked about: {is_asked}");
        let mut taken = Vec::with_capacity(REPEATS);
        for _ in 0..REPEATS {
            let before = crate::worker::cpu();
            for _ in 0..CHECKS {
                if let Verdict::Refuse { because } = check(&arguments)? {
                    bail!("a rule denies {command:?}: {because}");
                }
            }
            let spent = crate::worker::cpu().saturating_sub(before);
            taken.push(spent.as_secs_f64() * 1000.0 / f64::from(CHECKS));
        }
        let name: String = command.chars().take(40).collect();
        table.add(&format!("`{}`, CPU-ms", name.replace('|', "\\|")), Some(0.1), taken);
    }
    finish(&table)
}

fn rule(number: usize, directory: &Path) -> Rule {
    let words = ["tool", &number.to_string(), "--flag", "*"].map(str::to_owned);
    Rule {
        id: number.to_string(),
        effect: [Effect::Allow, Effect::Ask, Effect::Deny][number % 3],
        tool: Some("exec_*".to_owned()),
        agent: None,
        directory: Some(directory.to_owned()),
        step_directory: None,
        words: StepPattern::Pattern(words.into()),
        bound: None,
        rights: Rights::default(),
    }
}
