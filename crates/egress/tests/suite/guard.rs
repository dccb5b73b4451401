//! Tests what the guard allows, by name, by address, by rule.

use lango_egress::{AddressKind, Destination, EgressError, Guard, Refusal, Rules};

use crate::support::{ScriptedResolver, Server, allowing, response};

async fn resolve(guard: &Guard, url: &str) -> Result<Vec<String>, EgressError> {
    let (_, destination) = Destination::of_url(url)?;
    let addresses = guard.resolve(&destination).await?;
    Ok(addresses.iter().map(ToString::to_string).collect())
}

fn kind(error: &EgressError) -> Option<AddressKind> {
    match error {
        EgressError::Refused(Refusal::Address { kind, .. } | Refusal::Name { kind, .. }) => {
            Some(*kind)
        }
        _ => None,
    }
}

#[tokio::test]
async fn c1_names_are_judged_by_where_they_lead() {
    use AddressKind::{LinkLocal, Loopback, Metadata, Private, Unspecified};
    for (address, expected) in [
        ("127.0.0.1", Loopback),
        ("::1", Loopback),
        ("0.0.0.0", Unspecified),
        ("10.0.0.7", Private),
        ("169.254.169.254", Metadata),
        ("fd00:ec2::254", Metadata),
        ("fe80::1", LinkLocal),
        ("::ffff:192.168.1.1", Private),
    ] {
        let guard = ScriptedResolver::guard(&[&[address]], Rules::default());
        let error = resolve(&guard, "http://innocent.example/").await.unwrap_err();
        assert_eq!(kind(&error), Some(expected), "{address}");
        // One among good ones is enough.
        let guard = ScriptedResolver::guard(&[&["93.184.215.14", address]], Rules::default());
        assert!(resolve(&guard, "http://innocent.example/").await.is_err(), "{address}");
    }
    let guard = ScriptedResolver::guard(&[&["93.184.215.14"]], Rules::default());
    let found = resolve(&guard, "https://innocent.example/").await.unwrap();
    assert_eq!(found, ["93.184.215.14:443"]);
}

#[tokio::test]
async fn c1_names_of_this_machine_are_not_even_resolved() {
    // The resolver would say that they are public.
    let guard = ScriptedResolver::guard(&[&["93.184.215.14"]], Rules::default());
    for name in
        ["localhost", "LOCALHOST.", "a.localhost", "metadata.google.internal", "metadata.goog."]
    {
        let error = resolve(&guard, &format!("http://{name}/")).await.unwrap_err();
        assert!(matches!(error, EgressError::Refused(Refusal::Name { .. })), "{name}: {error}");
    }
}

#[tokio::test]
async fn a_refusal_says_why_and_what_to_type() {
    let guard = Guard::new(Rules::default());
    let error = resolve(&guard, "http://2130706433:8080/x").await.unwrap_err().to_string();
    assert_eq!(
        error,
        "127.0.0.1:8080 is a loopback address. To allow it: \
         lango config set egress.allow '[\"127.0.0.1:8080\"]'"
    );
    let guard = ScriptedResolver::guard(&[&["10.1.1.1"]], Rules::default());
    let error = resolve(&guard, "http://wiki.corp/").await.unwrap_err().to_string();
    assert!(error.starts_with("wiki.corp:80 leads to 10.1.1.1, a private address."), "{error}");
}

#[tokio::test]
async fn what_is_allowed_is_exactly_what_was_written() {
    let guard = Guard::new(allowing(&["127.0.0.1:8080", "10.0.0.0/8", "[::1]:81"]));
    for (url, allowed) in [
        ("http://127.0.0.1:8080/", true),
        ("http://0x7f.1:8080/", true),
        ("http://[::ffff:127.0.0.1]:8080/", true),
        ("http://127.0.0.1:8081/", false),
        ("http://127.0.0.2:8080/", false),
        ("http://10.200.3.4/", true),
        ("http://[::1]:81/", true),
        ("http://[::1]/", false),
        ("http://192.168.0.1/", false),
    ] {
        assert_eq!(resolve(&guard, url).await.is_ok(), allowed, "{url}");
    }
    let guard =
        ScriptedResolver::guard(&[&["10.1.1.1"]], allowing(&["wiki.corp", "*.lab.corp:8080"]));
    for (url, allowed) in [
        ("http://wiki.corp/", true),
        ("http://other.corp/", false),
        ("http://a.lab.corp:8080/", true),
        ("http://a.lab.corp/", false),
        ("http://10.1.1.1/", false),
    ] {
        assert_eq!(resolve(&guard, url).await.is_ok(), allowed, "{url}");
    }
}

#[tokio::test]
async fn a_metadata_address_is_opened_by_its_number_only() {
    let metadata: &[&[&str]] = &[&["169.254.169.254"]];
    for (allowed, expected) in [
        ("169.254.0.0/16", false),
        ("0.0.0.0/0", false),
        ("helper.corp", false),
        ("169.254.169.254", true),
    ] {
        let guard = ScriptedResolver::guard(metadata, allowing(&[allowed]));
        let result = resolve(&guard, "http://helper.corp/").await;
        assert_eq!(result.is_ok(), expected, "{allowed}: {result:?}");
    }
}

#[tokio::test]
async fn denied_places_and_unlisted_places_are_refused() {
    let list = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
    let rules = Rules {
        allow_private: list(&["10.0.0.1"]),
        deny: list(&["*.ads.example", "93.184.215.15", "10.0.0.1:22"]),
        only: list(&["ads.example", "*.ads.example", "b.example", "10.0.0.1", "192.168.0.1"]),
    };
    let guard = ScriptedResolver::guard(&[&["93.184.215.14"]], rules.clone());
    for (url, expected) in [
        ("http://ads.example/", "allowed"),
        ("http://x.ads.example/", "denied"),
        ("http://c.example/", "not listed"),
        ("http://93.184.215.14/", "not listed"),
        ("http://10.0.0.1/", "allowed"),
        ("http://10.0.0.1:22/", "denied"),
        ("http://192.168.0.1/", "private"),
    ] {
        let found = match resolve(&guard, url).await {
            Ok(_) => "allowed",
            Err(EgressError::Refused(Refusal::Denied { .. })) => "denied",
            Err(EgressError::Refused(Refusal::NotListed { .. })) => "not listed",
            Err(EgressError::Refused(Refusal::Address { .. })) => "private",
            Err(error) => panic!("{url}: {error}"),
        };
        assert_eq!(found, expected, "{url}");
    }
    // A name that leads to a denied address is denied.
    let guard = ScriptedResolver::guard(&[&["93.184.215.15"]], rules);
    let error = resolve(&guard, "http://b.example/").await.unwrap_err();
    assert!(matches!(error, EgressError::Refused(Refusal::Denied { .. })), "{error}");
}

#[tokio::test]
async fn a_name_that_changes_its_mind_is_connected_where_it_was_checked() {
    // The first answer is allowed; a second lookup would lead to the other server.
    let good = Server::answering(response("good")).await;
    let port = good.address.port();
    let rules = allowing(&[&format!("127.0.0.1:{port}")]);
    let guard = ScriptedResolver::guard(&[&["127.0.0.1"], &["127.0.0.2"]], rules);
    let (_, destination) = Destination::of_url(&format!("http://rebind.example:{port}/")).unwrap();
    let stream = guard.connect(&destination).await.unwrap();
    assert_eq!(stream.peer_addr().unwrap(), good.address);
    // And the next connection is checked anew.
    let error = guard.connect(&destination).await.unwrap_err();
    assert_eq!(kind(&error), Some(AddressKind::Loopback));
}

#[tokio::test]
async fn names_without_addresses_and_with_too_many_are_no_place() {
    let many: Vec<String> = (0..100).map(|last| format!("93.184.215.{last}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for answer in [&[][..], &many[..]] {
        let guard = ScriptedResolver::guard(&[answer], Rules::default());
        let error = resolve(&guard, "http://odd.example/").await.unwrap_err();
        assert!(matches!(error, EgressError::Unresolved { .. }), "{error}");
    }
}
