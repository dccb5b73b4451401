//! Generates commands for the properties.

use proptest::prelude::*;

/// Lists the programs that stand for all others. The last one fails when it is run.
pub(super) const PROGRAMS: [&str; 3] = ["alpha", "beta", "gamma"];

/// Holds a text, and the commands that were put into it.
#[derive(Debug, Clone)]
pub(super) struct Composition {
    pub(super) text: String,
    pub(super) commands: Vec<Vec<String>>,
}

/// Generates a command made of simple ones, in any way that is known to be read; if requested, with
/// expansions, which are not readable and whose commands are steps all the same.
pub(super) fn composition(expansions: bool) -> impl Strategy<Value = Composition> {
    simple().prop_recursive(5, 24, 3, move |inner| {
        let around =
            (inner.clone(), any::<prop::sample::Index>()).prop_map(move |(inner, choice)| {
                let quoted = single_quoted(&inner.text);
                let Composition { text, commands } = inner;
                let mut forms = vec![
                    format!("( {text})"),
                    format!("( {text}\n)"),
                    format!("{{ {text}\n}}"),
                    format!("if {text}\nthen :; fi"),
                    format!("if :; then {text}\nelse :; fi"),
                    format!("if false; then :; elif {text}\nthen :; fi"),
                    format!("for x in 1 2; do {text}\ndone"),
                    format!("until {text}\n:; do :; done"),
                    format!("case a in (b) :;; *) {text}\n;; esac"),
                    format!("! {{ {text}\n}}"),
                    format!("{{ {text}\n}} >/dev/null 2>&1"),
                    format!("sh -c {quoted}"),
                    format!("sh -ec -- {quoted} x y"),
                    format!("env sh -c {quoted}"),
                    format!("nice -n 5 timeout -k 9 90 sh -c {quoted}"),
                    format!("nohup sh -c {quoted}"),
                    format!("eval {quoted}"),
                    format!("eval {quoted} ''"),
                    format!("command eval {quoted}"),
                    format!("find d -maxdepth 0 -exec sh -c {quoted} \\;"),
                    format!("# {quoted}").replace('\n', "\n#") + &format!("\n{text}"),
                ];
                if expansions {
                    let escaped =
                        text.replace('\\', "\\\\").replace('`', "\\`").replace('$', "\\$");
                    forms.extend([
                        format!("echo $({text}\n)"),
                        format!("echo \"a $({text}\n) b\""),
                        format!("echo `{escaped}\n`"),
                        format!("x=$({text}\n)"),
                        format!("echo a > $({text}\n)"),
                        format!("echo ${{x:-$({text}\n)}}"),
                        // With the same delimiter inside, bash ends the text there and dash does
                        // not, so there is no single correct reading.
                        format!("{{ cat <<X{0}\na $({text}\n)\nX{0}\n}}", text.len()),
                        format!("cat <({text}\n)"),
                        format!("for x in $({text}\n); do :; done"),
                        format!("echo $((1 + $({text}\n)))"),
                        format!("zsh -c {quoted}"),
                        format!("echo x | xargs sh -c {quoted}"),
                        format!("sudo sh -c {quoted}"),
                        format!("f() {{ {text}\n}}"),
                    ]);
                }
                Composition { text: forms[choice.index(forms.len())].clone(), commands }
            });
        let separator = prop_oneof![
            Just("\n"),
            Just(" ; "),
            Just("&&"),
            Just(" || "),
            Just(" | "),
            Just("& "),
            Just("|\n"),
            Just(" && # ;\n"),
            Just("\n\n"),
            Just("&&\\\n"),
        ];
        let joined =
            (inner.clone(), separator, inner).prop_map(|(left, between, right)| Composition {
                text: format!("{{ {}\n}}{between}{{ {}\n}}", left.text, right.text),
                commands: [left.commands, right.commands].concat(),
            });
        prop_oneof![around, joined]
    })
}

/// Generates a call of one of the programs with arguments, quoted in some way.
fn simple() -> impl Strategy<Value = Composition> {
    let argument = ("[a-c $`'\"\\\\*~{},;&|<>()#!\r\n\u{e4}-]{0,6}", 0..3_u8);
    let prefix = prop_oneof![
        6 => Just(""), 1 => Just("env "), 1 => Just("nice -5 "), 1 => Just("timeout 90 "),
        1 => Just("command "), 1 => Just("exec "), 1 => Just("nohup "), 1 => Just("X=1 "),
        1 => Just("env X='1 2' "), 1 => Just("2>/dev/null "), 1 => Just("</dev/null "),
    ];
    let program = prop::sample::select(&PROGRAMS[..]);
    let arguments = prop::collection::vec(argument, 0..4);
    (prefix, program, arguments).prop_map(|(prefix, program, arguments)| {
        // A word that looks like a redirection is refused on purpose. `find` replaces braces.
        let looks = |word: &str| word.contains(['<', '>']) || word.contains("{}");
        let arguments: Vec<_> = arguments.into_iter().filter(|(word, _)| !looks(word)).collect();
        let mut text = format!("{prefix}{program}");
        for (argument, style) in &arguments {
            text.push(' ');
            text.push_str(&match style {
                0 => single_quoted(argument),
                1 => double_quoted(argument),
                _ => escaped(argument),
            });
        }
        let mut words = vec![program.to_owned()];
        words.extend(arguments.into_iter().map(|(argument, _)| argument));
        Composition { text, commands: vec![words] }
    })
}

/// Generates pieces of the language in any order.
pub(super) fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(&PROGRAMS[..]),
        8 => Just(" "),
        4 => prop::sample::select(vec![
            ";", "&", "&&", "||", "|", "\n", "(", ")", "{ ", "}", "! ", "\n}", ";;", "|&", "&>out",
        ]),
        4 => prop::sample::select(vec![
            "'", "\"", "\\", "#", "$", "`", "$(", "'a b'", "\"c\"", "\\\n", "\\;", "\\'", "''", "\r",
            "\t", "\u{e4}", "$x", "${x}", "$'", "$((1))", "~", "*", "f?", "[f]1", "{a,b}", "a", "=",
        ]),
        2 => prop::sample::select(vec![
            "if ", "then ", "fi", "else ", "elif ", "for x in a b;", "do ", "done", "case a in ",
            "a)", "*)", "esac", "in", "function ", "time ", "[[ ", "]]", "until ",
        ]),
        2 => prop::sample::select(vec![
            ">out", "<f1", "2>&1", ">>out", "<<E", "\nE\n", "<<'E'", "<<-E", "E", "<<<a", ">&2", "1>",
            "12>out", ">|out", "<>f1", "2", "&>", ">", "<", "<(", "{x}>out",
        ]),
        2 => prop::sample::select(vec![
            "env ", "nice ", "timeout 90 ", "sh -c ", "eval ", "command ", "exec ", "nohup ", "X=1 ",
            "-n 5 ", "-- ", "-i ", "-5 ", "-p ", "find d -exec ", " {} ", " + ", " \\; ", "trap ",
            " EXIT", ". ", "./s ", "set -e;", "cd d;", "true ", "false ", "echo ", "builtin ", "Y=",
            "a=(", "alias a=", "xargs ", "export Z=1;", "bash -c ", "sh ",
        ]),
    ];
    prop::collection::vec(piece, 1..14).prop_map(|pieces| pieces.concat())
}

fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn double_quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        if matches!(character, '$' | '`' | '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted + "\""
}

fn escaped(text: &str) -> String {
    if text.is_empty() {
        return "''".to_owned();
    }
    let escape = |character| match character {
        'a'..='z' => character.to_string(),
        '\n' => "'\n'".to_owned(),
        _ => format!("\\{character}"),
    };
    text.chars().map(escape).collect()
}
