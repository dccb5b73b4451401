//! Tests the size of prompts, which are sent with every call.

use crate::support::{ALL_TOOLS, compact, standard, team};

fn tokens(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}

#[test]
fn r09_orchestrator_prompt_of_standard_fits_1600_tokens() {
    let count = tokens(&team(&standard(), ALL_TOOLS).system_prompt);
    println!("standard orchestrator: {count} tokens");
    assert!(count < 1600, "{count}");
}

#[test]
fn r09_orchestrator_prompt_of_compact_fits_700_tokens() {
    let count = tokens(&team(&compact(), ALL_TOOLS).system_prompt);
    println!("compact orchestrator: {count} tokens");
    assert!(count < 700, "{count}");
}

#[test]
fn r17_instructions_fit_350_tokens() {
    for topology in [standard(), compact()] {
        for agent in team(&topology, ALL_TOOLS).sub_agents {
            let spec = topology.agent(agent.name.as_str()).unwrap();
            let (body, prompt) = (tokens(&spec.instruction), tokens(&agent.system_prompt));
            println!("{} {}: body {body}, prompt {prompt}", topology.name(), agent.name);
            assert!(body <= 350, "{}: {body}", agent.name);
        }
    }
}
