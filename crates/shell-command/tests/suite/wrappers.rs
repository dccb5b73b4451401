//! Tests commands that run other commands, and files that are run.

use lango_shell_command::read_command;

use super::{gives_up, reads};

#[test]
fn wrappers_are_opened() {
    for wrapper in [
        "env",
        "env --",
        "nice",
        "nice -n 5",
        "nice -n5",
        "nice -5",
        "nice --adjustment=5",
        "nohup",
        "timeout 5",
        "timeout -s KILL -k 3 5s",
        "timeout --signal=KILL --foreground 1.5m",
        "setsid -w",
        "stdbuf -oL -e 0",
        "stdbuf --output=L",
        "time",
        "time -p",
        "ionice -c2 -n 7",
        "chrt -b 0",
        "taskset -c 0,1",
        "taskset 0x3",
        "command",
        "command -p",
        "command --",
        "builtin",
        "exec",
        "busybox",
        "/usr/bin/env",
        "nice nohup timeout 5 env",
    ] {
        reads(&format!("{wrapper} rm x"), &["rm x"]);
        reads(&format!("ls; {wrapper} sh -c 'a; {wrapper} rm x'"), &["ls", "a", "rm x"]);
    }
    reads("env", &["env"]);
    reads("nice", &["nice"]);
    reads("command -v ls", &["command -v ls"]);
    reads("env X=1 'Y Z=2' rm x", &["=X=1 Y Z=2 rm x"]);
    reads("env -u X -i rm x", &["=env -u X -i rm x", "rm x"]);
    reads("env -C d rm x", &["=env -C d rm x", "rm x"]);
    reads("sudo rm x", &["=sudo rm x", "rm x"]);
    reads("sudo -nu me X=1 sh -c 'rm x'", &["=sudo -nu me X=1 sh -c rm x", "=X=1 rm x"]);
    reads("doas -u me rm x", &["=doas -u me rm x", "rm x"]);
    reads("./env rm x", &["=./env rm x", "rm x"]);
    reads("env2 rm x", &["=env2 rm x", "rm x"]);
    reads("SH -c 'rm x'", &["=SH -c rm x", "rm x"]);
    gives_up("su -c 'rm x' me", &["=su -c rm x me", "rm x"]);
}

#[test]
fn an_option_that_is_not_known_is_not_guessed() {
    for command in [
        "env -S 'rm x'",
        "env --split-string='rm x'",
        "env -Srm",
        "env --chd=x rm",
        "nice -x rm",
        "nice --adj=5 rm",
        "timeout rm x",
        "timeout -z 5 rm",
        "timeout $x rm",
        "timeout * rm",
        "nohup -x rm",
        "stdbuf -x rm",
        "time -o f rm",
        "time -f %e rm",
        "ionice -p 5",
        "chrt rm x",
        "taskset -p 5",
        "taskset rm x",
        "command -x rm",
        "sudo -s rm",
        "sudo -i",
        "sudo -e f",
        "doas -C f rm",
        "su me",
        "su -s /bin/x -c rm",
        "busybox --install",
        "xargs --foo rm",
        "sh -o posix -c rm",
        "sh -k -c rm",
        "sh -i -c rm",
        "bash -O extglob -c rm",
        "bash --rcfile f",
        "sh +O -c rm",
        "nice * rm",
        "env * rm",
        "sudo $x rm",
    ] {
        assert_ne!(super::reason(command), "", "{command}");
    }
}

#[test]
fn texts_for_shells_are_read() {
    reads("sh -c 'a; b'", &["a", "b"]);
    reads("bash -euxo pipefail -c 'a | b' name arg", &["a", "b"]);
    reads("dash -c -e -- a", &["a"]);
    reads("sh -c \"sh -c 'sh -c \\\"a b\\\"'\"", &["a b"]);
    reads("bash -lc 'a'", &["=bash -lc a", "a"]);
    reads("eval 'a;' b", &["a", "b"]);
    reads("eval eval \"'a b'\"", &["a b"]);
    reads("trap 'rm x' EXIT; trap - EXIT; trap", &["rm x", "trap - EXIT", "trap"]);
    gives_up("sh -c 'echo $1' x y", &["echo $1"]);
    gives_up("sh -c \"rm $x\"", &["rm $x"]);
    gives_up("sh -c *", &["=* <*0>"]);
    gives_up("eval $x", &["$x"]);
    gives_up("zsh -c 'rm x'", &["rm x"]);
    gives_up("fish -c 'rm x'", &["=fish -c rm x"]);
    gives_up("sh -c", &["=sh -c"]);
    gives_up("trap 5 EXIT", &["=trap 5 EXIT"]);
    gives_up("trap -- '-x' EXIT", &["=trap -- -x EXIT"]);
}

#[test]
fn a_program_from_the_input_is_not_known() {
    for command in [
        "sh",
        "echo rm | sh",
        "bash -s < x",
        "sh -",
        "cat x | bash -s -- y",
        "sh <<X\nrm\nX",
        "sh <<< rm",
        "python",
        "python3 -",
        "echo x | python",
        "perl",
        "node <x",
        "python -u",
        "echo x | psql",
        "psql <<X\n\\! rm\nX",
        "{ psql; } < x",
        "(gdb x) <<X\nX",
        "while psql; do a; done < x",
        "exec < x; psql",
        "psql; exec < x",
        "a | { b; ssh c; }",
        "a | if b; then ed; fi",
        "a | sh -c 'flock x sh'",
        "sh -c 'ed' < x",
        "awk -f - x",
        "xargs sh -c",
        "find . | xargs rm",
        "sh /dev/stdin",
        "python /proc/self/fd/0",
        "make -f-",
        "a | docker exec -i b sh",
        "python -v",
        "ruby -w",
    ] {
        assert_ne!(super::reason(command), "", "{command}");
    }
    for command in ["psql -c x | head", "ssh a b | grep c", "gdb x", "a | awk 1", "node -v", "ed x"]
    {
        assert_eq!(super::reason(command), "", "{command}");
    }
    gives_up("a | xargs -0 -n 1 rm -f", &["a", "=rm -f"]);
}

#[test]
fn find_is_a_step_and_so_is_what_it_runs() {
    reads("find . -name '*.rs'", &["find . -name *.rs"]);
    reads("find . -exec rm x \\;", &["=find . -exec rm x ;", "rm x"]);
    reads(
        "find . -exec a ';' -o -ok env sh -c 'b; c' \\;",
        &["=find . -exec a ; -o -ok env sh -c b; c ;", "a", "b", "c"],
    );
    gives_up("find . -exec rm {} +", &["=find . -exec rm {} +", "rm {}"]);
    gives_up("find . -exec rm a{}b \\;", &["=find . -exec rm a{}b ;", "rm a{}b"]);
    gives_up("find . -exec rm x", &["=find . -exec rm x"]);
    gives_up("find . -name -exec -o -exec rm \\;", &["=find . -name -exec -o -exec rm ;", "rm"]);
    gives_up("find . -execdir ./x \\;", &["=find . -execdir ./x ;", "=./x"]);
    for action in ["-delete", "-fprint x", "-fls x", "-fprintf x y", "-fprint0 x"] {
        reads(&format!("find . {action}"), &[&format!("=find . {action}")]);
    }
}

#[test]
fn files_that_are_run_are_named() {
    for (command, scripts) in [
        ("sh x.sh a", &["x.sh"][..]),
        ("bash -eu ./x.sh", &["./x.sh"]),
        (". ./x", &["./x"]),
        ("./x; d/y a; ../z; ./x", &["./x", "d/y", "../z"]),
        ("/opt/x", &["/opt/x"]),
        ("/usr/bin/ls; /bin/cat", &[]),
        ("/usr/bin/../../tmp/x", &["/usr/bin/../../tmp/x"]),
        ("python -u x.py y", &["x.py"]),
        ("python3.11 -W ignore x.py", &["x.py"]),
        (
            "perl -w x.pl; ruby x.rb; node x.js; php x.php; lua x.lua",
            &["x.pl", "x.rb", "x.js", "x.php", "x.lua"],
        ),
        ("python -c 'x' y", &[]),
        ("perl -ne 'x' y", &[]),
        ("awk -f x.awk y; sed -fx.sed y", &["x.awk", "x.sed"]),
        ("make -f x.mk", &["x.mk"]),
        ("make test", &["GNUmakefile", "makefile", "Makefile"]),
        ("cd d && make test", &[]),
        ("env nice sh -c 'sh x'", &["x"]),
        ("java X; deno run x", &["X", "run"]),
    ] {
        let reading = read_command(command);
        assert_eq!(reading.unreadable, None, "{command}");
        assert_eq!(reading.scripts, scripts, "{command}");
        let reasons: Vec<_> =
            reading.steps.iter().filter_map(|it| it.exact_only.as_deref()).collect();
        assert!(
            scripts.is_empty() || command.starts_with("make t") || !reasons.is_empty(),
            "{command}"
        );
    }
    // In another directory the same name is another file.
    for command in ["cd d && ./x", "while ./x; do cd d; done", "env -C d sh x", "pushd d; . ./x"] {
        assert!(super::reason(command).contains("directory changes"), "{command}");
    }
    reads("cd d; /opt/x", &["cd d", "=/opt/x"]);
    for command in
        ["sh *.sh", "python *.py", "sh $x", "./*.sh", "python -Z x", "perl -Mx y", "sh ~/x"]
    {
        assert_ne!(super::reason(command), "", "{command}");
    }
}

#[test]
fn what_a_runner_would_run_is_not_known() {
    for command in [
        "flock lock rm v",
        "watch ls",
        "strace ls",
        "parallel ls",
        "setarch x86_64 rm v",
        "linux64 rm v",
        "script -c 'rm v' /dev/null",
        "/usr/bin/prlimit rm v",
        "/lib64/ld-linux-x86-64.so.2 /bin/rm v",
        "nice setpriv rm v",
        "ssh-agent rm v",
    ] {
        assert!(read_command(command).unreadable.is_some(), "{command}");
    }
}
