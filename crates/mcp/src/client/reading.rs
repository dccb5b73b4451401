//! What a person may want from a server beside its tools: resources and prompts.

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

/// Entries of a list that are asked for.
const MOST_ENTRIES: usize = 1000;
/// Pages of a list that are asked for.
const MOST_PAGES: usize = 50;

/// A resource, or a pattern for several.
#[derive(Debug, Clone, Serialize)]
pub struct ResourceView {
    /// Its address, or a template of one.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// What it is, in the server's words.
    pub description: String,
    /// Whether parts of the address are to be filled in.
    pub is_template: bool,
}

/// A prompt.
#[derive(Debug, Clone, Serialize)]
pub struct PromptView {
    /// Its name.
    pub name: String,
    /// What it is for, in the server's words.
    pub description: String,
    /// What it takes; those that must be given end with `*`.
    pub arguments: Vec<String>,
}

/// What a server said about itself, and how it is used.
#[derive(Debug, Clone, Serialize)]
pub struct Introduction {
    /// The name it gives itself.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The version of the protocol that was agreed on.
    pub protocol: String,
    /// How many tools it lists.
    pub tools: usize,
    /// Whether it has resources.
    pub resources: bool,
    /// Whether it has prompts.
    pub prompts: bool,
}

impl Server {
    /// Starts it, and says what it is.
    pub async fn introduce(&self) -> Result<Introduction, ClientError> {
        let link = self.link().await?;
        let info = link.peer().peer_info();
        let own = info.as_ref().and_then(|info| info.server_info.as_ref());
        let capabilities = info.as_ref().map(|info| &info.capabilities);
        let tools = self
            .known()
            .map_or(0, |known| known.tools.values().filter(|tool| tool.current.is_some()).count());
        Ok(Introduction {
            name: own.map(|own| result::clean(&own.name)).unwrap_or_default(),
            version: own.map(|own| result::clean(&own.version)).unwrap_or_default(),
            protocol: info.as_ref().map(|i| i.protocol_version.to_string()).unwrap_or_default(),
            tools,
            resources: capabilities.is_some_and(|c| c.resources.is_some()),
            prompts: capabilities.is_some_and(|c| c.prompts.is_some()),
        })
    }

    /// Its resources, and templates of them.
    pub async fn resources(&self) -> Result<Vec<ResourceView>, ClientError> {
        let link = self.link().await?;
        let mut views = Vec::new();
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let page = PaginatedRequestParams::default().with_cursor(cursor.take());
            let page = self.within(link.peer().list_resources(Some(page))).await?;
            views.extend(page.resources.iter().map(|resource| ResourceView {
                uri: result::clean(&resource.uri),
                name: result::clean(&resource.name),
                description: result::clean(resource.description.as_deref().unwrap_or_default()),
                is_template: false,
            }));
            cursor = page.next_cursor;
            if cursor.is_none() || views.len() > MOST_ENTRIES {
                break;
            }
        }
        // Not every server that has resources knows templates.
        if let Ok(page) = self.within(link.peer().list_resource_templates(None)).await {
            views.extend(page.resource_templates.iter().map(|template| ResourceView {
                uri: result::clean(&template.uri_template),
                name: result::clean(&template.name),
                description: result::clean(template.description.as_deref().unwrap_or_default()),
                is_template: true,
            }));
        }
        views.truncate(MOST_ENTRIES);
        Ok(views)
    }

    /// What is in a resource.
    pub async fn read(&self, uri: &str) -> Result<String, ClientError> {
        let link = self.link().await?;
        let _open = link.calls().open();
        let request = ReadResourceRequestParams::new(uri);
        let read = self.within(link.peer().read_resource(request)).await?;
        Ok(read.contents.iter().map(result::resource).collect::<Vec<_>>().join("\n"))
    }

    /// Its prompts.
    pub async fn prompts(&self) -> Result<Vec<PromptView>, ClientError> {
        let link = self.link().await?;
        let page = self.within(link.peer().list_prompts(None)).await?;
        let view = |prompt: &rmcp::model::Prompt| PromptView {
            name: result::clean(&prompt.name),
            description: result::clean(prompt.description.as_deref().unwrap_or_default()),
            arguments: prompt
                .arguments
                .iter()
                .flatten()
                .map(|argument| {
                    let mark = if argument.required == Some(true) { "*" } else { "" };
                    format!("{}{mark}", result::clean(&argument.name))
                })
                .collect(),
        };
        Ok(page.prompts.iter().take(MOST_ENTRIES).map(view).collect())
    }

    /// A prompt, filled in: who says what.
    pub async fn prompt(
        &self,
        name: &str,
        arguments: Vec<(String, String)>,
    ) -> Result<String, ClientError> {
        let link = self.link().await?;
        let _open = link.calls().open();
        let arguments: JsonObject =
            arguments.into_iter().map(|(key, value)| (key, Value::String(value))).collect();
        let request = GetPromptRequestParams::new(name).with_arguments(arguments);
        let prompt = self.within(link.peer().get_prompt(request)).await?;
        let said = |message: &PromptMessage| {
            let who = format!("{:?}", message.role).to_lowercase();
            let content: &ContentBlock = &message.content;
            format!("{who}: {}\n", result::block(content))
        };
        Ok(prompt.messages.iter().map(said).collect())
    }

    async fn within<T>(
        &self,
        asking: impl Future<Output = Result<T, ServiceError>>,
    ) -> Result<T, ClientError> {
        let limit: Duration = self.config.tool_timeout;
        let server = self.config.name.to_string();
        match tokio::time::timeout(limit, asking).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(ServiceError::McpError(error))) => Err(ClientError::Answered {
                server,
                reason: lango_tool::visible_short(&error.message),
            }),
            Ok(Err(error)) => Err(ClientError::Answered {
                server,
                reason: lango_tool::visible_short(&error.to_string()),
            }),
            Err(_) => Err(ClientError::TooSlow { server, seconds: limit.as_secs() }),
        }
    }
}
