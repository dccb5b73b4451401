//! Secrets in fields of web pages, with a real Chromium.

use super::{CANARY, files_with};
use crate::fixture::Lango;
use crate::site::{Site, page};

/// The vault gives out a handle; the navigator opens a page and types the secret.
fn typing(url: &str, place: &str) -> String {
    format!(
        r#"
[[reply]]
agent = "lango-orchestrator"
results = 0
call = [{{ name = "transfer_to_agent", arguments = {{ agent_name = "vault", task = "Get it.", return = true }} }}]
[[reply]]
agent = "vault"
results = 0
call = [{{ name = "secrets_get", arguments = {{ name = "site-password", purpose = "to sign in", use = "{place}" }} }}]
[[reply]]
agent = "vault"
say = "{{result}}"
[[reply]]
agent = "lango-orchestrator"
results = 1
call = [{{ name = "transfer_to_agent", arguments = {{ agent_name = "navigator", task = "Use {{word:secret-handle-}}" }} }}]
[[reply]]
agent = "navigator"
results = 0
call = [{{ name = "browser_navigate", arguments = {{ url = "{url}" }} }}]
[[reply]]
agent = "navigator"
results = 1
call = [{{ name = "browser_type", arguments = {{ ref = "e1", text = "", secret = "{{word:secret-handle-}}", submit = true }} }}]
[[reply]]
say = "{{result}}"
"#
    )
}

const FORM: &str =
    "<form action=\"/done\"><input type=password name=pw aria-label=Password></form>";

async fn prepare(origin: Option<&str>) -> Lango {
    let lango = Lango::silent().await;
    let mut arguments = vec!["secrets", "set", "site-password"];
    arguments.extend(origin.iter().flat_map(|origin| ["--origin", *origin]));
    let stored = lango.bare(&arguments).input(format!("{CANARY}\n")).run().await;
    assert_eq!(stored.code, 0, "{stored:?}");
    lango
}

async fn site() -> Site {
    let framed = "<iframe sandbox=\"allow-forms\" src=\"/login\"></iframe>";
    Site::with(vec![
        ("/login", page(FORM)),
        ("/framed", page(framed)),
        ("/done", page("<p>Welcome</p>")),
    ])
    .await
}

fn was_sent(site: &Site) -> bool {
    site.requests().iter().any(|request| request.contains(CANARY))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_field_gets_a_secret_after_a_question_that_names_it_and_the_site() {
    let site = site().await;
    let lango = prepare(None).await;
    let lango = lango.now_playing(&[&typing(&site.url("/login"), "form_field")]).await;
    let asked = lango.at_terminal("run 'sign in'").set("LANGO_EGRESS_ALLOW", site.allowed());
    let mut session = asked.start_typing();
    session.wait_for("Let this conversation use the secret site-password").await;
    session.wait_for("as a field of a web page").await;
    session.wait_for("Allow this once?").await;
    session.answer("y\n").await;
    session.wait_for("Allow this once?").await;
    session.answer("y\n").await;
    session.wait_for("Type the secret site-password into").await;
    let origin = site.url("");
    session
        .wait_for(&format!("Its value goes to {} and to no other", origin.trim_end_matches('/')))
        .await;
    session.wait_for("Allow this once?").await;
    session.answer("y\n").await;
    let finished = session.finish().await;
    assert_eq!(finished.code, 0, "{finished:?}");
    assert!(was_sent(&site), "{:?} {finished:?}", site.requests());
    assert!(!finished.stdout.contains(CANARY), "{finished:?}");
    for request in lango.received() {
        assert!(!request.body.contains(CANARY), "{}", request.body);
    }
    assert_eq!(files_with(&lango.home(), CANARY), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn another_site_another_place_and_a_foreign_frame_get_nothing() {
    let site = site().await;
    let port = site.address.port();
    for (origin, path, place, why) in [
        (Some("https://bank.example"), "/login", "form_field", "https://bank.example only"),
        (None, "/login", "command", "for a variable or a file of a command"),
        (None, "/framed", "form_field", "not one of"),
    ] {
        let lango = prepare(origin).await;
        let lango = lango.now_playing(&[&typing(&site.url(path), place)]).await;
        let asked = lango.ask("sign in").with(&["--approve", "all"]);
        let turn = asked.set("LANGO_EGRESS_ALLOW", site.allowed()).turn().await;
        let results = turn.results();
        let typed = results.iter().find(|(tool, ..)| *tool == "browser_type").unwrap();
        assert!(typed.2.contains(why), "{why}: {results:?}");
        assert!(!was_sent(&site), "{why}: {:?}", site.requests());
    }
    // A secret that is bound to this very site goes there.
    let lango = prepare(Some(&format!("http://127.0.0.1:{port}/any/path"))).await;
    let listed = lango.bare(&["secrets", "list"]).run().await;
    assert!(listed.stdout.contains(&format!("http://127.0.0.1:{port}")), "{listed:?}");
    let again = lango.bare(&["secrets", "set", "site-password"]).input(format!("{CANARY}\n"));
    assert_eq!(again.run().await.code, 0);
    let listed = lango.bare(&["secrets", "list"]).run().await;
    assert!(listed.stdout.contains(&format!("http://127.0.0.1:{port}")), "it stays: {listed:?}");
    let lango = lango.now_playing(&[&typing(&site.url("/login"), "form_field")]).await;
    let asked = lango.ask("sign in").with(&["--approve", "all"]);
    let turn = asked.set("LANGO_EGRESS_ALLOW", site.allowed()).turn().await;
    assert!(was_sent(&site), "{:?} {:?}", site.requests(), turn.results());
    let no_site = lango.bare(&["secrets", "set", "x", "--origin", "github"]).input("12345678\n");
    let no_site = no_site.run().await;
    assert!(no_site.code == 2 && no_site.stderr.contains("https://github.com"), "{no_site:?}");
}
