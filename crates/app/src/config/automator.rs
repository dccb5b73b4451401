//! Work that happens later: the keys of `[automator]`.

use std::collections::BTreeMap;

use lango_automator::SpendLimits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Jobs and background tasks.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct AutomatorConfig {
    /// false: no jobs and no background tasks.
    pub enabled: bool,
    /// The time zone of jobs that name none, such as `Europe/Berlin`; that of the machine when absent.
    pub timezone: Option<String>,
    /// Pieces of work that run at the same time in one directory.
    pub parallel_work: u32,
    /// Jobs that one owner may have.
    pub max_jobs: u32,
    /// Background tasks of one owner that may wait or run.
    pub max_tasks: u32,
    /// Who is notified of what, for jobs that do not say it and for all other work.
    pub notify: NotifyConfig,
    /// Ways to reach you, by a name of your choice.
    pub channels: BTreeMap<String, ChannelConfig>,
    /// What each run of a job, background task or workflow may spend.
    pub run_budget: SpendConfig,
    /// What all of them together may spend in a day of the time zone.
    pub day_budget: SpendConfig,
}

impl Default for AutomatorConfig {
    fn default() -> Self {
        let settings = lango_automator::AutomatorSettings::default();
        Self {
            enabled: true,
            timezone: None,
            parallel_work: settings.parallel_work,
            max_jobs: settings.max_job_count,
            max_tasks: settings.max_task_count,
            notify: NotifyConfig::default(),
            channels: BTreeMap::new(),
            run_budget: SpendConfig::default(),
            day_budget: SpendConfig::default(),
        }
    }
}

/// The channels of each event, by their names under `automator.channels`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NotifyConfig {
    /// Channels for work that was done.
    pub success: Vec<String>,
    /// Channels for work that failed.
    pub failure: Vec<String>,
    /// Channels for work that waits for your answer.
    pub approval: Vec<String>,
    /// Channels for reminders.
    pub reminder: Vec<String>,
}

/// A way to reach you. Which keys it needs depends on its kind.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ChannelConfig {
    /// `desktop`, `webhook`, `email` or `command`.
    pub kind: ChannelKindName,
    /// The address of a webhook. A private one must be allowed in `egress.allow`.
    pub url: Option<String>,
    /// The bearer token of a webhook: `secret:NAME` of the vault, or `$VARIABLE`.
    pub token: Option<String>,
    /// The server of e-mail.
    pub host: Option<String>,
    /// Its port; 587 for `starttls`, 465 for `tls` and 25 for `none` when absent.
    pub port: Option<u16>,
    /// How the connection to it is protected.
    pub security: SecurityName,
    /// The address that e-mail comes from.
    pub from: Option<String>,
    /// The addresses that e-mail goes to.
    pub to: Vec<String>,
    /// The name to sign in with at the server of e-mail.
    pub username: Option<String>,
    /// The password for it: `secret:NAME` of the vault, or `$VARIABLE`.
    pub password: Option<String>,
    /// The program and its arguments. It reads the notification as JSON from its standard input, and is
    /// confined by the sandbox.
    pub command: Vec<String>,
    /// true: the command may use the network.
    pub network: bool,
}

/// A kind of channel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChannelKindName {
    /// The desktop of this machine.
    #[default]
    Desktop,
    /// An address that gets a request.
    Webhook,
    /// E-mail.
    Email,
    /// A program on this machine.
    Command,
}

/// How a connection is protected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SecurityName {
    /// After its beginning, and before anything of value is sent.
    #[default]
    StartTls,
    /// From its beginning.
    Tls,
    /// Not at all: for servers on this machine.
    None,
}

/// Limits what is spent. What is absent is not limited.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SpendConfig {
    /// Requests to a model.
    pub model_calls: Option<u32>,
    /// Input and output tokens.
    pub tokens: Option<u64>,
    /// US dollars, of calls whose price is known.
    pub dollars: Option<f64>,
}

impl SpendConfig {
    /// Returns the limits.
    pub fn limits(&self) -> SpendLimits {
        let Self { model_calls, tokens, dollars } = *self;
        SpendLimits { model_calls, tokens, dollars }
    }
}
