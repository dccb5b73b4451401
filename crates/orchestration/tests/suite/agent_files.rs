//! Tests invalid `AGENT.md` files: every error names its file.

use lango_orchestration::{AgentSpec, OrchestrationError};

const GOOD: &str =
    "---\nname: coder\ndescription: source code\nprefixes: [code_]\n---\nWrite code.\n";

fn error(text: &str) -> String {
    AgentSpec::parse("coder.md", text).unwrap_err().to_string()
}

#[test]
fn a_short_file_is_enough() {
    let spec = AgentSpec::parse("coder.md", GOOD).unwrap();
    assert_eq!(spec.name.as_str(), "coder");
    assert_eq!(spec.description, "source code");
    assert_eq!(spec.prefixes, ["code_"]);
    assert_eq!(spec.instruction, "Write code.");
    assert!(spec.keywords.is_empty() && !spec.always_include);
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_do_no_harm() {
    let text = format!("\u{feff}{}", GOOD.replace('\n', "\r\n"));
    assert_eq!(AgentSpec::parse("coder.md", &text), AgentSpec::parse("coder.md", GOOD));
}

#[test]
fn a_rule_in_the_body_is_part_of_the_body() {
    let spec = AgentSpec::parse("coder.md", &format!("{GOOD}\n---\nMore.")).unwrap();
    assert_eq!(spec.instruction, "Write code.\n\n---\nMore.");
}

#[test]
fn an_unknown_field_names_the_nearest_one() {
    for (written, nearest) in [
        ("prefix", "prefixes"),
        ("keyword", "keywords"),
        ("cannotDo", "cannot_do"),
        ("alwaysInclude", "always_include"),
        ("desciption", "description"),
    ] {
        let text = GOOD.replace("---\nname", &format!("---\n{written}: x\nname"));
        let expected = format!("coder.md: unknown field {written:?}; did you mean {nearest:?}?");
        assert_eq!(error(&text), expected);
    }
}

#[test]
fn missing_and_wrong_values_are_clear_and_name_the_file() {
    for (text, expected) in [
        (GOOD.replace("name: coder\n", ""), "name"),
        (GOOD.replace("description: source code\n", ""), "description"),
        (GOOD.replace("source code", "'  '"), "description is empty"),
        (GOOD.replace("name: coder", "name: The Coder"), "agent name \"The Coder\" is not valid"),
        (GOOD.replace("name: coder", "name: user"), "reserved names"),
        (GOOD.replace("[code_]", "code_"), "sequence"),
        (GOOD.replace("[code_]", "['']"), "prefixes holds \"\""),
        (GOOD.replace("[code_]", "['code _']"), "prefixes holds \"code _\""),
        (GOOD.replace("prefixes: [code_]", "always_include: perhaps"), "bool"),
        (GOOD.replace("[code_]", "[code_"), ""),
        (GOOD.replace("name: coder", "name: coder\nname: other"), "name"),
        (GOOD.replace("Write code.", ""), "no instruction"),
        (GOOD.replacen("---\n", "", 1), "no front matter"),
        (String::new(), "no front matter"),
        (GOOD.replace("---\nWrite", "Write"), "not closed"),
    ] {
        let error = error(&text);
        println!("{error}");
        assert!(error.starts_with("coder.md: "), "{error}");
        assert!(error.contains(expected), "{error:?} does not contain {expected:?}");
        assert!(!error.contains('\n'), "{error:?}");
    }
}

#[test]
fn errors_can_be_matched() {
    let error = AgentSpec::parse("x.md", "").unwrap_err();
    assert_eq!(error, OrchestrationError::NoFrontMatter { file: "x.md".into() });
}
