//! Secrets as headers of requests for pages.

use serde_json::{Value, json};

use super::{CANARY, files_with};
use crate::fixture::Lango;
use crate::journal::Turn;
use crate::site::{Site, page, redirect};

/// The vault gives out a handle with these arguments; the librarian reads a page with it.
fn reading(get: &Value, ingest: &Value) -> String {
    let raw = |arguments: &Value| toml::Value::String(arguments.to_string());
    format!(
        r#"
[[reply]]
agent = "lango-orchestrator"
results = 0
call = [{{ name = "transfer_to_agent", arguments = {{ agent_name = "vault", task = "Get it.", return = true }} }}]
[[reply]]
agent = "vault"
results = 0
call = [{{ name = "secrets_get", raw = {} }}]
[[reply]]
agent = "vault"
say = "{{result}}"
[[reply]]
agent = "lango-orchestrator"
results = 1
call = [{{ name = "transfer_to_agent", arguments = {{ agent_name = "librarian", task = "Use {{word:secret-handle-}}" }} }}]
[[reply]]
agent = "librarian"
results = 0
call = [{{ name = "rag_ingest", raw = {} }}]
[[reply]]
say = "{{result}}"
"#,
        raw(get),
        raw(ingest)
    )
}

async fn prepare() -> Lango {
    let lango = Lango::silent().await;
    let stored = lango.bare(&["secrets", "set", "wiki"]).input(format!("{CANARY}\n")).run().await;
    assert_eq!(stored.code, 0, "{stored:?}");
    lango
}

fn header_for(site: &str) -> Value {
    json!({ "name": "wiki", "purpose": "to read the wiki", "use": "header", "site": site })
}

fn page_with_secret(url: &str) -> Value {
    json!({ "url": url, "secret": { "handle": "{word:secret-handle-}" } })
}

/// Plays a script with both sites allowed.
async fn play(lango: Lango, sites: [&Site; 2], script: &str) -> (Lango, Turn) {
    let lango = lango.now_playing(&[script]).await;
    let allowed = sites.map(|site| format!("\"{}\"", site.address)).join(", ");
    let asked = lango.ask("read the wiki").with(&["--approve", "all"]);
    let turn = asked.set("LANGO_EGRESS_ALLOW", format!("[{allowed}]")).turn().await;
    for request in lango.received() {
        assert!(!request.body.contains(CANARY), "{}", request.body);
    }
    assert!(!format!("{:?}", turn.events).contains(CANARY));
    assert_eq!(files_with(&lango.home(), CANARY), Vec::<String>::new());
    (lango, turn)
}

fn ingest_result(turn: &Turn) -> String {
    let results = turn.results();
    results.iter().find(|(tool, ..)| *tool == "rag_ingest").unwrap().2.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_gets_a_secret_as_a_header_and_a_redirect_to_another_host_does_not() {
    let other = Site::with(vec![("/taken", page("<p>Taken</p>"))]).await;
    let away = redirect(&other.url("/taken"));
    let site = Site::with(vec![("/wiki", page("<p>The wiki</p>")), ("/away", away)]).await;
    let (origin, wiki) = (site.url(""), site.url("/wiki"));
    let mut lango = prepare().await;
    let turn;
    let script = reading(&header_for(&site.url("/any")), &page_with_secret(&wiki));
    (lango, turn) = play(lango, [&site, &other], &script).await;
    assert_eq!(turn.code, 0, "{:?}", turn.results());
    let authorization = format!("authorization: Bearer {CANARY}\r\n");
    assert!(site.heads()[0].contains(&authorization), "{:?} {:?}", site.heads(), turn.results());
    // Another header, without a word before the value.
    let secret = json!({ "handle": "{word:secret-handle-}", "header": "X-Api-Key" });
    let script = reading(&header_for(&origin), &json!({ "url": wiki, "secret": secret }));
    (lango, _) = play(lango, [&site, &other], &script).await;
    let key = format!("x-api-key: {CANARY}\r\n");
    assert!(site.heads()[1].contains(&key), "{:?}", site.heads());
    // The site sends the reader on to another host, which the rules allow.
    let script = reading(&header_for(&origin), &page_with_secret(&site.url("/away")));
    let (lango, turn) = play(lango, [&site, &other], &script).await;
    assert!(site.heads()[2].contains(&authorization), "{:?}", site.heads());
    assert!(!format!("{:?}", other.heads()).contains(CANARY), "{:?}", other.heads());
    assert!(ingest_result(&turn).contains("another site"), "{:?}", turn.results());
    let audit = lango.bare(&["audit"]).run().await;
    assert!(audit.stdout.contains("the header authorization for http://127.0.0.1"), "{audit:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_host_another_place_and_a_header_that_decides_get_nothing() {
    let (site, other) = (Site::forbidden().await, Site::forbidden().await);
    let origin = site.url("");
    let wiki = site.url("/wiki");
    let no_site = json!({ "name": "wiki", "use": "header" });
    let command = json!({ "name": "wiki", "use": "command" });
    let host = json!({ "handle": "{word:secret-handle-}", "header": "Host" });
    let word = json!({ "handle": "{word:secret-handle-}", "scheme": "Bearer\r\nX: y" });
    let mut lango = prepare().await;
    for (get, ingest, why) in [
        (header_for(&other.url("")), page_with_secret(&wiki), "may go to http://127.0.0.1"),
        (
            command,
            page_with_secret(&wiki),
            "it was given out for a variable or a file of a command",
        ),
        (header_for(&origin), json!({ "url": wiki, "secret": host }), "no header for a secret"),
        (header_for(&origin), json!({ "url": wiki, "secret": word }), "scheme is one word"),
        (no_site, page_with_secret(&wiki), "say to which one"),
    ] {
        let turn;
        (lango, turn) = play(lango, [&site, &other], &reading(&get, &ingest)).await;
        let results = format!("{:?}", turn.results());
        assert!(results.contains(why), "{why}: {results}");
        assert!(!format!("{:?} {:?}", site.heads(), other.heads()).contains(CANARY), "{why}");
    }
    // A secret that is bound to another site.
    let bound = ["secrets", "set", "wiki", "--origin", "https://wiki.example"];
    assert_eq!(lango.bare(&bound).input(format!("{CANARY}\n")).run().await.code, 0);
    let script = reading(&header_for(&origin), &page_with_secret(&wiki));
    let (_, turn) = play(lango, [&site, &other], &script).await;
    let results = format!("{:?}", turn.results());
    assert!(results.contains("may go to https://wiki.example only"), "{results}");
    assert!(!format!("{:?}", site.heads()).contains(CANARY));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_question_names_the_secret_the_header_and_the_site() {
    let site = Site::with(vec![("/wiki", page("<p>The wiki</p>"))]).await;
    let lango = prepare().await;
    let script = reading(&header_for(&site.url("")), &page_with_secret(&site.url("/wiki")));
    let lango = lango.now_playing(&[&script]).await;
    let asked = lango.at_terminal("run 'read the wiki'").set("LANGO_EGRESS_ALLOW", site.allowed());
    let mut session = asked.start_typing();
    session.wait_for("as a header of requests to a site, http://127.0.0.1").await;
    session.wait_for("Allow this once?").await;
    session.answer("y\n").await;
    session.wait_for("with the secret wiki as the header Authorization").await;
    let origin = site.url("");
    session.wait_for(&format!("Its value goes to {origin} and to no other site.")).await;
    session.wait_for("Allow this once?").await;
    session.answer("n\n").await;
    let finished = session.finish().await;
    assert!(!finished.stdout.contains(CANARY), "{finished:?}");
    assert_eq!(site.heads(), Vec::<String>::new());
}
