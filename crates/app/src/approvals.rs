//! Builds the approval rules from the configuration.

use lango_protocol::InvalidName;
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
    })
}
