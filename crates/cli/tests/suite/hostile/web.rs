//! Addresses that no model, page or server may make the browser reach. Everything is approved:
//! what is refused here is refused by the outbound network policy itself.

use lango_protocol::CallStatus;

use crate::fixture::{Lango, TO_NAVIGATOR};
use crate::navigator::{calling, opening};
use crate::site::{Site, page, redirect};

#[tokio::test(flavor = "multi_thread")]
async fn c1_c6_no_spelling_of_a_forbidden_address_is_opened() {
    let forbidden = Site::forbidden().await;
    let port = forbidden.address.port();
    let urls: Vec<String> = [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "[::1]",
        "0.0.0.0",
        "0",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "localhost",
        "localhost.",
        "a.localhost",
        "good.example@127.0.0.1",
    ]
    .iter()
    .map(|host| format!("http://{host}:{port}/"))
    .chain(
        [
            "http://169.254.169.254/latest/meta-data/",
            "http://metadata.google.internal/",
            "http://[fd00:ec2::254]/",
            "http://100.100.100.200/",
            "http://10.0.0.1/",
            "http://172.16.0.1/",
            "http://192.168.1.1/",
            "http://100.64.0.1/",
            "http://[fe80::1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://[2002:7f00:1::]/",
            "file:///etc/passwd",
            "gopher://127.0.0.1/",
            "ftp://127.0.0.1/",
            "data:text/html,<h1>x</h1>",
            "javascript:fetch('/')",
            "chrome://settings",
            "view-source:http://127.0.0.1/",
            "about:blank",
            "ws://127.0.0.1/",
        ]
        .map(str::to_owned),
    )
    .collect();
    let calls: Vec<String> = urls
        .iter()
        .map(|url| format!("{{ name = \"browser_navigate\", arguments = {{ url = \"{url}\" }} }}"))
        .collect();
    // Not more than a reply may have.
    let mut script = String::new();
    for (number, calls) in calls.chunks(20).enumerate() {
        let (results, calls) = (number * 20, calls.join(",\n"));
        script.push_str(&format!(
            "[[reply]]\nagent = \"navigator\"\nresults = {results}\ncall = [\n{calls}\n]\n"
        ));
    }
    script.push_str("[[reply]]\nagent = \"navigator\"\nsay = \"None of them opened.\"\n");
    let lango = Lango::playing(&[TO_NAVIGATOR, &script]).await;
    // No browser is started for any of them: this one would say something else.
    let turn = lango
        .ask("open them all")
        .with(&["--approve", "all"])
        .set("LANGO_NAVIGATOR_CHROMIUM", "/bin/false")
        .turn()
        .await;
    assert_eq!(turn.answer(), "None of them opened.");
    let results = turn.results();
    assert_eq!(results.len(), urls.len());
    for ((_, status, output), url) in results.iter().zip(&urls) {
        assert_eq!(*status, CallStatus::Error, "{url}: {output}");
        assert!(output.starts_with("not permitted: "), "{url}: {output}");
    }
    assert_eq!(forbidden.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn c2_c5_c7_neither_redirects_nor_pages_lead_to_a_forbidden_address() {
    let forbidden = Site::forbidden().await;
    let (there, port) = (forbidden.url(""), forbidden.address.port());
    let reaching = format!(
        "<title>Reach</title><h1>Reach</h1><img src=\"{there}/image\"><iframe src=\"{there}/frame\"></iframe>\
         <img src=\"http://169.254.169.254/latest/\"><script src=\"{there}/script\"></script>\
         <script>\
         const tries = [fetch('{there}/fetch', {{mode: 'no-cors'}}), fetch('http://localhost:{port}/', {{mode: 'no-cors'}}),\
         new Promise((done) => {{ const s = new WebSocket('ws://127.0.0.1:{port}/'); s.onopen = s.onerror = done; }})];\
         Promise.allSettled(tries).then(() => document.body.append('all tried'));\
         </script>"
    );
    let site = Site::with(vec![
        ("/to-other", redirect(&format!("{there}/secret"))),
        ("/to-metadata", redirect("http://169.254.169.254/latest/meta-data/")),
        ("/circle", redirect("/circle")),
        ("/reach", page(&reaching)),
    ])
    .await;
    let opens: Vec<(&str, String)> = ["/to-other", "/to-metadata", "/circle", "/reach"]
        .iter()
        .map(|path| opening(&site.url(path)))
        .collect();
    let mut calls: Vec<(&str, &str)> =
        opens.iter().map(|(tool, arguments)| (*tool, arguments.as_str())).collect();
    calls.push(("browser_wait", "{ text = \"all tried\", timeout_seconds = 60 }"));
    calls.push(("browser_read", "{ mode = \"text\" }"));
    let lango = Lango::playing(&[TO_NAVIGATOR, &calling(&calls)]).await;
    let turn = lango
        .ask("open them all")
        .with(&["--approve", "all"])
        .set("LANGO_EGRESS_ALLOW", site.allowed())
        .turn()
        .await;
    let results = turn.results();
    let expected = [
        (CallStatus::Error, "leads to"),
        (CallStatus::Error, "metadata address"),
        (CallStatus::Error, "redirects in circles"),
        (CallStatus::Ok, "Reach"),
        (CallStatus::Ok, "Found"),
        (CallStatus::Ok, "all tried"),
    ];
    for ((_, status, output), (expected, words)) in results.iter().zip(expected) {
        assert_eq!(*status, expected, "{output}");
        assert!(output.contains(words), "{words}: {output}");
    }
    assert_eq!(results.len(), 6);
    let told: String = results[3..].iter().map(|(_, _, output)| *output).collect();
    assert!(told.contains("Blocked: http://169.254.169.254/latest/ (metadata address)"), "{told}");
    assert!(told.contains(&format!("Blocked: {there}/image (loopback address)")), "{told}");
    assert_eq!((forbidden.connections(), turn.code), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn c8_an_agent_with_a_list_of_hosts_goes_nowhere_else() {
    let site = Site::forbidden().await;
    let open = opening(&site.url("/?stolen=secret"));
    let lango = Lango::playing(&[TO_NAVIGATOR, &calling(&[(open.0, &open.1)])]).await;
    let config = format!(
        "[egress]\nallow = [\"{}\"]\n[agents.navigator]\nhosts = [\"example.org\", \"*.example.org\"]\n",
        site.address
    );
    std::fs::write(lango.config_file(), config).unwrap();
    let turn = lango.ask("open it").with(&["--approve", "all"]).turn().await;
    let (_, status, output) = turn.results()[0];
    assert_eq!(status, CallStatus::Error, "{output}");
    assert!(output.contains("not among the hosts of this agent"), "{output}");
    assert_eq!(site.connections(), 0);

    // A list that is none is said, with where it stands.
    std::fs::write(lango.config_file(), "[egress]\nallow = [\"a b\"]\n").unwrap();
    let finished = lango.command(&["run", "x"]).run().await;
    assert_eq!(finished.code, 2);
    assert!(
        finished.stderr.contains("egress.allow: \"a b\" is not a destination"),
        "{}",
        finished.stderr
    );
}
