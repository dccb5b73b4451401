//! Limits what the declarations of the operator's tools cost in every request.

use lango_model::estimate_tokens;

use crate::support::Bench;

/// Limits how many tokens the names, descriptions and schemas of all tools have together: 1556, and 36
/// for secrets that a command gets as files.
const MAX_DECLARATION_TOKENS: u64 = 1556 + 36;

#[tokio::test]
async fn all_declarations_together_stay_small() {
    let bench = Bench::new().await;
    let tokens = bench.registry.iter().map(|tool| {
        let declaration = &tool.declaration;
        let schema = declaration.parameters.get();
        let text = format!("{}\n{}\n{schema}", declaration.name, declaration.description);
        (estimate_tokens(&text), text)
    });
    let mut tokens: Vec<(u64, String)> = tokens.collect();
    tokens.sort();
    let total: u64 = tokens.iter().map(|(count, _)| count).sum();
    assert!(total > 1000, "the tools are declared: {total} tokens");
    assert!(total <= MAX_DECLARATION_TOKENS, "{total} tokens: {tokens:#?}");
}
