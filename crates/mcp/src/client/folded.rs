//! Replaces many tools by two: one that lists and describes them, one that calls them. This is for
//! servers whose descriptions would fill the prompt.

use std::collections::BTreeMap;
use std::sync::Arc;

use lango_tool::{
    AnyTool, ErasedCall, PreparedCall, Proposal, RegisteredTool, SafetyLevel, ToolContext,
    ToolDeclaration, ToolError, ToolFuture, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::pin::ToolVersion;
use super::server::Server;
use super::{naming, result, tool};

/// Limits a description in the list.
const MAX_SUMMARY_CHARACTERS: usize = 100;

/// Holds the arguments of the listing tool.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListArguments {
    /// A tool, to get all of its description and the schema of its arguments. Without it: the
    /// names of all tools, with one line each.
    #[serde(default)]
    tool: Option<String>,
}

/// Holds the arguments of the calling tool.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CallArguments {
    /// The tool's name, as listed.
    tool: String,
    /// Its arguments, as its schema says.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    arguments: Option<Box<RawValue>>,
}

/// Returns the two tools that stand for all tools of a server.
pub(crate) fn fold_tools(
    server: &Arc<Server>,
    versions: &[ToolVersion],
    tools: Vec<RegisteredTool>,
) -> Vec<RegisteredTool> {
    let name = &server.config.name;
    let named: BTreeMap<String, Arc<RegisteredTool>> = versions
        .iter()
        .map(|version| version.name.clone())
        .zip(tools.into_iter().map(Arc::new))
        .collect();
    let named = Arc::new(named);
    let lister = ToolLister { server: Arc::clone(server), versions: versions.to_vec() };
    let own = |suffix: &str| -> Arc<str> { naming::tool_name(name, suffix).into() };
    let list = ToolDeclaration {
        name: own("tools"),
        description: format!(
            "[MCP server {name}] Lists its {} tools; with a name, describes that tool. Look here \
             before the first call.",
            versions.len()
        )
        .into(),
        ..ToolDeclaration::new::<ListArguments>("", "", SafetyLevel::Safe)
    };
    let call = ToolDeclaration {
        name: own("call"),
        description: format!("[MCP server {name}] Calls one of its tools.").into(),
        ..ToolDeclaration::new::<CallArguments>("", "", server.config.safety)
    };
    vec![
        RegisteredTool::dynamic(list, true, Arc::new(lister))
            .with_owner(server.config.agent.clone())
            .with_capability(tool::describe_capability(server)),
        RegisteredTool::dynamic(call, false, Arc::new(ToolCaller { named }))
            .with_owner(server.config.agent.clone())
            .with_capability(tool::describe_capability(server)),
    ]
}

struct ToolLister {
    server: Arc<Server>,
    versions: Vec<ToolVersion>,
}

impl AnyTool for ToolLister {
    fn prepare(self: Arc<Self>, arguments: &str) -> Result<PreparedCall, ToolError> {
        let text = if arguments.trim().is_empty() { "{}" } else { arguments };
        let arguments: ListArguments =
            serde_json::from_str(text).map_err(|error| ToolError::Arguments(error.to_string()))?;
        Ok(PreparedCall::new(ListingCall { lister: self, tool: arguments.tool }))
    }
}

struct ListingCall {
    lister: Arc<ToolLister>,
    tool: Option<String>,
}

impl ErasedCall for ListingCall {
    fn propose(&self) -> Option<Proposal> {
        None
    }

    fn run(self: Box<Self>, _: ToolContext) -> ToolFuture {
        Box::pin(async move { self.text().map(ToolOutput::from) })
    }
}

impl ListingCall {
    fn text(&self) -> Result<String, ToolError> {
        let versions = &self.lister.versions;
        let Some(name) = &self.tool else {
            let line = |version: &ToolVersion| {
                let words = result::clean_text(&version.description).replace('\n', " ");
                let words: String = words.chars().take(MAX_SUMMARY_CHARACTERS).collect();
                format!("{}: {words}\n", result::clean_text(&version.name))
            };
            return Ok(versions.iter().map(line).collect());
        };
        let version = versions.iter().find(|version| version.name == *name);
        let version = version.ok_or_else(|| unknown_tool_error(name))?;
        let description = tool::describe_tool(&self.lister.server, version);
        Ok(format!("{description}\nArguments: {}", tool::normalise_schema(&version.schema)))
    }
}

fn unknown_tool_error(name: &str) -> ToolError {
    let name = lango_text::make_visible_short(name);
    ToolError::Arguments(format!("there is no tool {name}; list them first"))
}

struct ToolCaller {
    named: Arc<BTreeMap<String, Arc<RegisteredTool>>>,
}

impl AnyTool for ToolCaller {
    fn prepare(self: Arc<Self>, arguments: &str) -> Result<PreparedCall, ToolError> {
        // Only an invalid call gets here, and the error says what is wrong with it.
        let (tool, arguments) = self.find(arguments)?;
        tool.prepare(&arguments)
    }

    fn resolve_alias(&self, arguments: &str) -> Option<(Arc<RegisteredTool>, String)> {
        // `prepare` reports the error.
        self.find(arguments).ok()
    }
}

impl ToolCaller {
    fn find(&self, arguments: &str) -> Result<(Arc<RegisteredTool>, String), ToolError> {
        let given: CallArguments = serde_json::from_str(arguments)
            .map_err(|error| ToolError::Arguments(error.to_string()))?;
        let tool = self.named.get(&given.tool).ok_or_else(|| unknown_tool_error(&given.tool))?;
        let arguments = given.arguments.map_or_else(|| "{}".to_owned(), |raw| raw.get().to_owned());
        Ok((Arc::clone(tool), arguments))
    }
}
