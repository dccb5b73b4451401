//! Tests which arguments need a rule for exactly these words.

use lango_shell_command::read_command;

use super::reads;

#[test]
fn arguments_that_run_or_write_need_an_exact_rule() {
    for command in [
        "awk '{ system(\"rm\") }'",
        "gawk 1 x",
        "vim x",
        "gdb x",
        "sqlite3 x",
        "psql -c x",
        "m4 x",
        "less x",
        "man x",
        "ssh a b",
        "rsync -e x a b",
        "scp a b",
        "docker run x",
        "npx x",
        "python -c x",
        "node -e x",
        "ruby -e x",
        "perl -pi -e x y",
        "php -r x",
        "lua -e x",
        "tar xf a --to-command=x",
        "tar --to-c x xf a",
        "tar -xIf a b",
        "tar xIf a b",
        "tar --checkpoint-action=exec=x cf a b",
        "tar -F x cf a b",
        "tar --use-compress-prog x cf a b",
        "zip -TT x a b",
        "zip a b -T",
        "sort --compress-prog=x a",
        "sort -o a b",
        "rg --pre x a",
        "fd x -x rm",
        "fd --exec-b rm",
        "nc -e x a 1",
        "split --filter=x",
        "git -c a=b status",
        "git --exec-path=x status",
        "git -C x status",
        "git --config-env=a=b log",
        "git x",
        "git bisect run x",
        "git submodule foreach x",
        "git rebase -x y",
        "git rebase --exec=x",
        "git rebase --ex x",
        "git grep -Oless x",
        "git grep --open-files x",
        "git clone a",
        "git config a b",
        "git log --output=x",
        "git diff --ext-diff",
        "git fetch ext::x",
        "git fetch --upload-pack=x a",
        "git push --receive-pack=x",
        "git difftool -x y",
        "git filter-branch x",
        "cargo --config x build",
        "cmake -P x",
        "cmake -E env x",
        "go test -exec x",
        "go build --toolexec=x",
        "make SHELL=x",
        "make --eval=x",
        "make -C x",
        "ip netns exec a b",
        "curl -o x y",
        "wget -O x y",
        // A longer option begins like a listed one, and a shortened one is its beginning.
        "wget --output-document=x y",
        "wget --execut robots=off y",
        "rg --pre-glob x y",
        "curl --config x",
        "sed 's/a/b/e' x",
        "sed 's/a/b/w y' x",
        "sed 'w y' x",
        "sed '1e rm' x",
        "sed -f y x",
        "sed -i s/a/b/ x",
        "sed -n -e p -e 'e rm' x",
        "sed p x -e 'e rm'",
        "sed 's/[/]/x/e;p' x",
        "sed --posix p x",
        "sed 's/a/b\\\n/e' x",
        "sed y/a/b/e x",
        "sed 'r y' x",
        "sed -es/a/b/e x",
        "sed '/a/e' x",
    ] {
        reads(command, &[&format!("={}", unquoted(command))]);
    }
}

#[test]
fn compilers_linkers_and_package_managers_that_run_something_need_an_exact_rule() {
    for command in [
        // A plugin, or a file of arguments that can name one.
        "gcc -fplugin=./x.so a.c",
        "gcc @x a.c",
        "cc -B . a.c",
        "clang -fplugin=./x.so a.c",
        "ld -plugin ./x.so a.o",
        // A package, or a project in another directory.
        "npm exec x",
        "npm x y",
        "pnpm dlx x",
        "yarn --cwd x test",
        "npm --script-shell=./x run build",
    ] {
        reads(command, &[&format!("={command}")]);
    }
}

#[test]
fn a_program_that_is_not_listed_needs_an_exact_rule() {
    for command in [
        "install -s --strip-program=./x a b",
        "openssl engine ./x.so",
        "vimdiff a b",
        "make SHELL=./x",
        "pip install x",
        "uniq a b",
        "frobnicate",
    ] {
        let reading = read_command(command);
        let reasons: Vec<_> = reading.steps.iter().map(|step| step.exact_only.as_deref()).collect();
        assert!(reasons.iter().all(Option::is_some), "{command}: {reading:?}");
    }
}

#[test]
fn usual_arguments_leave_a_rule_with_a_pattern_in_force() {
    for command in [
        "ls -l",
        "cat x",
        "grep -rn x .",
        "rm -rf x",
        "cargo test --workspace",
        "npm run build",
        "go test ./...",
        "tar xzf a.tgz",
        "tar -czf a.tgz b",
        "sort -u x",
        "git status",
        "git log --oneline -5",
        "git diff HEAD~1 -- x",
        "git --no-pager show",
        "git commit -m x",
        "git add -A",
        "git push origin main",
        "git checkout -b x",
        "git rebase main",
        "git",
        "rg x",
        "jq . x",
        "fd x",
        "curl https://x/y",
        "sed -n 1,20p x",
        "sed -n '$p' x",
        "sed 's/a/b/g' x",
        "sed -E 's|a|b|;s,c,d,2' x",
        "sed -n -e 1p -e '/x/,/y/p' z",
        "sed '/^#/d;/^$/d' x",
        "sed -ne 5q x",
        "sed '1!d' x",
        "zip a b",
        "head -n 5 x",
        "sed 's/a\\/b/c/' x",
        "[ -f x ]",
        "test -f x",
        "printf %s x",
        "cd x",
        "set -eu",
        "python --version",
        "node -v",
    ] {
        reads(command, &[&unquoted(command)]);
    }
}

/// Returns the words without their quotes, as the tables of this module write them.
fn unquoted(command: &str) -> String {
    let mut unquoted = String::new();
    let mut quoted = false;
    for character in command.chars() {
        match character {
            '\'' => quoted = !quoted,
            _ => unquoted.push(character),
        }
    }
    assert!(!quoted, "{command}");
    unquoted
}
