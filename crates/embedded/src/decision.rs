//! Computes which meaning a request most likely has, and its probability.

use lango_model::Colleague;
use lango_tool::{SafetyLevel, ToolDeclaration};

use super::question::{as_words, render_tool_card};
use super::reading::{RequestGist, RequestReader};
use super::schema::can_be_filled;
use super::topics::{missing_topic_penalty, topic_words};
use super::trained_tools::{KnownTool, SMALL_TALK_CARD};
use super::unknown::UnknownMeanings;
use super::weights::AGENTS;

/// Names the tool with which every agent reads output that was too long to show. No request means
/// it.
const OUTPUT_READ: &str = "output_read";

/// Represents a possible meaning of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RequestMeaning<'a> {
    /// Nothing is to be done.
    SmallTalk,
    /// Several steps.
    Plan,
    /// A question about Lango itself.
    Help,
    /// Something that only a model that writes can do.
    Writing,
    /// An order that lacks something essential.
    Vague,
    /// A pasted text, or an order that is only quoted.
    Stray,
    /// A tool that is offered, here or by a colleague.
    Tool { tool: &'a ToolDeclaration, agent: Option<&'a Colleague> },
    /// A tool of the training that no agent of this team has.
    Absent(&'a KnownTool),
    /// A remote agent, of whose tools nothing is known.
    Remote(&'a Colleague),
}

/// Represents a meaning and its probability.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WeightedMeaning<'a> {
    pub(crate) meaning: RequestMeaning<'a>,
    pub(crate) probability: f32,
}

/// Holds all meanings of one request, the likeliest first.
#[derive(Debug)]
pub(crate) struct WeightedMeanings<'a> {
    pub(crate) all: Vec<WeightedMeaning<'a>>,
}

impl RequestMeaning<'_> {
    pub(crate) fn is_dangerous(&self) -> bool {
        match self {
            Self::Tool { tool, .. } => tool.level == SafetyLevel::Dangerous,
            Self::Absent(known) => known.level == SafetyLevel::Dangerous,
            _ => false,
        }
    }
}

impl<'a> WeightedMeanings<'a> {
    /// Computes the readings of a request among all that a team can do: its tools, small talk, a
    /// plan, remote agents, and known tools that it lacks. `own` are the tools of the agent that is
    /// asked.
    pub(crate) fn of(
        reader: &'a RequestReader,
        gist: &RequestGist,
        own: &'a [ToolDeclaration],
        colleagues: impl IntoIterator<Item = &'a Colleague>,
    ) -> Self {
        let (tool_weight, agent_weight) = reader.decision_weights();
        let of_class = |class: usize, nearness: f32| {
            tool_weight * nearness + agent_weight * gist.agents[class]
        };
        let known =
            |card: usize, class: usize| of_class(class, reader.nearness_to_card(gist, card));
        let trained_tools = &reader.trained_tools;
        let words = topic_words(gist.text());
        let known_logits: Vec<f32> = trained_tools
            .tools()
            .iter()
            .enumerate()
            .map(|(card, tool)| known(card, tool.agent) - missing_topic_penalty(&tool.name, &words))
            .collect();
        let mut unknown = UnknownMeanings::default();
        let mut present = vec![false; known_logits.len()];
        let mut logits: Vec<(RequestMeaning<'a>, f32)> = Vec::new();
        let mut add_tool = |tool: &'a ToolDeclaration, agent: Option<&'a Colleague>| {
            let meaning = RequestMeaning::Tool { tool, agent };
            match trained_tools.find(&tool.name) {
                _ if &*tool.name == OUTPUT_READ || !can_be_filled(tool) => {}
                Some((card, _)) => {
                    present[card] = true;
                    logits.push((meaning, known_logits[card]));
                }
                None => unknown.add(meaning, render_tool_card(tool)),
            }
        };
        for tool in own {
            add_tool(tool, None);
        }
        let mut remote = Vec::new();
        for colleague in colleagues {
            for tool in &colleague.tools {
                add_tool(tool, Some(colleague));
            }
            if colleague.tools.is_empty() && agent_class(&colleague.name).is_none() {
                remote.push(colleague);
            }
        }
        for colleague in remote {
            let text = format!("{}: {}", as_words(&colleague.name), colleague.description);
            unknown.add(RequestMeaning::Remote(colleague), text);
        }
        logits.extend(unknown.compute_logits(reader, gist, &known_logits));
        for (card, tool) in trained_tools.tools().iter().enumerate() {
            if !present[card] {
                logits.push((RequestMeaning::Absent(tool), known_logits[card]));
            }
        }
        let without_tool = [
            (RequestMeaning::SmallTalk, "none"),
            (RequestMeaning::Plan, "planner"),
            (RequestMeaning::Help, "help"),
            (RequestMeaning::Writing, "write"),
            (RequestMeaning::Vague, "ask"),
            (RequestMeaning::Stray, "stray"),
        ];
        for (at, (meaning, name)) in without_tool.into_iter().enumerate() {
            let class = agent_class(name).unwrap_or_default();
            logits.push((meaning, known(SMALL_TALK_CARD + at, class)));
        }
        Self::from_logits(logits)
    }

    fn from_logits(logits: Vec<(RequestMeaning<'a>, f32)>) -> Self {
        let most = logits.iter().map(|(_, logit)| *logit).fold(f32::MIN, f32::max);
        let sum: f32 = logits.iter().map(|(_, logit)| (logit - most).exp()).sum();
        let mut all: Vec<WeightedMeaning<'a>> = logits
            .into_iter()
            .map(|(meaning, logit)| WeightedMeaning {
                meaning,
                probability: (logit - most).exp() / sum,
            })
            .collect();
        all.sort_by(|a, b| b.probability.total_cmp(&a.probability));
        Self { all }
    }

    /// Returns the readings that one agent can act on, the likeliest first.
    pub(crate) fn list_for_agent(&self, agent: Option<&str>) -> Vec<WeightedMeaning<'a>> {
        let is_own = |reading: &&WeightedMeaning<'a>| match &reading.meaning {
            RequestMeaning::Tool { agent: owner, .. } => {
                owner.map(|owner| owner.name.as_str()) == agent
            }
            _ => false,
        };
        self.all.iter().filter(is_own).copied().collect()
    }

    /// Returns the summed probability of each part of the team, the likeliest first.
    pub(crate) fn sum_by_part(&self) -> Vec<(TeamPart<'a>, f32)> {
        let mut parts: Vec<(TeamPart<'a>, f32)> = Vec::new();
        for reading in &self.all {
            let part = TeamPart::of(&reading.meaning);
            match parts.iter_mut().find(|(other, _)| *other == part) {
                Some((_, sum)) => *sum += reading.probability,
                None => parts.push((part, reading.probability)),
            }
        }
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        parts
    }
}

/// Says which part of the team a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TeamPart<'a> {
    Talk,
    Plan,
    Help,
    Writing,
    Vague,
    Stray,
    /// The agent that is asked.
    Own,
    /// A colleague.
    Agent(&'a str),
    /// An agent of the training that is not here, or not with this tool.
    Missing(usize),
}

impl<'a> TeamPart<'a> {
    fn of(meaning: &RequestMeaning<'a>) -> Self {
        match meaning {
            RequestMeaning::SmallTalk => Self::Talk,
            RequestMeaning::Plan => Self::Plan,
            RequestMeaning::Help => Self::Help,
            RequestMeaning::Writing => Self::Writing,
            RequestMeaning::Vague => Self::Vague,
            RequestMeaning::Stray => Self::Stray,
            RequestMeaning::Tool { agent: None, .. } => Self::Own,
            RequestMeaning::Tool { agent: Some(agent), .. } | RequestMeaning::Remote(agent) => {
                Self::Agent(&agent.name)
            }
            RequestMeaning::Absent(known) => Self::Missing(known.agent),
        }
    }
}

fn agent_class(name: &str) -> Option<usize> {
    AGENTS.iter().position(|agent| *agent == name)
}
