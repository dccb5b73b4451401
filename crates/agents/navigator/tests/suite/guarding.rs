//! Tests where the browser may go, whatever a page tries.

use lango_tool::ToolError;
use serde_json::json;

use crate::site::Site;
use crate::support::Tools;

#[tokio::test]
async fn forbidden_places_see_nothing_of_the_browser() {
    let forbidden = Site::start().await;
    let site = Site::linking_to(&forbidden.url("")).await;
    let tools = Tools::at(&[site.authority()]);

    // C1, C6: refused before there is a browser.
    let port = forbidden.address.port();
    for url in [
        forbidden.url("/"),
        format!("http://localhost:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://0:{port}/"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://metadata.google.internal/".to_owned(),
        "http://user:pass@example.org/".to_owned(),
        "file:///etc/passwd".to_owned(),
        "data:text/html,x".to_owned(),
        "javascript:alert(1)".to_owned(),
        "chrome://version".to_owned(),
        "ftp://example.org/".to_owned(),
        "ws://127.0.0.1/".to_owned(),
        "example.org".to_owned(),
    ] {
        let error = tools.open(&url).await.unwrap_err();
        assert!(matches!(error, ToolError::Forbidden(_)), "{url}: {error}");
    }
    assert!(tools.navigator.list_process_groups().await.is_empty());

    // C2: a redirect is refused at its target.
    for (path, reason) in [
        ("/to-other", "loopback address"),
        ("/to-metadata", "metadata address"),
        ("/to-https", "loopback address"),
    ] {
        let error = tools.open(&site.url(path)).await.unwrap_err();
        let ToolError::Forbidden(text) = &error else { panic!("{path}: {error}") };
        assert!(text.contains("leads to") && text.contains(reason), "{path}: {text}");
        assert!(text.contains("egress.allow"), "{path}: {text}");
    }

    // C5: everything a page does by itself. Packets without a connection count too.
    let packets = tokio::net::UdpSocket::bind(forbidden.address).await.unwrap();
    let opened = tools.open(&site.url("/reach")).await.unwrap();
    let wait = json!({"text": "all tried", "timeout_seconds": 60});
    let waited = tools.call("browser_wait", wait).await.unwrap();
    assert!(waited.starts_with("Found"), "{opened}\n{waited}");
    let told = format!("{opened}\n{waited}\n{}", tools.read("text").await);
    assert!(
        told.contains("Blocked: http://169.254.169.254/latest/meta-data/ (metadata address)"),
        "{told}"
    );
    for path in ["/image.png", "/style.css", "/script.js", "/fetch", "/frame"] {
        let line = format!("Blocked: {} (loopback address)", forbidden.url(path));
        assert!(told.contains(&line) || told.contains("more requests"), "{path}: {told}");
    }
    assert!(site.requests().iter().any(|line| line.starts_with("GET /worker.js")));
    assert_eq!((forbidden.connections(), forbidden.requests()), (0, Vec::new()));
    let received = packets.try_recv(&mut [0; 100]).unwrap_err();
    assert_eq!(received.kind(), std::io::ErrorKind::WouldBlock);

    // C6: what a page tries with other schemes stays where it was.
    tools.open(&site.url("/schemes")).await.unwrap();
    for words in ["To a file", "To data", "To the browser", "To ftp", "By script"] {
        let clicked = tools.click(words).await.unwrap();
        assert!(clicked.contains(&format!("Page: {}", site.url("/schemes"))), "{words}: {clicked}");
        assert!(!tools.read("text").await.contains("root:"), "{words}");
    }
    tools.navigator.close().await;
}

#[tokio::test]
async fn downloads_stay_in_their_place_and_within_their_size() {
    let site = Site::start().await;
    let tools = Tools::with(&[site.authority()], |settings| settings.download_bytes = 1_000_000);
    let told = tools.open(&site.url("/nasty")).await.unwrap();
    let directory = tools.path("downloads").join(tools.session.as_str());
    assert!(told.contains("The address is a file"), "{told}");
    assert!(told.contains(directory.to_str().unwrap()) && told.contains("(1000 bytes)"), "{told}");
    tools.open(&site.url("/many")).await.unwrap();
    let told = tools.click("Get file").await.unwrap();
    assert!(told.contains("Downloaded"), "{told}");
    let told = tools.open(&site.url("/large-file")).await.unwrap();
    assert!(told.contains("too large and was stopped"), "{told}");
    tools.navigator.close().await;

    let mut names: Vec<String> = std::fs::read_dir(&directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(
        names.iter().all(|name| name.contains("bashrc") && !name.starts_with('.')),
        "{names:?}"
    );
    assert!(!tools.path(".bashrc").exists());
}

#[tokio::test]
async fn a_page_leads_to_no_site_that_was_not_asked_about() {
    let other = Site::start().await;
    let site = Site::linking_to(&other.url("")).await;
    // Both may be reached; only one of them was asked about.
    let tools = Tools::at(&[site.authority(), other.authority()]);

    let error = tools.open(&site.url("/to-other")).await.unwrap_err();
    let ToolError::Forbidden(text) = &error else { panic!("{error}") };
    assert!(text.contains(&format!("leads to {}", other.url("/secret"))), "{text}");
    assert!(text.contains("another site") && text.contains("browser_navigate"), "{text}");

    tools.open(&site.url("/leaving")).await.unwrap();
    for words in ["By a script", "By a form", "By a redirect", "By a window"] {
        let clicked = tools.click(words).await.unwrap();
        assert!(clicked.contains(&format!("Not shown: {}", other.url("/secret"))), "{clicked}");
        if words != "By a window" {
            let stays = format!("Page: {}", site.url("/leaving"));
            assert!(clicked.contains(&stays), "{words}: {clicked}");
        }
    }
    assert_eq!(other.requests(), Vec::<String>::new());

    // A link says where it leads, no rule about this site covers that, and then it is followed.
    tools.open(&site.url("/leaving")).await.unwrap();
    let link = tools.reference("By a link").await;
    let proposal = tools.propose("browser_click", &json!({"ref": link}));
    let target = other.url("/secret?by=link");
    assert!(proposal.summary.contains(&format!("leads to {target}")), "{}", proposal.summary);
    let steps: Vec<&str> = proposal.steps.iter().map(|step| step.words[0].as_str()).collect();
    let origins = [&site, &other].map(|site| format!("http://{}", site.address));
    assert_eq!(steps, origins);
    let clicked = tools.call("browser_click", json!({"ref": link})).await.unwrap();
    assert!(clicked.contains(&format!("Page: {target}")), "{clicked}");
    let asked: Vec<String> = other.requests();
    assert!(asked.iter().all(|line| line == "GET /secret?by=link" || line.contains("favicon")));
    tools.navigator.close().await;
}

#[tokio::test]
async fn a_selector_reaches_no_field_or_button_for_secrets() {
    let site = Site::start().await;
    let tools = Tools::at(&[site.authority()]);
    tools.open(&site.url("/login")).await.unwrap();
    let typing = json!({"selector": "input[type=password]", "text": "x"});
    for (tool, arguments) in
        [("browser_type", typing), ("browser_click", json!({"selector": "button"}))]
    {
        let error = tools.call(tool, arguments).await.unwrap_err().to_string();
        assert!(error.contains("the question did not name it"), "{tool}: {error}");
    }
    assert!(site.requests().iter().all(|line| !line.starts_with("POST")));
    tools.navigator.close().await;
}
