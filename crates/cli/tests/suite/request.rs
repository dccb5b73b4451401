//! What the model was really sent.

use lango_scripted::ReceivedRequest;
use serde_json::Value;

pub(crate) struct Request {
    /// The agent that asked.
    pub(crate) agent: String,
    body: Value,
}

impl Request {
    pub(crate) fn read(received: ReceivedRequest) -> Self {
        let body = serde_json::from_str(&received.body).unwrap();
        Self { agent: received.agent.unwrap_or_default(), body }
    }

    fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().unwrap()
    }

    /// The messages of a role, as text.
    pub(crate) fn said_by(&self, role: &str) -> Vec<&str> {
        let messages = self.messages().iter().filter(|message| message["role"] == role);
        messages.map(|message| message["content"].as_str().unwrap_or_default()).collect()
    }

    /// The agent's instruction. There is only one.
    pub(crate) fn system(&self) -> &str {
        let system = self.said_by("system");
        assert_eq!(system.len(), 1, "{system:?}");
        system[0]
    }

    /// The newest message of the user.
    pub(crate) fn user(&self) -> &str {
        self.said_by("user").pop().unwrap()
    }

    /// What assistants said earlier, each with the name it carries.
    pub(crate) fn assistants(&self) -> Vec<(Option<&str>, &str)> {
        let said = self.messages().iter().filter(|m| m["role"] == "assistant");
        said.filter_map(|m| Some((m["name"].as_str(), m["content"].as_str()?))).collect()
    }

    /// The names of what may be called.
    pub(crate) fn tools(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect()
    }

    /// Returns the agents that a task may be transferred to; none where there is no transfer.
    pub(crate) fn targets(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        let transfer = tools.iter().find(|t| t["function"]["name"] == "transfer_to_agent");
        let Some(transfer) = transfer else { return Vec::new() };
        let names = &transfer["function"]["parameters"]["properties"]["agent_name"]["enum"];
        names.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
    }

    /// Everything, as it was sent.
    pub(crate) fn text(&self) -> String {
        self.body.to_string()
    }
}
