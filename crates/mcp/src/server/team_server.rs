//! Serves the team over MCP, for one connection of one caller.

use std::fmt::Display;
use std::sync::Arc;

use lango_protocol::Caller;
use lango_runtime::{Runtime, Teams};
use rmcp::ErrorData;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, JsonObject,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::direct::FreeSessions;
use super::{OfferedTool, OfferedTools, ask, direct, sessions};

const INSTRUCTIONS: &str = "Lango is a team of agents on their owner's machine. `ask` hands a message \
    to the whole team; pass the `session` of an answer to go on with the same conversation. An \
    outcome `needs_input` is a question to you. Some work waits for the approval of the machine's \
    owner, who is not the client: progress notifications say so.";

/// Serves one connection.
pub struct TeamServer {
    caller: Caller,
    teams: Arc<dyn Teams>,
    offers: Arc<dyn OfferedTools>,
    free: FreeSessions,
    signals: StopSignals,
}

/// Holds the signals that end turns early.
#[derive(Clone, Default)]
pub(super) struct StopSignals {
    /// Is cancelled when the client is gone and no longer waits for an answer.
    pub(super) gone: CancellationToken,
    /// Is cancelled when the server shuts down; its turns stay open and can be resumed.
    pub(super) closing: CancellationToken,
}

impl TeamServer {
    /// Creates a server for one connection of a caller.
    pub fn new(caller: Caller, teams: Arc<dyn Teams>, offers: Arc<dyn OfferedTools>) -> Self {
        let signals = StopSignals::default();
        Self { caller, teams, offers, free: FreeSessions::default(), signals }
    }

    /// Sets the signals that end its turns.
    pub(super) fn with_signals(self, signals: StopSignals) -> Self {
        Self { signals, ..self }
    }

    fn find_runtime(&self) -> Result<Runtime, ErrorData> {
        let gone = || ErrorData::invalid_request("this caller reaches no agent", None);
        self.teams.team(&self.caller).ok_or_else(gone)
    }

    fn find_offered_tool(&self, name: &str) -> Option<OfferedTool> {
        let offered = self.offers.tools(&self.caller);
        offered.into_iter().find(|offered| offered.tool.name() == name)
    }

    fn tools(&self) -> Result<Vec<Tool>, ErrorData> {
        let own = self.offers.tools(&self.caller);
        std::iter::once(ask::declare_ask_tool())
            .chain(own.iter().map(direct::describe_tool))
            .collect()
    }
}

impl ServerHandler for TeamServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let itself = Implementation::new("lango", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities).with_server_info(itself).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.find_runtime()?;
        Ok(ListToolsResult { tools: self.tools()?, ..ListToolsResult::default() })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let team = self.find_runtime()?;
        let given = Value::Object(request.arguments.unwrap_or_default());
        let result = if request.name == ask::ASK {
            ask::answer_ask(&team, &self.caller, given, &context, &self.signals).await?
        } else if let Some(offered) = self.find_offered_tool(&request.name) {
            let direct = direct::DirectCaller {
                runtime: &team,
                caller: &self.caller,
                free: &self.free,
                signals: &self.signals,
            };
            direct.call(&offered, given, &context).await?
        } else {
            let name: String = request.name.chars().take(80).collect();
            return Err(ErrorData::invalid_params(format!("there is no tool {name:?}"), None));
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        sessions::list_sessions(self.find_runtime()?.journal(), &self.caller).await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let resource_templates = vec![sessions::session_template()];
        Ok(ListResourceTemplatesResult {
            resource_templates,
            ..ListResourceTemplatesResult::default()
        })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read =
            sessions::read_session(self.find_runtime()?.journal(), &self.caller, &request.uri)
                .await?;
        Ok(read.into())
    }
}

/// Returns the schema of a type, as tools declare it.
pub(super) fn schema_of<T: JsonSchema>() -> Result<Arc<JsonObject>, ErrorData> {
    let settings = schemars::generate::SchemaSettings::draft2020_12();
    let schema = settings.into_generator().into_root_schema_for::<T>();
    match serde_json::to_value(schema).map_err(internal_error)? {
        Value::Object(schema) => Ok(Arc::new(schema)),
        _ => Err(internal_error("a schema is not an object")),
    }
}

/// Parses arguments into a type.
pub(super) fn parse_arguments<T: DeserializeOwned>(given: Value) -> Result<T, ErrorData> {
    serde_json::from_value(given)
        .map_err(|error| ErrorData::invalid_params(error.to_string(), None))
}

/// Returns an internal error. Its details are hidden, because they may name paths of this machine.
pub(super) fn internal_error(_: impl Display) -> ErrorData {
    ErrorData::internal_error(
        "something went wrong here; the owner's `lango doctor` may tell what",
        None,
    )
}
