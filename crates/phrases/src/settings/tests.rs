use super::*;

#[test]
fn settings_keep_their_form() {
    let content = "port: 8080\ndebug: true\n  \"version\": \"1.4.2\",\nname=x\n";
    for (key, new, expected) in [
        ("debug", "false", "debug: false"),
        ("version", "1.5.0", "  \"version\": \"1.5.0\","),
        ("name", "y", "name=y"),
    ] {
        assert_eq!(setting(content, key, new).map(|(_, new)| new).as_deref(), Some(expected));
    }
    assert_eq!(setting(content, "missing", "1"), None);
}

#[test]
fn a_substitution_is_read() {
    assert_eq!(substitution("s/foo/bar/g in a.txt"), Some(("foo".into(), "bar".into())));
    assert_eq!(substitution("docs/x/y"), None);
}

#[test]
fn settings_that_a_request_names_are_found_with_their_values() {
    let content = "port: 8080\ndebug: true\nlog_level: info\nname: harbour\n";
    for (text, expected) in [
        ("set the port in config.yaml to 8000", vec!["port: 8000"]),
        ("set port to 3000 and debug to false", vec!["port: 3000", "debug: false"]),
        (
            "In config.yaml port should be 80 and log_level should be warn, please change both",
            vec!["port: 80", "log_level: warn"],
        ),
        ("in config.yaml make debug as false. Rest all should be same only.", vec!["debug: false"]),
        ("port in config.yaml is to be raised to 9000, please do the needful", vec!["port: 9000"]),
        // Where the value ends is not known.
        ("set the port in config.yaml to 8000 wait no, make it 8888", vec![]),
        ("set name to something nice", vec![]),
        ("what is the port?", vec![]),
    ] {
        let found = list_named_settings(&RequestWords::of(text), content);
        let new: Vec<&str> = found.iter().map(|(_, new)| new.as_str()).collect();
        assert_eq!(new, expected, "{text}");
    }
}
