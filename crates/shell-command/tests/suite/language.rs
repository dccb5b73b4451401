//! Tests the language: words, lists, compound commands, redirections, here-documents.

use lango_shell_command::read_command;

use super::{UNLISTED, gives_up, reads};

#[test]
fn words_lose_their_quotes() {
    for (command, words) in [
        ("echo a b", vec!["echo", "a", "b"]),
        ("echo 'a b' \"c d\"", vec!["echo", "a b", "c d"]),
        ("e'ch'o a\\ b", vec!["echo", "a b"]),
        ("echo '' \"\" x", vec!["echo", "", "", "x"]),
        ("echo \"a\\\"b\\\\c\\$d\\e\"", vec!["echo", "a\"b\\c$d\\e"]),
        ("echo '$x `y` $(z)' \\$x", vec!["echo", "$x `y` $(z)", "$x"]),
        ("echo a\\\nb \"c\\\nd\" 'e\\\nf'", vec!["echo", "ab", "cd", "e\\\nf"]),
        ("echo $ a$ \"$\" $/ 5$", vec!["echo", "$", "a$", "$", "$/", "5$"]),
        ("echo a#b c # d; rm", vec!["echo", "a#b", "c"]),
        ("echo ls\r", vec!["echo", "ls\r"]),
        ("git show HEAD~1 HEAD@{1} {} {a}", vec!["git", "show", "HEAD~1", "HEAD@{1}", "{}", "{a}"]),
        ("größe \u{a0}x", vec!["größe", "\u{a0}x"]),
        ("\"\"", vec![""]),
        ("echo [ a ] ! } then", vec!["echo", "[", "a", "]", "!", "}", "then"]),
    ] {
        let reading = read_command(command);
        assert_eq!(reading.unreadable, None, "{command:?}");
        assert_eq!(reading.steps.len(), 1, "{command:?}");
        assert_eq!(reading.steps[0].words, words, "{command:?}");
        let reason = reading.steps[0].exact_only.as_deref();
        assert!(reason.is_none_or(|why| why == UNLISTED), "{command:?}: {reason:?}");
    }
}

#[test]
fn what_the_shell_fills_in_is_marked() {
    reads("ls *.rs", &["=ls *.rs <*1>"]);
    reads("ls '*.rs' \"?\" \\*", &["ls *.rs ? *"]);
    reads("ls a[bc]? ~/x b=~", &["=ls a[bc]? ~/x b=~ <*1,2,3>"]);
    reads("ls a:~ '~' \"~/x\" x~ [ ]", &["=ls a:~ ~ ~/x x~ [ ] <*1>"]);
    // Otherwise a rule for the one would be a rule for the other.
    assert_ne!(read_command("rm '*'").steps, read_command("rm *").steps);
    assert_ne!(read_command("rm '*' *").steps, read_command("rm * '*'").steps);
    gives_up("rm '<*1>'", &["rm <*1>"]);
    for command in ["*/x", "~/bin/x", "l? x", "{a,b}", "[ab]"] {
        gives_up(command, &[&super::steps(command)[0]]);
        assert!(super::reason(command).contains("which program"), "{command}");
    }
}

#[test]
fn expansions_are_not_known_and_their_commands_are_steps() {
    gives_up("echo $x", &["echo $x"]);
    gives_up("echo \"a${x}b\"", &["echo a${x}b"]);
    gives_up("echo $((1 + $(a)))", &["a", "echo $((1 + $(a)))"]);
    gives_up("echo $1 $@ $? $$ \"$#\"", &["echo $1 $@ $? $$ $#"]);
    gives_up("$x y", &["$x y"]);
    gives_up("echo $(rm x; ls)", &["rm x", "ls", "echo $(rm x; ls)"]);
    gives_up("echo \"a $(rm \"b c\") d\"", &["rm b c", "echo a $(rm \"b c\") d"]);
    gives_up("echo `rm \\`ls\\``", &["ls", "rm `ls`", "echo `rm \\`ls\\``"]);
    gives_up("echo \"`rm \\\"x y\\\"`\"", &["rm x y", "echo `rm \\\"x y\\\"`"]);
    gives_up("echo ${x:-$(rm \"}\")} b", &["rm }", "echo ${x:-$(rm \"}\")} b"]);
    gives_up("x=$(rm y)", &["rm y", "=x=$(rm y)"]);
    gives_up("echo > $(rm y)", &["rm y", "=echo > $(rm y)"]);
    gives_up("echo $((rm x) | ls)", &["rm x", "ls", "echo $((rm x) | ls)"]);
    gives_up("$(echo rm) x", &["echo rm", "$(echo rm) x"]);
    gives_up("cat <(rm x) >(ls)", &["rm x", "ls", "cat <(rm x) >(ls)"]);
    gives_up("cat < <(rm x)", &["rm x", "=cat < <(rm x)"]);
    gives_up("for x in $(rm y); do ls; done", &["rm y", "ls"]);
    gives_up("case $(rm y) in `a`) ls;; esac", &["rm y", "a", "ls"]);
    gives_up("$\\\n(rm x)", &["rm x", "$\\\n(rm x)"]);
}

#[test]
fn what_shells_read_differently_is_not_read() {
    for command in [
        "echo $'a'",
        "echo $\"a\"",
        "echo $[1]",
        "echo $ä",
        "echo {a,b}",
        "echo {1..3}",
        "echo {'a',b}",
        "[[ a < b ]]",
        "((a))",
        "function f { ls; }",
        "select x in a; do b; done",
        "coproc ls",
        "f() { ls; }",
        "f () ls",
        "a=(b c)",
        "echo 12> x",
        "echo {a}> x",
        "echo &> x y",
        "a[0]=1",
        "a+=1",
        "time { ls; }",
        "time ! ls",
        "time if",
        "exec -a x ls",
        "alias ls=rm",
        "set -k",
        "shopt -s extglob",
        "let 'a[$(ls)]=1'",
        "test -v 'a[$(ls)]'",
        "printf -v 'a[`ls`]' x",
        "PS4='$(ls)' sh -xc x",
        "eval -x",
        "source x",
        ". x",
        "case a in b) ls;& esac",
        "'X=1' ls",
        "echo a=(b)",
        "!(a)b",
    ] {
        assert_ne!(super::reason(command), "", "{command}");
    }
}

#[test]
fn every_command_of_a_list_is_a_step() {
    for separator in
        [";", "&", "&&", "||", "|", "|&", "\n", " ; ", "\n\n", " &\n", "&&\n", "|\n#x\n"]
    {
        reads(&format!("ls -l{separator}rm x"), &["ls -l", "rm x"]);
    }
    for command in [
        "(a;b)",
        "{ a;b; }",
        "( ( a ) ; b )",
        "! a && ! b",
        "{ a\nb\n}",
        "(a)&(b)",
        "a&b&",
        "a;b;",
        "if a; then b; fi",
        "if a\nthen\nb\nfi",
        "if (a) then b; fi",
        "while a; do b; done",
        "until a\ndo b\ndone",
        "if { a; } then { b; } fi",
        "a&\\\n&b",
        "a|\\\nb",
        "a \\\n && b",
        "case x in y) a;; z) b;; esac",
        "case x in\n(y|z) a\n;;\n*) b\nesac",
        "#x\na #;y\nb #z",
        "case x in y) esac; a; b",
        "for x in 1 2; do a; b; done",
        "for x\ndo a; b; done",
        "for x in; do a; b; done",
        "for x in *\ndo a; b\ndone",
        "for x; do a; b; done",
        "if a; then\n#x\nb; fi",
        "!\ta||b",
    ] {
        reads(command, &["a", "b"]);
    }
    reads("if a; then b; elif c; then d; else e; fi | f", &["a", "b", "c", "d", "e", "f"]);
    reads("while a; do if b; then (c); fi; done && { d; }", &["a", "b", "c", "d"]);
    reads("", &[]);
    reads(" \t\n # nothing", &[]);
    // A carriage return is part of a word, and does not end a command.
    reads("ls\r\nrm\rx", &["ls\r", "rm\rx"]);
}

#[test]
fn assignments_are_steps() {
    reads("X=1", &["=X=1"]);
    reads("X=1 Y='a b' ls -l", &["=X=1 Y=a b ls -l"]);
    reads("X=* ls", &["=X=* ls"]);
    reads("PATH=/x; ls", &["=PATH=/x", "ls"]);
    reads("ls X=1", &["ls X=1"]);
    reads("X=1 sh -c 'a; b'", &["=X=1 a", "=X=1 b"]);
    reads("export X=1; unset Y; read Z", &["=export X=1", "=unset Y", "=read Z"]);
}

#[test]
fn redirections_belong_to_the_step() {
    reads("echo a > x", &["=echo a > x"]);
    reads("echo >x a 2>>'y z'", &["=echo a > x 2>> y z"]);
    reads("1>x echo 0<y", &["=echo > x < y"]);
    reads("echo a >| x 3<> y", &["=echo a >| x 3<> y"]);
    reads("> x", &["=> x"]);
    reads("X=1 > x", &["=X=1 > x"]);
    reads("ls >/dev/null 2>&1 </dev/null 2>/dev/stderr 3>&- 4<&0 >&2", &["ls"]);
    reads("ls &>/dev/null; ls &> x", &["ls", "=ls &> x"]);
    reads("ls >& x", &["=ls >& x"]);
    reads("(a; b) > x", &["a", "b", "=> x"]);
    reads("while a; do b; done < x 2>&1", &["a", "b", "=< x"]);
    reads("sh -c 'a; b' > x", &["=a > x", "=b > x"]);
    reads("exec > x; ls", &["=exec > x", "ls"]);
    reads("cat <<< 'a b'", &["=cat <<< a b"]);
    gives_up("echo '>' x", &["echo > x"]);
    gives_up("echo a '2>' x", &["echo a 2> x"]);
    for command in ["ls > *", "ls > ~/x", "ls > $x", "ls > {a,b}", "ls >", "ls > ; a", "ls > #x"] {
        assert_ne!(super::reason(command), "", "{command}");
    }
    let reading = read_command("ls > a; ls < b; cat <<X\nX");
    let reasons: Vec<_> = reading.steps.iter().map(|step| step.exact_only.as_deref()).collect();
    let expected = ["writes to a", "reads from b", "is given a text as input"];
    assert_eq!(reasons, expected.map(Some));
}

#[test]
fn here_documents_are_data_until_they_have_expansions() {
    reads("cat <<X\na; rm b\nX\nls", &["=cat << a; rm b\n", "ls"]);
    reads("cat <<'X' && ls\n$(rm b) `c` $d\nX\n", &["=cat << $(rm b) `c` $d\n", "ls"]);
    reads("cat <<\\X\n$x\nX", &["=cat << $x\n"]);
    reads("cat <<-X\n\ta\n\tX\nls", &["=cat << \ta\n", "ls"]);
    reads("cat <<X <<'Y' | b\n1\nX\n2\nY\nls", &["=cat << 1\n << 2\n", "b", "ls"]);
    reads("cat <<X\n$ 5 \\$x \\`y\\`\nX", &["=cat << $ 5 \\$x \\`y\\`\n"]);
    reads("{ cat <<X\nrm\nX\n}; (cat <<X)\nrm\nX", &["=cat << rm\n", "=cat << rm\n"]);
    reads("if cat <<X; then b; fi\n; rm\nX", &["=cat << ; rm\n", "b"]);
    gives_up("cat <<X\n$(rm b)\nX\nls", &["=cat << $(rm b)\n", "rm b", "ls"]);
    gives_up("cat <<X\n`rm b` $c\nX", &["=cat << `rm b` $c\n", "rm b"]);
    gives_up("cat <<X\n\"$(rm \"b\")\nX", &["=cat << \"$(rm \"b\")\n", "rm b"]);
    for command in ["cat <<X", "cat <<X\na\n", "cat <<X\na\\\nX\nX", "cat <<X 'a\nb'\nX\nX"] {
        assert_ne!(super::reason(command), "", "{command}");
    }
}
