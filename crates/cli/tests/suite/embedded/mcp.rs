//! MCP servers beside the embedded model. The orchestrator has it; the operator has a script, so
//! that it can be seen what an agent is offered.

use lango_model::Wire;

use super::deciders;
use crate::fixture::{Lango, TO_OPERATOR, calling};
use crate::journal::Turn;
use crate::mcp::peer::{configure, hostile};

/// Of the operator.
const STRONG: &str = "[agents.operator]\nmodel = \"strong/large\"\n";

/// Lets the operator call a server, beside an orchestrator with this model. A server that borrows
/// the other model gets a thought.
async fn called(model: &str, server: &str, tool: &str) -> (Lango, Turn) {
    lending(model, server, tool, "say = \"thought\"").await
}

/// The same, where borrowers get this.
async fn lending(model: &str, server: &str, tool: &str, lent: &str) -> (Lango, Turn) {
    let script = calling("operator", &[(tool, "{}")]) + &format!("[[reply]]\n{lent}\n");
    let lango = Lango::playing(&[TO_OPERATOR, &script]).await;
    let provider = format!("[providers.strong]\nbaseUrl = \"{}\"\n", lango.base_url(Wire::OpenAi));
    let model = format!("[model]\nprovider = \"{model}\"\nfallbacks = [\"embedded\"]\n");
    configure(&lango, &format!("{model}{provider}{STRONG}{server}"));
    let run = ["run", "--output-format", "stream-json", "--approve", "all", "list the files here"];
    let turn = lango.bare(&run).set("LANGO_RETRY_TRIES", "1").turn().await;
    (lango, turn)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_may_not_borrow_what_cannot_write() {
    let budget = "sampling_requests = 2\nsampling_tokens = 1000000";
    let server = hostile("bad", &["sampling-loop", "--times", "2"], budget);
    let (lango, turn) = called("embedded", &server, "mcp_bad_think").await;
    assert_eq!(deciders(&turn), ["embedded"]);
    let text = turn.results()[0].2;
    assert!(text.contains("\"answers\": 0") && text.contains("\"refusals\": 2"), "{text}");
    assert!(!text.contains("bigger model"), "{text}");
    let shown = lango.bare(&["run", "hello"]).run().await;
    assert!(shown.stderr.contains("the MCP server bad gets no model"), "{}", shown.stderr);
    // Beside a model that writes, the same server is answered.
    let (_, turn) = called("strong", &server, "mcp_bad_think").await;
    assert!(turn.results()[0].2.contains("\"answers\": 2"), "{:?}", turn.results());
    // Where that one fails, the embedded model does not stand in.
    let fails = "error = \"overloaded\"";
    let (_, turn) = lending("strong", &server, "mcp_bad_think", fails).await;
    assert!(turn.results()[0].2.contains("\"answers\": 0"), "{:?}", turn.results());
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_folded_only_for_models_that_can_look_behind() {
    let server = hostile("good", &["plain"], "") + "[mcp]\nfoldBytes = 1\n";
    for (model, tool, other) in [
        ("embedded", "mcp_good_greet", "mcp_good_call"),
        ("strong", "mcp_good_call", "mcp_good_greet"),
    ] {
        let (lango, _) = called(model, &server, tool).await;
        let requests = lango.requests_of("operator");
        let offered = requests[0].tools();
        assert!(offered.contains(&tool) && !offered.contains(&other), "{model}: {offered:?}");
    }
}
