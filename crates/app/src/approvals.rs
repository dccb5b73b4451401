//! Builds the approval rules from the configuration.

use lango_protocol::{InvalidName, InvalidRight, Right, Rights};
use lango_runtime::{ApprovalPolicy, Effect, Rule, RuleBook, StepPattern};
use lango_store::Database;

use crate::config::{Config, EffectName, PolicyName, RuleConfig};
use crate::{AppError, home};

/// Returns the policy for calls that no rule decides.
pub fn read_approval_policy(config: &Config) -> ApprovalPolicy {
    match config.approvals.policy {
        PolicyName::AskDangerous => ApprovalPolicy::AskDangerous,
        PolicyName::AskAll => ApprovalPolicy::AskAll,
        PolicyName::NeverAskDeny => ApprovalPolicy::NeverAskDeny,
    }
}

/// Returns the rules of the configuration and those that users stored.
pub async fn open_rule_book(config: &Config, database: Database) -> Result<RuleBook, AppError> {
    let numbered = config.approvals.rules.iter().zip(1..);
    let rules: Result<Vec<Rule>, AppError> =
        numbered.map(|(rule, number)| parse_rule(rule, number)).collect();
    RuleBook::open(rules?, database).await.map_err(AppError::Database)
}

fn parse_rule(rule: &RuleConfig, number: usize) -> Result<Rule, AppError> {
    let wrong = |what: &str, why: String| {
        AppError::usage(format!("approvals.rules, number {number}: {what}: {why}"))
    };
    let agent = rule.agent.as_deref().map(str::parse).transpose();
    let rights = parse_rights(&rule.rights, rule.tool.as_deref());
    Ok(Rule {
        id: format!("config:{number}"),
        effect: match rule.effect {
            EffectName::Allow => Effect::Allow,
            EffectName::Ask => Effect::Ask,
            EffectName::Deny => Effect::Deny,
        },
        tool: rule.tool.clone(),
        agent: agent.map_err(|error: InvalidName| wrong("agent", error.to_string()))?,
        directory: rule
            .directory
            .as_deref()
            .map(home::expand_path)
            .transpose()
            .map_err(|error| wrong("directory", error))?,
        step_directory: rule
            .cwd
            .as_deref()
            .map(home::expand_path)
            .transpose()
            .map_err(|error| wrong("cwd", error))?,
        words: match &rule.words {
            None => StepPattern::Any,
            Some(words) if rule.exact => StepPattern::Exact(words.clone()),
            Some(words) => StepPattern::Pattern(words.clone()),
        },
        bound: None,
        rights: rights.map_err(|error| wrong("rights", error))?,
    })
}

/// Reads the rights of a rule for a tool. A path may begin with `~`, and stands for where it leads.
pub fn parse_rights(given: &[String], tool: Option<&str>) -> Result<Rights, String> {
    // Only commands ask for rights: for another tool the rule would never hold.
    let is_of_commands = |tool: &str| tool.starts_with("exec") || tool.starts_with('*');
    if let Some(tool) = tool.filter(|tool| !given.is_empty() && !is_of_commands(tool)) {
        return Err(format!("only commands have rights, and {tool} runs none: use exec_*"));
    }
    let parse = |text: &String| match text.strip_prefix("write:") {
        None => text.parse().map_err(|error: InvalidRight| error.to_string()),
        Some(path) => {
            let path = home::expand_path(path)?;
            // A directory that is not there yet is taken as it is written.
            let path = path.canonicalize().unwrap_or(path);
            let right = format!("write:{}", path.display());
            right.parse::<Right>().map_err(|error| error.to_string())
        }
    };
    given.iter().map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_are_read_with_the_path_that_they_lead_to() {
        let directory = tempfile::tempdir().unwrap();
        let real = directory.path().canonicalize().unwrap().join("real");
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, directory.path().join("link")).unwrap();
        let given = ["git".to_owned(), format!("write:{}/link", directory.path().display())];
        let rights = parse_rights(&given, Some("exec_*")).unwrap();
        assert!(rights.contains(&Right::Git) && rights.contains(&Right::Write(real)), "{rights}");
        assert!(parse_rights(&["root".to_owned()], None).is_err());
        assert!(parse_rights(&given, Some("fs_write")).is_err(), "the rule would never hold");
    }
}
