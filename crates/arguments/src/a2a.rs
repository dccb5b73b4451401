//! The arguments of `lango a2a`.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum A2aCommand {
    /// Look at an agent's card, without trusting it.
    #[command(after_help = "Examples:
  lango a2a card https://agent.example.org
  lango a2a card http://127.0.0.1:9999/.well-known/agent-card.json --json")]
    Card {
        /// The address of the card, or only the host.
        url: String,
        /// The variable that holds a bearer token, if the card is not public.
        #[arg(long, value_name = "VARIABLE")]
        token_env: Option<String>,
        /// Print the card as JSON, as it came.
        #[arg(long)]
        json: bool,
    },
    /// Take an agent into the team: look at its card, trust it, write it to the configuration.
    #[command(after_help = "Examples:
  lango a2a add weather https://agent.example.org --description \"weather forecasts\"
  lango a2a add weather https://agent.example.org --token-env WEATHER_TOKEN --yes")]
    Add {
        /// Name of the agent in this team.
        name: String,
        /// The address of its card, or only the host.
        url: String,
        /// What it is for, in your words; without it, the orchestrator goes by the agent's own.
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
        /// The variable that holds a bearer token for it.
        #[arg(long, value_name = "VARIABLE")]
        token_env: Option<String>,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
    },
    /// List the remote agents: which are reachable, which are not, and why.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Take an agent out of the team, and forget its card.
    Remove {
        /// Its name here.
        name: String,
    },
    /// Send an agent a message, and see how long each step takes.
    #[command(after_help = "Examples:
  lango a2a test weather
  lango a2a test weather \"Will it rain in Oslo today?\"")]
    Test {
        /// Its name here.
        name: String,
        /// The message.
        text: Vec<String>,
    },
    /// See what changed in an agent's card, and trust it as it is now.
    Approve {
        /// Its name here.
        name: String,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
    },
}
