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
