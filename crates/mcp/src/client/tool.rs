//! Wraps a server's tool as a Lango tool: arguments are checked before a call, and only the
//! approved version is called.

use std::sync::{Arc, OnceLock};

use jsonschema::Validator;
use lango_protocol::{CallReport, InstructionText};
use lango_text::{code_span, make_lines_visible, make_visible};
use lango_tool::{
    AnyTool, BoundResource, ErasedCall, PreparedCall, Proposal, ProposedStep, RegisteredTool,
    ToolContext, ToolDeclaration, ToolError, ToolFuture, ToolOutput,
};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::pin::ToolVersion;
use super::server::Server;
use super::{ClientError, check, naming, result};

/// Limits the description that a model is shown.
const MAX_DESCRIPTION_CHARACTERS: usize = 2000;

/// Represents one tool of a server.
pub(crate) struct McpTool {
    server: Arc<Server>,
    version: ToolVersion,
    /// Created with the first call, because most tools are never called.
    validator: OnceLock<Result<Validator, String>>,
}

impl McpTool {
    /// Registers the tool under its Lango name.
    pub(crate) fn register(server: &Arc<Server>, version: &ToolVersion) -> RegisteredTool {
        let config = &server.config;
        let declaration = ToolDeclaration {
            name: naming::tool_name(&config.name, &version.name).into(),
            description: describe_tool(server, version).into(),
            parameters: normalise_schema(&version.schema),
            level: config.safety,
        };
        let read_only = config.read_only_tools.contains(&version.name);
        let tool = Self {
            server: Arc::clone(server),
            version: version.clone(),
            validator: OnceLock::new(),
        };
        RegisteredTool::dynamic(declaration, read_only, Arc::new(tool))
            .with_owner(config.agent.clone())
            .with_capability(describe_capability(server))
    }
}

/// Describes a server for the orchestrator, by its name alone: everything else is the server's own
/// words.
pub(crate) fn describe_capability(server: &Server) -> InstructionText {
    let name = InstructionText::from_name(server.config.name.as_str());
    InstructionText::concat(["the tools of ".into(), name, " (MCP)".into()])
}

/// Returns the description of a tool for a model, with the name of the server.
pub(crate) fn describe_tool(server: &Server, version: &ToolVersion) -> String {
    let words: String =
        result::clean_text(&version.description).chars().take(MAX_DESCRIPTION_CHARACTERS).collect();
    format!("[MCP server {}] {words}", server.config.name)
}

/// Returns the schema in the form that every provider accepts: an object schema without `$schema`.
pub(crate) fn normalise_schema(schema: &str) -> Arc<RawValue> {
    // A call is refused with the same error, so that nothing is sent that was not checked.
    let schema: serde_json::Result<Map<String, Value>> = serde_json::from_str(schema);
    let mut schema = schema.unwrap_or_else(|error| {
        tracing::warn!(%error, "the stored schema of an MCP tool is damaged");
        Map::new()
    });
    schema.remove("$schema");
    schema.insert("type".to_owned(), "object".into());
    schema.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    let text = Value::Object(schema).to_string();
    // The text of a JSON value is JSON.
    RawValue::from_string(text).map_or_else(|_| Arc::from(RawValue::NULL.to_owned()), Arc::from)
}

impl AnyTool for McpTool {
    fn prepare(self: Arc<Self>, arguments: &str) -> Result<PreparedCall, ToolError> {
        let validator =
            self.validator.get_or_init(|| check::compile_validator(&self.version.schema));
        let validator = validator.as_ref().map_err(|why| {
            ToolError::Failed(format!(
                "what the server says about its arguments cannot be read: {why}"
            ))
        })?;
        let arguments =
            check::check_arguments(validator, arguments).map_err(ToolError::Arguments)?;
        Ok(PreparedCall::new(McpCall { tool: self, arguments }))
    }
}

struct McpCall {
    tool: Arc<McpTool>,
    arguments: Map<String, Value>,
}

impl McpCall {
    fn words(&self) -> Vec<String> {
        let config = &self.tool.server.config;
        let mut words = vec![config.name.to_string(), self.tool.version.name.clone()];
        words.extend(self.arguments.iter().map(|(name, value)| match value {
            Value::String(text) => format!("{name}={text}"),
            value => format!("{name}={value}"),
        }));
        words
    }

    fn summary(&self) -> String {
        let config = &self.tool.server.config;
        let tool = make_visible(&self.tool.version.name);
        let mut summary =
            format!("Call {tool} of the MCP server {} ({})", config.name, config.location());
        if self.arguments.is_empty() {
            summary.push_str("\nwith nothing");
        }
        for (name, value) in &self.arguments {
            let text = match value {
                Value::String(text) => text.clone(),
                value => value.to_string(),
            };
            let shown = make_lines_visible(&text, "  | ");
            summary.push_str(&format!("\n{}:\n{shown}", make_visible(name)));
        }
        summary
    }

    /// Names the tool in a sentence.
    fn subject(&self) -> String {
        let server = &self.tool.server.config.name;
        format!("{} of the MCP server {server}", code_span(&make_visible(&self.tool.version.name)))
    }

    async fn act(self, context: ToolContext) -> Result<ToolOutput, ToolError> {
        let subject = self.subject();
        let Self { tool, arguments } = self;
        let (name, digest) = (&tool.version.name, &tool.version.digest);
        let (answer, remarks) = tool.server.call(name, digest, arguments, &context.cancel).await;
        let remark = |remark| format!("about the MCP server {}: {remark}", tool.server.config.name);
        let remarks: Vec<String> = remarks.into_iter().map(remark).collect();
        let notes: String = remarks.iter().map(|remark| format!("\n[{remark}]")).collect();
        match answer {
            Ok(answered) => {
                let text = result::render_result(&answered) + &notes;
                if answered.is_error == Some(true) {
                    return Err(ToolError::Failed(text));
                }
                let report = result::report_of(&subject, &answered);
                let report = remarks.into_iter().fold(report, CallReport::note).bounded();
                Ok(ToolOutput { text, report: Some(report) })
            }
            Err(ClientError::Cancelled) => Err(ToolError::Cancelled),
            Err(error @ (ClientError::Frozen { .. } | ClientError::Disabled(_))) => {
                Err(ToolError::Forbidden(error.to_string() + &notes))
            }
            Err(error) => Err(ToolError::Failed(error.to_string() + &notes)),
        }
    }
}

impl ErasedCall for McpCall {
    fn describe(&self) -> Option<String> {
        Some(format!("Calling {}", self.subject()))
    }

    fn propose(&self) -> Option<Proposal> {
        let version = &self.tool.version;
        let what = format!("what the server says about {}", make_visible(&version.name));
        let digest = self.tool.server.current_digest(&version.name);
        Some(Proposal {
            summary: self.summary(),
            steps: vec![ProposedStep { words: self.words(), ..ProposedStep::default() }],
            bound: vec![BoundResource { what, digest }],
            ..Proposal::default()
        })
    }

    fn run(self: Box<Self>, context: ToolContext) -> ToolFuture {
        Box::pin(self.act(context))
    }
}
