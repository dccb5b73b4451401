//! Signing in: the honest way works, the others are refused.

use super::peer::{Listening, lango_with};
use crate::fixture::Lango;
use crate::invocation::Finished;

/// `lango mcp login`, with a request in the place of the browser.
async fn login(lango: &Lango) -> Finished {
    let running = lango.command(&["mcp", "login", "guarded"]).start();
    running.finish().await
}

#[tokio::test(flavor = "multi_thread")]
async fn f7_metadata_that_does_not_belong_together_ends_the_login() {
    for manner in ["oauth-wrong-issuer", "oauth-resource-mismatch", "oauth-no-pkce"] {
        let listening = Listening::hostile(&[manner]).await;
        let lango = lango_with(&listening.entry("guarded", ""), &[]).await;
        let ended = login(&lango).await;
        assert!(ended.code != 0 && !ended.stdout.contains("Signed in"), "{manner}: {ended:?}");
        assert!(ended.stderr.contains("signing in"), "{manner}: {ended:?}");
        assert!(!ended.stdout.contains("Open this"), "{manner}: {ended:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f7_metadata_at_private_addresses_is_not_asked_for() {
    for manner in [
        "oauth-metadata-redirect",
        "oauth-metadata-elsewhere",
        "oauth-server-elsewhere",
        "oauth-endpoint-elsewhere",
    ] {
        // An address of nobody: a connection to it would take long, and is not tried.
        let listening = Listening::hostile(&[manner, "--to", "http://169.254.169.254/"]).await;
        let lango = lango_with(&listening.entry("guarded", ""), &[]).await;
        let ended = login(&lango).await;
        assert!(ended.code != 0 && !ended.stdout.contains("Signed in"), "{manner}: {ended:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_wants_a_login_says_so_and_the_rest_works() {
    let listening = Listening::hostile(&["oauth"]).await;
    let config = listening.entry("guarded", "") + &super::peer::hostile("good", &["plain"], "");
    let lango = lango_with(&config, &[("mcp_good_greet", "{}")]).await;
    let turn = lango.ask("greet").with(&["--approve", "all"]).turn().await;
    assert_eq!(turn.code, 0, "{:?}", turn.results());
    assert!(turn.stderr.contains("lango mcp login guarded"), "{}", turn.stderr);
    // With a token in the environment nobody has to sign in.
    let config = listening.entry("guarded", "bearer_token_env_var = \"HUB\"");
    let lango = lango_with(&config, &[("mcp_guarded_greet", "{}")]).await;
    let turn = lango
        .ask("greet")
        .with(&["--approve", "all"])
        .set("HUB", "token-of-the-hostile-server")
        .turn()
        .await;
    assert_eq!(turn.code, 0, "{:?} {}", turn.results(), turn.stderr);
}
