//! Reads the resources and prompts of a server for a person.

use std::time::Duration;

use rmcp::model::{
    ContentBlock, GetPromptRequestParams, JsonObject, PaginatedRequestParams, PromptMessage,
    ReadResourceRequestParams,
};
use rmcp::service::ServiceError;
use serde::Serialize;
use serde_json::Value;

use super::server::Server;
use super::{ClientError, result};

/// Limits the entries of a list.
const MAX_ENTRY_COUNT: usize = 1000;
/// Limits the pages of a list.
const MAX_PAGE_COUNT: usize = 50;

/// Describes a resource or a resource template.
#[derive(Debug, Clone, Serialize)]
pub struct ResourceView {
    /// Its URI, or a URI template.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// The description by the server.
    pub description: String,
    /// True if the URI is a template.
    pub is_template: bool,
}

/// Describes a prompt.
#[derive(Debug, Clone, Serialize)]
pub struct PromptView {
    /// Its name.
    pub name: String,
    /// The description by the server.
    pub description: String,
    /// Its arguments; required ones end with `*`.
    pub arguments: Vec<String>,
}

/// Describes a server as it presents itself.
#[derive(Debug, Clone, Serialize)]
pub struct ServerDescription {
    /// The name that it reports.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The version of the protocol that was agreed on.
    pub protocol: String,
    /// The number of tools that it lists.
    pub tools: usize,
    /// True if it has resources.
    pub resources: bool,
    /// True if it has prompts.
    pub prompts: bool,
}

impl Server {
    /// Starts the server and describes it.
    pub async fn introduce(&self) -> Result<ServerDescription, ClientError> {
        let link = self.connect().await?;
        let info = link.peer().peer_info();
        let own = info.as_ref().and_then(|info| info.server_info.as_ref());
        let capabilities = info.as_ref().map(|info| &info.capabilities);
        let tools = self
            .find_stored()
            .map_or(0, |known| known.tools.values().filter(|tool| tool.current.is_some()).count());
        Ok(ServerDescription {
            name: own.map(|own| result::clean_text(&own.name)).unwrap_or_default(),
            version: own.map(|own| result::clean_text(&own.version)).unwrap_or_default(),
            protocol: info.as_ref().map(|i| i.protocol_version.to_string()).unwrap_or_default(),
            tools,
            resources: capabilities.is_some_and(|c| c.resources.is_some()),
            prompts: capabilities.is_some_and(|c| c.prompts.is_some()),
        })
    }

    /// Returns its resources and resource templates.
    pub async fn list_resources(&self) -> Result<Vec<ResourceView>, ClientError> {
        let link = self.connect().await?;
        let mut views = Vec::new();
        let mut cursor = None;
        for _ in 0..MAX_PAGE_COUNT {
            let page = PaginatedRequestParams::default().with_cursor(cursor.take());
            let page = self.with_timeout(link.peer().list_resources(Some(page))).await?;
            views.extend(page.resources.iter().map(|resource| ResourceView {
                uri: result::clean_text(&resource.uri),
                name: result::clean_text(&resource.name),
                description: result::clean_text(
                    resource.description.as_deref().unwrap_or_default(),
                ),
                is_template: false,
            }));
            cursor = page.next_cursor;
            if cursor.is_none() || views.len() > MAX_ENTRY_COUNT {
                break;
            }
        }
        // Not every server with resources supports templates.
        if let Ok(page) = self.with_timeout(link.peer().list_resource_templates(None)).await {
            views.extend(page.resource_templates.iter().map(|template| ResourceView {
                uri: result::clean_text(&template.uri_template),
                name: result::clean_text(&template.name),
                description: result::clean_text(
                    template.description.as_deref().unwrap_or_default(),
                ),
                is_template: true,
            }));
        }
        views.truncate(MAX_ENTRY_COUNT);
        Ok(views)
    }

    /// Returns the content of a resource.
    pub async fn read(&self, uri: &str) -> Result<String, ClientError> {
        let link = self.connect().await?;
        let _open = link.calls().open();
        let request = ReadResourceRequestParams::new(uri);
        let read = self.with_timeout(link.peer().read_resource(request)).await?;
        Ok(read.contents.iter().map(result::render_resource).collect::<Vec<_>>().join("\n"))
    }

    /// Returns its prompts.
    pub async fn list_prompts(&self) -> Result<Vec<PromptView>, ClientError> {
        let link = self.connect().await?;
        let page = self.with_timeout(link.peer().list_prompts(None)).await?;
        let view = |prompt: &rmcp::model::Prompt| PromptView {
            name: result::clean_text(&prompt.name),
            description: result::clean_text(prompt.description.as_deref().unwrap_or_default()),
            arguments: prompt
                .arguments
                .iter()
                .flatten()
                .map(|argument| {
                    let mark = if argument.required == Some(true) { "*" } else { "" };
                    format!("{}{mark}", result::clean_text(&argument.name))
                })
                .collect(),
        };
        Ok(page.prompts.iter().take(MAX_ENTRY_COUNT).map(view).collect())
    }

    /// Returns the messages of a prompt with its arguments filled in.
    pub async fn prompt(
        &self,
        name: &str,
        arguments: Vec<(String, String)>,
    ) -> Result<String, ClientError> {
        let link = self.connect().await?;
        let _open = link.calls().open();
        let arguments: JsonObject =
            arguments.into_iter().map(|(key, value)| (key, Value::String(value))).collect();
        let request = GetPromptRequestParams::new(name).with_arguments(arguments);
        let prompt = self.with_timeout(link.peer().get_prompt(request)).await?;
        let render = |message: &PromptMessage| {
            let who = format!("{:?}", message.role).to_lowercase();
            let content: &ContentBlock = &message.content;
            format!("{who}: {}\n", result::render_block(content))
        };
        Ok(prompt.messages.iter().map(render).collect())
    }

    async fn with_timeout<T>(
        &self,
        asking: impl Future<Output = Result<T, ServiceError>>,
    ) -> Result<T, ClientError> {
        let limit: Duration = self.config.tool_timeout;
        let server = self.config.name.to_string();
        match tokio::time::timeout(limit, asking).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(ServiceError::McpError(error))) => Err(ClientError::Answered {
                server,
                reason: lango_text::make_visible_short(&error.message),
            }),
            Ok(Err(error)) => Err(ClientError::Answered {
                server,
                reason: lango_text::make_visible_short(&error.to_string()),
            }),
            Err(_) => Err(ClientError::TooSlow { server, seconds: limit.as_secs() }),
        }
    }
}
