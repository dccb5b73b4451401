use super::*;

fn refined(tool: &str, words: &str, arguments: &[(&str, &str)]) -> Vec<(String, String)> {
    let mut map: Arguments = arguments
        .iter()
        .map(|(name, value)| ((*name).to_owned(), Argument::Text((*value).to_owned())))
        .collect();
    refine(tool, words, &mut map);
    map.into_iter()
        .map(|(name, value)| (name, value.as_text().unwrap_or_default().to_owned()))
        .collect()
}

fn one(tool: &str, words: &str, name: &str, value: &str) -> String {
    refined(tool, words, &[(name, value)]).remove(0).1
}

#[test]
fn an_amount_is_a_number_and_who_gets_it_a_name() {
    assert_eq!(one("payment_send", "", "amount", "40 usdc"), "40");
    assert_eq!(one("payment_send", "", "amount", "1,250.50 USDC"), "1,250.50");
    assert_eq!(one("payment_send", "", "amount", "half"), "half");
    let sent = refined("payment_send", "", &[("amount", "40"), ("to", "Gareth 40 USDC for hay")]);
    assert_eq!(sent[1].1, "Gareth");
}

#[test]
fn an_identifier_ends_with_its_sentence() {
    for (value, expected) in [
        ("pid 20417", "20417"),
        ("mkt-scan-3. Green", "mkt-scan-3"),
        ("daily order-reminder", "order-reminder"),
        ("pid-handle lp-2", "lp-2"),
        ("job", "job"),
        ("morning brief", "morning brief"),
    ] {
        assert_eq!(one("exec_stop", "", "id", value), expected);
    }
}

#[test]
fn a_path_does_not_go_over_the_end_of_a_sentence() {
    assert_eq!(one("fs_edit", "", "path", "floaty. src/player.lua"), "src/player.lua");
    assert_eq!(one("fs_read", "", "path", "Meeting Notes.txt"), "Meeting Notes.txt");
    assert_eq!(one("fs_read", "", "path", "a.txt, b.txt"), "a.txt, b.txt");
}

#[test]
fn names_and_relations_of_the_graph_are_whole() {
    let words = "Karin Olsdotter was godmother of Per Sten";
    assert_eq!(one("graph_add", words, "object", "Sten"), "Per Sten");
    assert_eq!(one("graph_query", "Does Hannelore work", "subject", "Hannelore"), "Hannelore");
    let words = "what does client Nomad use";
    let found = refined(
        "graph_query",
        words,
        &[("predicate", "does client Nomad use"), ("subject", "client Nomad")],
    );
    assert_eq!(found[0].1, "use");
    let words = "who is married to Hannelore?";
    assert_eq!(one("graph_query", words, "predicate", "married to"), "is married to");
    let words = "from cow 4417, incoming edges only";
    let found = refined("graph_traverse", words, &[("start_node", "cow 4417")]);
    assert_eq!(found[0], ("direction".to_owned(), "in".to_owned()));
}

#[test]
fn no_part_of_a_text_is_two_arguments() {
    let found = refined(
        "browser_click",
        "Click element @e7",
        &[("ref", "e7"), ("selector", "element @e7")],
    );
    assert_eq!(found, [("ref".to_owned(), "@e7".to_owned())]);
    let found = refined("crypto_hash", "", &[("data", "hello world"), ("path", "hello world")]);
    assert_eq!(found, [("data".to_owned(), "hello world".to_owned())]);
    let found = refined("save_learning", "", &[("diagnosis", "x"), ("fix", "x")]);
    assert_eq!(found, [("fix".to_owned(), "x".to_owned())]);
}

#[test]
fn what_a_key_is_for_says_its_kind() {
    let found = refined("crypto_create_key", "create signing key a", &[("name", "a")]);
    assert_eq!(found[0].1, "ed25519");
    let found = refined("crypto_create_key", "an encryption key named a", &[("name", "a")]);
    assert_eq!(found[0].1, "xchacha20");
}
