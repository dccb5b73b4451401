//! Tests R17 and the Proactive Behavior of R19: the specialists' instructions.

use lango_orchestration::Topology;

use crate::support::{compact, standard};

fn output_format(topology: &Topology, agent: &str) -> String {
    let instruction = &topology.agent(agent).unwrap().instruction;
    let (_, rest) = instruction.split_once("## Output Format\n").unwrap();
    rest.split_once("\n## ").unwrap().0.to_owned()
}

/// 000, the requirement: the four sections, in this order.
#[test]
fn r17_every_instruction_has_the_four_sections_in_order() {
    for topology in [standard(), compact()] {
        for spec in topology.agents() {
            let headings = spec.instruction.lines().filter_map(|line| line.strip_prefix("## "));
            let headings: Vec<_> = headings.filter(|h| *h != "Proactive Behavior").collect();
            let expected = ["What You Do", "Input Format", "Output Format", "Constraints"];
            assert_eq!(headings, expected, "{} {}", topology.name(), spec.name);
        }
    }
}

/// 000, "Operator result reporting".
#[test]
fn r17_operator_provides_results_clearly() {
    assert!(output_format(&standard(), "operator").contains("Provide the result clearly"));
}

/// 000, "Librarian result reporting".
#[test]
fn r17_librarian_organizes_results_clearly() {
    assert!(output_format(&standard(), "librarian").contains("Organize results clearly"));
}

/// 000, "Planner result reporting".
#[test]
fn r17_planner_presents_the_plan_for_review() {
    assert!(output_format(&standard(), "planner").contains("Present the plan for review"));
}

/// 000, "Chronicler result reporting".
#[test]
fn r17_chronicler_reports_what_was_stored_or_retrieved() {
    let format = output_format(&standard(), "chronicler");
    assert!(format.contains("Report what was stored or retrieved"));
}

/// 001, "Executor result reporting".
#[test]
fn r17_compact_executor_provides_results_clearly() {
    assert!(output_format(&compact(), "executor").contains("Provide the result clearly"));
}

/// 001, "Researcher result reporting".
#[test]
fn r17_compact_researcher_summarizes_findings_clearly() {
    assert!(output_format(&compact(), "researcher").contains("Summarize findings clearly"));
}

/// 001, "Planner result reporting".
#[test]
fn r17_compact_planner_presents_the_plan_for_review() {
    assert!(output_format(&compact(), "planner").contains("Present the plan for review"));
}

/// 001, "Memory Manager result reporting".
#[test]
fn r17_compact_memory_manager_reports_what_was_stored_or_retrieved() {
    let format = output_format(&compact(), "memory-manager");
    assert!(format.contains("Report what was stored or retrieved"));
}

/// Honest reports and untrusted tool output, in every specialist's own words.
#[test]
fn r17_every_instruction_forbids_false_claims_and_orders_in_data() {
    for topology in [standard(), compact()] {
        for spec in topology.agents() {
            let text = &spec.instruction;
            assert!(text.contains("Never ") || text.contains("never "), "{}", spec.name);
            assert!(text.contains("data") && text.contains("not for you"), "{}", spec.name);
        }
    }
}

/// 000, the requirement "Librarian Agent Specification".
#[test]
fn r19_librarian_has_proactive_behavior() {
    let topology = standard();
    let librarian = topology.agent("librarian").unwrap();
    assert!(librarian.prefixes.iter().any(|prefix| prefix == "librarian_"));
    let (_, rest) = librarian.instruction.split_once("## Proactive Behavior\n").unwrap();
    let section = rest.split_once("\n## ").unwrap().0;
    assert!(section.contains("Pending inquiries") && section.contains("weave it naturally"));
}
