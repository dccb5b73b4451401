//! Reads what defines a team: a workspace, a topology, prompts, limits, and the settings of its agents.
//! Nothing is opened here.

use std::path::{Path, PathBuf};

use lango_orchestration::{AgentSpec, PromptSections, Topology};
use lango_protocol::{ORCHESTRATOR, SINGLE_AGENT};

use crate::agents::AgentSettings;
use crate::config::Config;
use crate::{App, AppError};

/// Holds a client's choices about the team; the configuration decides the others.
#[derive(Debug, Clone, Default)]
pub struct TeamOptions {
    /// `standard`, `compact`, or a directory of agent files.
    pub topology: Option<String>,
    /// The directory to work in; the current one if absent.
    pub workspace: Option<PathBuf>,
    /// The number of delegations that an orchestrator may make in a turn.
    pub max_rounds: Option<u32>,
}

/// Holds what defines a team.
#[derive(Clone)]
pub(crate) struct TeamDefinition {
    pub(crate) workspace: PathBuf,
    pub(crate) topology: Topology,
    pub(crate) prompts: PromptSections,
    pub(crate) multi_agent: bool,
    pub(crate) max_rounds: u32,
    pub(crate) agents: AgentSettings,
}

impl TeamDefinition {
    /// Reads the files and settings that define the team.
    pub(crate) fn load(app: &App, options: &TeamOptions) -> Result<Self, AppError> {
        let config = app.config();
        let workspace = find_workspace(options.workspace.as_deref())?;
        let topology = options.topology.as_deref().unwrap_or(&config.agent.topology);
        Ok(Self {
            topology: load_topology(config, topology)?,
            prompts: load_prompts(config)?,
            multi_agent: config.agent.multi_agent,
            max_rounds: options.max_rounds.unwrap_or(config.agent.max_delegation_rounds),
            agents: AgentSettings::read(config, &app.home, &workspace)?,
            workspace,
        })
    }

    /// Refuses settings for agents that do not exist.
    pub(crate) fn check_agent_settings(&self, config: &Config) -> Result<(), AppError> {
        let names = || self.topology.agents().iter().map(|agent| agent.name.as_str());
        let exists = |name: &str| {
            [ORCHESTRATOR, SINGLE_AGENT].contains(&name) || names().any(|known| known == name)
        };
        match config.agents.keys().find(|name| !exists(name)) {
            None => Ok(()),
            Some(name) => {
                let names: Vec<&str> = std::iter::once(ORCHESTRATOR).chain(names()).collect();
                Err(AppError::usage(format!(
                    "agents.{name} is set, and there is no such agent. There are: {}",
                    names.join(", ")
                )))
            }
        }
    }
}

/// Returns the directory to work in, with symbolic links resolved.
pub fn find_workspace(given: Option<&Path>) -> Result<PathBuf, AppError> {
    let workspace = match given {
        Some(directory) => directory.to_owned(),
        None => std::env::current_dir()
            .map_err(|error| AppError::usage(format!("there is no current directory: {error}")))?,
    };
    workspace.canonicalize().map_err(|error| {
        AppError::usage(format!("the workspace {} cannot be used: {error}", workspace.display()))
    })
}

/// Tells whether exactly this directory may bring skills and MCP servers of its own.
pub fn is_trusted(config: &Config, workspace: &Path) -> bool {
    config.trust.directories.iter().any(|directory| Path::new(directory) == workspace)
}

fn load_topology(config: &Config, name: &str) -> Result<Topology, AppError> {
    let topology = match name {
        "standard" => Topology::standard(),
        "compact" => Topology::compact(),
        directory => {
            let files = read_markdown_files(Path::new(directory)).map_err(|error| {
                AppError::usage(format!(
                    "the topology {directory:?} is neither standard nor compact, and cannot be \
                     read as a directory of AGENT.md files: {error}"
                ))
            })?;
            Topology::from_files(directory, &borrow_files(&files))
        }
    }?;
    let Some(directory) = &config.agent.agents_dir else { return Ok(topology) };
    let files = read_markdown_files(directory).map_err(|error| {
        AppError::usage(format!("agent.agentsDir {} cannot be read: {error}", directory.display()))
    })?;
    let specs: Result<Vec<AgentSpec>, _> = files
        .iter()
        .map(|(name, text)| AgentSpec::parse(&display_path(directory, name), text))
        .collect();
    Ok(topology.with_agents(specs?)?)
}

/// Returns the path of a file, for messages.
fn display_path(directory: &Path, name: &str) -> String {
    directory.join(name).display().to_string()
}

fn load_prompts(config: &Config) -> Result<PromptSections, AppError> {
    let prompts = PromptSections::default();
    let Some(directory) = &config.agent.prompts_dir else { return Ok(prompts) };
    let unreadable = |error: std::io::Error| {
        AppError::usage(format!("agent.promptsDir {} cannot be read: {error}", directory.display()))
    };
    let mut files = read_markdown_files(directory).map_err(unreadable)?;
    let agents = directory.join("agents");
    if agents.is_dir() {
        for entry in std::fs::read_dir(&agents).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let agent = entry.file_name().to_string_lossy().into_owned();
            for (name, text) in read_markdown_files(&entry.path()).map_err(unreadable)? {
                files.push((format!("agents/{agent}/{name}"), text));
            }
        }
    }
    Ok(prompts.with_files(&borrow_files(&files))?)
}

/// Returns the `*.md` files of a directory, sorted by name.
fn read_markdown_files(directory: &Path) -> std::io::Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "md") && path.is_file() {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            files.push((name, std::fs::read_to_string(&path)?));
        }
    }
    files.sort();
    Ok(files)
}

fn borrow_files(files: &[(String, String)]) -> Vec<(&str, &str)> {
    files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect()
}
