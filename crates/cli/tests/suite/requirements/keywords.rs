//! Keywords of specialists whose tools do not exist yet. Their agents are made here from tools
//! that do nothing, with the same topology, runtime and wire as in the binary.

use std::collections::BTreeMap;
use std::sync::Arc;

use lango_model::{Endpoint, ModelId, RemoteModel, ReplyOptions, Wire};
use lango_orchestration::{AgentTreeConfig, PromptSections, Topology, build_agent_tree};
use lango_protocol::{Event, EventBody, MessageOrigin, SessionId};
use lango_runtime::{
    AgentModel, RuleBook, Runtime, RuntimeParts, Scrubber, Settings, TurnRequest,
    UnattendedApprover,
};
use lango_scripted::{Script, ScriptedServer};
use lango_store::{Database, DatabaseLocation, Journal};
use lango_tool::{RegisteredTool, SafetyLevel, Tool, ToolContext, ToolError, ToolRegistry};

use crate::journal::assert_valid_journal;
use crate::request::Request;

struct Nothing;

#[derive(Clone, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoArguments {}

impl Tool for Nothing {
    type Arguments = NoArguments;
    type Output = ();
    const NAME: &'static str = "nothing";
    const DESCRIPTION: &'static str = "Does nothing.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(&self, _: NoArguments, _: ToolContext) -> Result<(), ToolError> {
        Ok(())
    }
}

/// One turn of a team with these tools.
async fn turn(tools: &[&str], script: &str, text: &str) -> (Vec<Event>, Vec<Request>) {
    let mut registry = ToolRegistry::new();
    for name in tools {
        let mut tool = RegisteredTool::new(Nothing);
        tool.declaration.name = (*name).into();
        registry.add_registered(tool).unwrap();
    }
    let tree = build_agent_tree(AgentTreeConfig {
        multi_agent: true,
        topology: &Topology::standard().unwrap(),
        tools: &registry,
        max_delegation_rounds: 0,
        sub_agent_prompt: None,
        remote_agents: Vec::new(),
        prompts: &PromptSections::default(),
    })
    .unwrap();
    let server = ScriptedServer::start(Script::parse("test", script).unwrap()).await.unwrap();
    let id = ModelId::new("script", "scripted");
    let model = RemoteModel::new(Endpoint::new(id, Wire::OpenAi, server.base_url())).unwrap();
    let model = AgentModel { model: Arc::new(model), options: ReplyOptions::default() };
    let directory = tempfile::tempdir().unwrap();
    let location = DatabaseLocation::Sqlite(directory.path().join("lango.db"));
    let database = Database::open(&location).await.unwrap();
    let runtime = Runtime::new(RuntimeParts {
        tree,
        model,
        agent_models: BTreeMap::new(),
        journal: Journal::open(database).await.unwrap(),
        approver: Arc::new(UnattendedApprover),
        rules: RuleBook::default(),
        context: Vec::new(),
        observers: Vec::new(),
        advisor: None,
        spend_guard: None,
        scrubber: Scrubber::default(),
        key_store: None,
        settings: Settings::default(),
        workspace: String::new(),
        remote_agents: std::collections::BTreeMap::new(),
    });
    let session = SessionId::generate();
    let request = TurnRequest::new(session.clone(), text, MessageOrigin::Library);
    runtime.start_turn(request).wait_for_outcome().await.unwrap();
    let events = runtime.journal().read_events(&session, 0, 1000).await.unwrap();
    assert_valid_journal(&events);
    (events, server.requests().into_iter().map(Request::read).collect())
}

/// A model that knows nothing but the table it is given would choose `agent`; here the script
/// does, and the test checks that the table says so.
async fn keywords_lead_to(agent: &str, tools: &[&str], tool: &str, text: &str, words: &[&str]) {
    let script = format!(
        "[[reply]]\nagent = \"lango-orchestrator\"\n\
         call = [{{ name = \"transfer_to_agent\", arguments = {{ agent_name = \"{agent}\", task = \"x\" }} }}]\n\
         [[reply]]\nagent = \"{agent}\"\nresults = 0\ncall = [{{ name = \"{tool}\" }}]\n\
         [[reply]]\nagent = \"{agent}\"\nsay = \"Seen to.\"\n"
    );
    let (events, requests) = turn(tools, &script, text).await;
    let line = requests[0].system().lines().find(|line| line.starts_with(&format!("- {agent} ")));
    let keywords = line.unwrap().split("Keywords: ").nth(1).unwrap().split('.').next().unwrap();
    for word in words {
        assert!(keywords.split(", ").any(|keyword| keyword == *word), "{word}: {keywords}");
        let entries = requests[0].system().lines().filter(|line| line.starts_with("- "));
        let others = entries.filter(|other| Some(*other) != line);
        for other in others.filter_map(|other| other.split("Keywords: ").nth(1)) {
            let theirs = other.split('.').next().unwrap();
            assert!(!theirs.split(", ").any(|keyword| keyword == *word), "{word}: {other}");
        }
    }
    assert!(requests[1].tools().contains(&tool), "{:?}", requests[1].tools());
    let answer = events.iter().find(|e| matches!(e.body, EventBody::Message { answer: true, .. }));
    assert_eq!(answer.unwrap().author.as_deref(), Some(agent));
    let ran = |event: &Event| matches!(&event.body, EventBody::ToolResult { output, .. } if output == "null");
    assert!(events.iter().any(ran), "{events:?}");
}

const TOOLS: &[&str] = &["exec_shell", "librarian_pending_inquiries", "cron_add", "workflow_run"];

/// Document 000, "Inquiry keyword routing".
#[tokio::test(flavor = "multi_thread")]
async fn r19_a_message_about_an_inquiry_or_a_gap_is_routed_to_the_librarian() {
    for text in ["Is there an open inquiry?", "Which gap is left?"] {
        let words = ["inquiry", "question", "gap"];
        keywords_lead_to("librarian", TOOLS, "librarian_pending_inquiries", text, &words).await;
    }
}

/// Document 000, "Automator keywords".
#[tokio::test(flavor = "multi_thread")]
async fn r20_a_message_about_a_schedule_is_routed_to_the_automator() {
    let words = ["schedule", "cron", "background", "workflow", "automate"];
    keywords_lead_to("automator", TOOLS, "cron_add", "Schedule a cron job.", &words).await;
}
