//! Tests what users are told about calls.

use lango_protocol::ReportDetails;
use serde_json::json;

use crate::site::Site;
use crate::support::Tools;

#[test]
fn every_tool_says_what_a_call_is_about() {
    let tools = Tools::at(&[]);
    for (tool, arguments, description) in [
        ("browser_navigate", json!({"url": "http://10.0.0.1/"}), "Opening `http://10.0.0.1/`"),
        ("browser_read", json!({}), "Reading the page"),
        ("browser_click", json!({"ref": "e1"}), "Clicking on the page"),
        ("browser_type", json!({"ref": "e1", "text": "secret"}), "Typing into the page"),
        ("browser_wait", json!({"text": "a"}), "Waiting for the page"),
        ("browser_screenshot", json!({}), "Taking a picture of the page"),
        ("browser_back", json!({}), "Going back a page"),
        ("browser_close", json!({}), "Closing the browser"),
    ] {
        assert_eq!(tools.description(tool, &arguments).as_deref(), Some(description));
    }
    assert_eq!(tools.description("browser_navigate", &json!({"url": " "})), None);
}

#[tokio::test]
async fn a_browser_that_is_not_open_is_not_closed() {
    let report = Tools::at(&[]).report("browser_close", json!({})).await;
    assert_eq!(report.summary, "No browser was open.");
    assert_eq!(report.data, Some(json!({"was_open": false})));
}

#[tokio::test]
async fn pages_are_told_in_their_own_words() {
    let site = Site::start().await;
    let tools = Tools::at(&[site.authority()]);
    let (shop, form) = (site.url("/shop"), site.url("/form"));

    let report = tools.report("browser_navigate", json!({ "url": shop })).await;
    assert_eq!(report.summary, format!("Opened \"Shop\", {shop}"));
    let Some(ReportDetails::Quoted(words)) = &report.details else { panic!("{report:?}") };
    assert!(words.starts_with("Home\nContact\nGreen teapot\nA teapot of cast iron."), "{words}");
    assert!(!words.contains("Sold out") && !words.contains("cannot see"), "{words}");
    assert_eq!(report.data, Some(json!({"address": shop, "title": "Shop", "status": 200})));

    let report = tools.report("browser_read", json!({"mode": "tables"})).await;
    assert_eq!(report.summary, format!("From the page {shop}:"));
    let Some(ReportDetails::Quoted(words)) = &report.details else { panic!("{report:?}") };
    assert!(words.contains("| Size | Price |") && !words.contains("---  "), "{words}");

    let contact = json!({"ref": tools.reference("Contact").await});
    let report = tools.report("browser_click", contact).await;
    assert_eq!(
        report.summary,
        format!(
            "Clicked: link \"Contact\". Then: a new page is shown. The page is \"Form\", {form}"
        )
    );
    let report = tools.report("browser_read", json!({"mode": "tables"})).await;
    assert_eq!(report.summary, format!("The page {form} has no tables."));
    let name = json!({"ref": tools.reference("textbox \"Name\"").await, "text": "Ada"});
    let report = tools.report("browser_type", name).await;
    assert!(report.summary.starts_with("Typed into: textbox \"Name\". Then: "), "{report:?}");
    let report = tools.report("browser_back", json!({})).await;
    assert_eq!(report.summary, format!("Went back. The page is \"Shop\", {shop}"));

    let nothing = site.url("/nothing");
    let report = tools.report("browser_navigate", json!({ "url": nothing })).await;
    let begin = format!("{nothing} answered with status 404: ");
    assert!(report.summary.starts_with(&begin), "{report:?}");

    let report = tools.report("browser_wait", json!({"text": "Nothing here"})).await;
    assert_eq!(report.summary, "`Nothing here` is on the page.");
    let never = json!({"selector": "#never", "timeout_seconds": 1});
    let report = tools.report("browser_wait", never).await;
    assert_eq!(report.summary, "`#never` was not found on the page within 1 s.");
    let report = tools.report("browser_screenshot", json!({})).await;
    assert!(report.summary.starts_with("A picture of the page is in `/"), "{report:?}");

    let file = site.url("/nasty");
    let report = tools.report("browser_navigate", json!({ "url": file })).await;
    assert_eq!(report.summary, format!("`{file}` is a file, not a page."));
    let Some(ReportDetails::Markdown(line)) = &report.details else { panic!("{report:?}") };
    assert!(line.starts_with(&format!("Downloaded {file}: /")), "{line}");
    assert!(line.ends_with(" (1000 bytes)"), "{line}");
    let report = tools.report("browser_close", json!({})).await;
    assert_eq!(report.summary, "The browser is closed.");
}
