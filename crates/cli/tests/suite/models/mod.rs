//! Every model, and a bad network.

mod choice;
mod context;
mod embedded;
mod measured;
mod prefix;
mod recording;
mod reports;
mod tls;
mod trouble;
mod wires;

use lango_model::Wire;

const WIRES: [Wire; 4] = [Wire::OpenAi, Wire::Anthropic, Wire::Gemini, Wire::Ollama];
