//! Tests clicking and typing, and how pages react.

use lango_tool::Proposal;
use serde_json::json;

use crate::site::Site;
use crate::support::Tools;

#[tokio::test]
async fn clicks_say_what_came_of_them() {
    let site = Site::start().await;
    let tools = Tools::at(&[site.authority()]);

    tools.open(&site.url("/shop")).await.unwrap();
    let clicked = tools.click("Add to basket").await.unwrap();
    assert!(
        clicked.starts_with("Clicked: button \"Add to basket\". Then: the page changed."),
        "{clicked}"
    );
    assert!(clicked.contains("Added to the basket"), "{clicked}");
    let error = tools.click("Sold out").await.unwrap_err().to_string();
    assert!(error.contains("disabled"), "{error}");
    let clicked = tools.click("Contact").await.unwrap();
    assert!(
        clicked.contains("Then: a new page is shown.") && clicked.contains("/form"),
        "{clicked}"
    );

    // An element that is covered, one that does nothing, one that is gone.
    tools.open(&site.url("/covered")).await.unwrap();
    let clicked = tools.click("Below the banner").await.unwrap();
    assert!(clicked.contains("something covers it") && clicked.contains("reached"), "{clicked}");
    let clicked = tools.click("Does nothing").await.unwrap();
    assert!(clicked.contains("nothing on the page changed"), "{clicked}");
    let old = tools.reference("Old one").await;
    let remove = tools.reference("Remove old").await;
    tools.call("browser_click", json!({"ref": remove})).await.unwrap();
    let error = tools.call("browser_click", json!({"ref": old})).await.unwrap_err().to_string();
    assert!(error.contains("browser_read with mode outline"), "{error}");
    // An element that is still there keeps its reference.
    assert_eq!(tools.reference("Remove old").await, remove);

    // By selector, and without any.
    let clicked = tools.call("browser_click", json!({"selector": "#b"})).await.unwrap();
    assert!(clicked.starts_with("Clicked: what matches #b"), "{clicked}");
    for wrong in
        [json!({"selector": "#nowhere"}), json!({"selector": "((("}), json!({"ref": "e999999"})]
    {
        let error = tools.call("browser_click", wrong).await.unwrap_err().to_string();
        assert!(error.contains("browser_read"), "{error}");
    }
    assert!(tools.call("browser_click", json!({})).await.is_err());

    // Dialogs are answered and reported.
    tools.open(&site.url("/dialogs")).await.unwrap();
    let clicked = tools.click("Alert").await.unwrap();
    assert!(clicked.contains("A dialog (alert) came up and was dismissed."), "{clicked}");
    assert!(clicked.contains("dialog: watch out"), "{clicked}");
    let clicked = tools.click("Confirm").await.unwrap();
    assert!(clicked.contains("answer: false"), "{clicked}");
    // A dialog that would prevent leaving does not.
    let opened = tools.open(&site.url("/popup")).await.unwrap();
    assert!(opened.contains("Opener"), "{opened}");

    // New windows and tabs are followed, up to a limit.
    let clicked = tools.click("Open window").await.unwrap();
    assert!(clicked.contains("A new tab opened") && clicked.contains("Green teapot"), "{clicked}");
    tools.open(&site.url("/popup")).await.unwrap();
    let clicked = tools.click("Open tab").await.unwrap();
    assert!(clicked.contains("A new tab opened") && clicked.contains("/form"), "{clicked}");
    tools.open(&site.url("/many")).await.unwrap();
    tools.click("Open all").await.unwrap();
    assert!(tools.navigator.count_tabs().await <= 8);
    tools.navigator.close().await;
}

#[tokio::test]
async fn fields_are_filled_in_as_by_hand() {
    let site = Site::start().await;
    let tools = Tools::at(&[site.authority()]);
    tools.open(&site.url("/form")).await.unwrap();
    let fill = async |words: &str, text: &str| {
        let reference = tools.reference(words).await;
        tools.call("browser_type", json!({"ref": reference, "text": text})).await
    };
    let typed = fill("textbox \"Name\"", "Ada").await.unwrap();
    assert!(typed.contains("(value \"Ada\")"), "{typed}");
    // Trusted keys: the old value was selected and deleted first.
    assert!(typed.contains("BackspaceAda"), "{typed}");
    fill("textbox \"Message\"", "two\nlines, größer als 漢字 🦀").await.unwrap();
    let chosen = fill("Topic", "tea").await.unwrap();
    assert!(chosen.contains("chose the option \"Tea\""), "{chosen}");
    let error = fill("Topic", "coffee").await.unwrap_err().to_string();
    assert!(error.contains("no such option; it has: Other, Tea"), "{error}");
    fill("Day", "2026-12-31").await.unwrap();
    let error = fill("Day", "tomorrow").await.unwrap_err().to_string();
    assert!(error.contains("2026-12-31"), "{error}");
    fill("Day", "2026-12-31").await.unwrap();
    let error = fill("Send me a copy", "yes").await.unwrap_err().to_string();
    assert!(error.contains("use browser_click"), "{error}");
    let checked = tools.click("Send me a copy").await.unwrap();
    assert!(checked.contains("(checked)"), "{checked}");
    let error = fill("Attachment", "/etc/passwd").await.unwrap_err().to_string();
    assert!(error.contains("files are not given"), "{error}");
    let asked = tools.click("Attachment").await.unwrap();
    assert!(asked.contains("files are not given to pages"), "{asked}");

    let sent = tools.click("button \"Send\"").await.unwrap();
    assert!(sent.contains("a new page is shown") && sent.contains("status 404"), "{sent}");
    let posted = site.requests().into_iter().find(|line| line.starts_with("POST /sent")).unwrap();
    for part in [
        "name=Ada",
        "message=two%0D%0Alines%2C+gr%C3%B6%C3%9Fer",
        "topic=t",
        "copy=on",
        "day=2026-12-31",
    ] {
        assert!(posted.contains(part), "{part}: {posted}");
    }
    tools.navigator.close().await;
}

#[tokio::test]
async fn passwords_and_payments_always_ask() {
    let site = Site::start().await;
    let tools = Tools::at(&[site.authority()]);
    tools.open(&site.url("/login")).await.unwrap();
    let [user, password, sign_in, search, search_button] = [
        tools.reference("textbox \"User\"").await,
        tools.reference("textbox \"Password\"").await,
        tools.reference("button \"Sign in\"").await,
        tools.reference("textbox \"Search\"").await,
        tools.reference("button \"Search\"").await,
    ];
    let typing = |reference: &str, submit: bool| {
        let arguments = json!({"ref": reference, "text": "x\u{202e}y", "submit": submit});
        tools.propose("browser_type", &arguments)
    };
    let clicking = |reference: &str| tools.propose("browser_click", &json!({"ref": reference}));
    assert_eq!(typing(&user, false).always_ask, None);
    assert!(typing(&user, true).always_ask.unwrap().contains("password"));
    assert!(typing(&password, false).always_ask.unwrap().contains("password"));
    assert!(clicking(&sign_in).always_ask.unwrap().contains("password"));
    assert_eq!(typing(&search, true).always_ask, None);
    assert_eq!(clicking(&search_button).always_ask, None);
    // The user sees which element, on which page, and what exactly.
    let proposal = typing(&user, true);
    assert!(proposal.summary.contains("the textbox \"User\""), "{}", proposal.summary);
    assert!(proposal.summary.contains(&site.url("/login")), "{}", proposal.summary);
    assert!(proposal.summary.contains("| x\\u{202e}y"), "{}", proposal.summary);
    assert!(proposal.summary.contains("press Enter"), "{}", proposal.summary);
    assert_eq!(proposal.steps[0].words, [format!("http://{}", site.address)]);
    // "Always" is about this element, this text and this key, not about the site.
    let exactly = |proposal: &Proposal| proposal.whole.as_ref().unwrap().words.clone();
    let shown = exactly(&proposal);
    for part in [&site.url("/login"), "textbox", "User", "x\u{202e}y", "and press Enter"] {
        assert!(shown.iter().any(|word| word == part), "{part} in {shown:?}");
    }
    for other in [typing(&user, false), typing(&search, true), clicking(&search_button)] {
        assert_ne!(exactly(&other), shown);
    }
    assert_ne!(exactly(&clicking(&search_button)), exactly(&clicking(&sign_in)));
    // It is not known what a selector or an old reference means.
    for arguments in [json!({"selector": "button"}), json!({"ref": "e99999"})] {
        let proposal = tools.propose("browser_click", &arguments);
        assert!(proposal.always_ask.is_some() && proposal.unreadable.is_some(), "{proposal:?}");
    }
    // A whole sign-in, with its cookie.
    let type_into = async |reference: &str, text: &str| {
        tools.call("browser_type", json!({"ref": reference, "text": text})).await.unwrap()
    };
    type_into(&user, "ada").await;
    let typed = type_into(&password, "hunter2").await;
    assert!(!typed.contains("hunter2"), "{typed}");
    let signed_in = tools.call("browser_click", json!({"ref": sign_in})).await.unwrap();
    assert!(signed_in.contains("Hello Ada"), "{signed_in}");

    // Payments: card fields, one-time codes, and buttons without a form or by their name.
    let opened = tools.open(&site.url("/pay")).await.unwrap();
    let reference = |words: &str| crate::support::reference_in(&opened, words);
    assert!(typing(&reference("Card number"), false).always_ask.unwrap().contains("card"));
    assert!(typing(&reference("Code"), false).always_ask.unwrap().contains("one-time"));
    assert!(clicking(&reference("Continue")).always_ask.is_some());
    assert!(clicking(&reference("Buy now")).always_ask.is_some());

    // A field that becomes one for passwords after the user decided is not filled in.
    tools.open(&site.url("/form")).await.unwrap();
    let name = tools.reference("textbox \"Name\"").await;
    assert_eq!(typing(&name, false).always_ask, None);
    tools.open(&site.url("/turncoat")).await.unwrap();
    let innocent = tools.reference("textbox \"Nickname\"").await;
    assert_eq!(typing(&innocent, false).always_ask, None);
    tools.click("Turn").await.unwrap();
    // The old decision is about the old field: the click has read the outline again, so take the
    // turn after the last read.
    let innocent = tools.reference("textbox \"Second\"").await;
    assert_eq!(typing(&innocent, false).always_ask, None);
    let found = tools.call("browser_wait", json!({"text": "has turned"})).await.unwrap();
    assert!(found.starts_with("Found"), "{found}");
    let typed = json!({"ref": innocent, "text": "secret"});
    let error = tools.call("browser_type", typed).await.unwrap_err().to_string();
    assert!(error.contains("the user was not asked"), "{error}");
    tools.navigator.close().await;
}
