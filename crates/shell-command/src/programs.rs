//! Lists the programs that a rule with a pattern may allow, and for which arguments it may not.
//!
//! A rule with a pattern, such as `tar *`, was written with the usual arguments in mind. It holds
//! only for programs that do what their name says, whatever their arguments are. With arguments that
//! make such a program run another one or write other files, and for all programs that are not listed,
//! only a rule for exactly these words holds. What a build tool runs is the project's own code,
//! which a user who allows the tool has in mind.

use lango_text::make_visible_short;

use super::invocation::Invocation;
use super::word::ShellWord;

/// Describes a program.
#[derive(Debug)]
pub(super) struct ProgramRule {
    pub(super) names: &'static [&'static str],
    why: &'static str,
    when: RuleCondition,
    /// True if its first argument that is no option is a file with commands for it.
    runs_file: bool,
    /// The option that such a file follows.
    file_option: Option<&'static str>,
    /// True if it takes its input for commands.
    reads_commands: bool,
}

/// Tells for which arguments only a rule for exactly these words holds.
#[derive(Debug)]
enum RuleCondition {
    Always,
    /// No arguments make it do something else.
    Never,
    /// Letters of short options, and long options by the start of their names.
    Options(&'static str, &'static [&'static str]),
    /// Words anywhere among the arguments.
    Words(&'static [&'static str]),
}

const fn always(names: &'static [&'static str], why: &'static str) -> ProgramRule {
    ProgramRule {
        names,
        why,
        when: RuleCondition::Always,
        runs_file: false,
        file_option: None,
        reads_commands: false,
    }
}

/// Describes a program like `always`, for one that reads commands from its input if it gets one.
const fn reads(names: &'static [&'static str], why: &'static str) -> ProgramRule {
    ProgramRule { reads_commands: true, ..always(names, why) }
}

/// Describes an interpreter that is known by name only.
const fn runs_file(names: &'static [&'static str]) -> ProgramRule {
    ProgramRule { runs_file: true, ..reads(names, "runs the program that its arguments name") }
}

const fn options(
    names: &'static [&'static str],
    why: &'static str,
    short: &'static str,
    long: &'static [&'static str],
) -> ProgramRule {
    ProgramRule { when: RuleCondition::Options(short, long), ..always(names, why) }
}

/// Describes programs that do what their name says with all arguments.
const fn harmless(names: &'static [&'static str]) -> ProgramRule {
    ProgramRule { when: RuleCondition::Never, ..always(names, "") }
}

/// The reason why only an exact rule allows a program that is not listed.
pub(super) const UNLISTED: &str = "what it does with other arguments is not known";

const RUNS: &str = "runs the command in its arguments";
const CODE: &str = "can run commands from the text in its arguments";
const EXEC: &str = "is told by an option to run a command";
const WRITES: &str = "is told by an option to write to a file";

/// Lists the programs.
pub(super) const PROGRAMS: &[ProgramRule] = &[
    // Programs that show something.
    harmless(&["ls", "dir", "vdir", "cat", "tac", "head", "tail", "wc", "nl", "od", "hexdump"]),
    harmless(&["strings", "stat", "du", "df", "realpath", "readlink", "basename"]),
    harmless(&[
        "dirname", "whoami", "id", "groups", "uname", "arch", "hostname", "nproc", "uptime",
    ]),
    harmless(&["free", "lscpu", "lsblk", "lsof", "ps", "pgrep", "pstree", "w", "who", "users"]),
    harmless(&["date", "cal", "locale", "tty", "sleep", "true", "false", "seq", "yes", "which"]),
    harmless(&["grep", "egrep", "fgrep", "zgrep", "zcat", "cmp", "comm", "cut", "tr", "rev"]),
    harmless(&["paste", "join", "fold", "fmt", "expand", "unexpand", "column", "tsort", "jq"]),
    harmless(&["md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum"]),
    harmless(&[
        "cksum", "sum", "base32", "base64", "numfmt", "factor", "expr", "dig", "host", "ping",
    ]),
    harmless(&["echo", "printf", "test", "[", "pwd"]),
    // Programs whose effect is their name.
    harmless(&["mkdir", "rmdir", "rm", "cp", "mv", "ln", "touch", "chmod", "chown", "chgrp"]),
    harmless(&["truncate", "mktemp", "kill", "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz"]),
    harmless(&["zstd", "unzstd", "unzip", "shasum", "tee"]),
    // Build tools and checkers: the project's own code.
    harmless(&["ruff", "tsc", "rustfmt", "gofmt", "shellcheck"]),
    options(&["pytest"], EXEC, "cpo", &["--rootdir", "--override-ini", "--confcutdir", "--pdbcls"]),
    options(&["mypy"], EXEC, "", &["--config-file", "--python-executable"]),
    options(&["tree"], WRITES, "o", &[]),
    // Languages.
    ProgramRule {
        file_option: Some("-f"),
        ..always(&["awk", "gawk", "mawk", "nawk", "original-awk"], CODE)
    },
    reads(&["ed", "red", "ex", "vi", "vim", "nvim", "view", "rvim", "emacs", "nano", "pico"], CODE),
    reads(&["gdb", "lldb", "sqlite3", "sqlite", "psql", "mysql", "mariadb", "mongosh"], CODE),
    reads(&["redis-cli", "duckdb", "clickhouse", "dc", "m4", "gnuplot", "octave", "r", "gp"], CODE),
    reads(&["irb", "pry", "ipython", "jshell", "ghci", "iex", "ocaml", "utop", "bpython"], CODE),
    runs_file(&["tclsh", "wish", "expect", "osascript", "rscript", "julia", "swift", "scala"]),
    runs_file(&["groovy", "guile", "racket", "sbcl", "clisp", "elixir", "erl", "escript"]),
    runs_file(&["runghc", "java", "kotlin", "clojure", "bb", "tsx", "ts-node", "bun", "deno"]),
    runs_file(&["dotnet", "mono", "wine", "wasmtime", "wasmer", "run-parts", "just", "rake"]),
    // Programs that run a command which is not unwrapped here.
    reads(&["watch", "flock", "script", "strace", "ltrace", "perf", "valgrind", "entr"], RUNS),
    reads(&["chroot", "unshare", "nsenter", "bwrap", "firejail", "systemd-run", "pkexec"], RUNS),
    reads(&["setpriv", "capsh", "prlimit", "numactl", "cgexec", "runcon", "sg", "newgrp"], RUNS),
    reads(&["start-stop-daemon", "daemonize", "xvfb-run", "dbus-run-session", "fakeroot"], RUNS),
    reads(&["proxychains", "proxychains4", "torsocks", "rlwrap", "unbuffer", "faketime"], RUNS),
    reads(&["setarch", "linux32", "linux64", "i386", "x86_64", "eatmydata", "chronic"], RUNS),
    reads(&["hyperfine", "ifne", "mispipe", "pee", "sponge", "vipe", "vidir", "direnv"], RUNS),
    reads(&["ld.so", "ld-linux.so", "ld-linux-x86-64.so", "ld-linux-aarch64.so"], RUNS),
    reads(&["npx", "bunx", "pnpx", "uvx", "pipx", "nix", "nix-shell", "nix-build"], RUNS),
    reads(&["docker", "podman", "nerdctl", "kubectl", "lxc", "vagrant", "wsl"], RUNS),
    reads(&["parallel", "at", "batch", "crontab", "screen", "tmux", "dtach"], RUNS),
    reads(&["ssh", "sftp", "ftp", "lftp", "telnet", "rsh", "mosh", "socat"], RUNS),
    always(&["scp", "rsync", "rclone"], "can be told to run a command to reach another machine"),
    // Pagers and programs that open something for a user.
    always(&["less", "more", "most", "pg", "man", "info"], "a pager can start other programs"),
    always(&["xdg-open", "open", "gio", "start"], "starts whatever program fits its argument"),
    // Ordinary programs with an option that runs a command.
    options(
        &["tar", "gtar", "bsdtar"],
        EXEC,
        "IF",
        &[
            "--to-command",
            "--checkpoint-action",
            "--use-compress-program",
            "--rsh-command",
            "--rmt-command",
            "--info-script",
            "--new-volume-script",
        ],
    ),
    options(&["zip"], EXEC, "T", &["--test", "--unzip-command"]),
    options(&["cpio"], EXEC, "", &["--rsh-command", "--rmt-command"]),
    options(&["split", "gsplit"], EXEC, "", &["--filter"]),
    options(&["sort", "gsort"], WRITES, "oST", &["--compress-program", "--output"]),
    options(&["rg"], EXEC, "", &["--pre", "--hostname-bin"]),
    options(&["fd", "fdfind"], EXEC, "xX", &["--exec", "--exec-batch"]),
    options(&["nc", "ncat", "netcat"], EXEC, "ec", &["--exec", "--sh-exec", "--lua-exec"]),
    options(&["tcpdump"], EXEC, "zw", &[]),
    options(&["wget"], EXEC, "eiO", &["--use-askpass", "--execute", "--config", "--output"]),
    options(
        &["curl"],
        WRITES,
        "oOKcDJ",
        &["--output", "--remote-name", "--config", "--cookie-jar", "--dump-header", "--trace"],
    ),
    always(&["gcc", "cc", "clang", "g++", "c++", "ld"], "can be told to load a plugin"),
    options(&["diff"], WRITES, "", &["--to-file"]),
    options(&["cargo"], EXEC, "Z", &["--config"]),
    options(&["cmake"], EXEC, "PE", &[]),
    options(&["gradle", "gradlew"], EXEC, "I", &["--init-script"]),
    ProgramRule {
        when: RuleCondition::Words(&[
            "exec",
            "x",
            "dlx",
            "explore",
            "create",
            "init",
            "--script-shell",
            "--node-options",
            "--shell",
            "--prefix",
            "--cwd",
            "-C",
        ]),
        ..always(&["npm", "pnpm", "yarn"], RUNS)
    },
    options(&["nmap"], EXEC, "", &["--script"]),
    options(&["exiftool"], EXEC, "", &["-if", "-p", "-config"]),
    options(&["apt", "apt-get", "aptitude"], EXEC, "oc", &["--option", "--config-file"]),
    ProgramRule {
        when: RuleCondition::Words(&["-exec", "-toolexec", "-vettool", "-ldflags"]),
        ..always(&["go"], EXEC)
    },
    ProgramRule { when: RuleCondition::Words(&["exec", "-b", "-batch"]), ..always(&["ip"], EXEC) },
];

impl Invocation<'_> {
    /// Reads a program from the table.
    pub(super) fn read_program(&mut self, program: &ProgramRule, words: &[ShellWord]) {
        if program.reads_commands {
            self.collector.add_command_reader(&words[0].text);
        }
        let applies = match program.when {
            RuleCondition::Always => true,
            RuleCondition::Never => false,
            RuleCondition::Options(short, long) => words[1..]
                .iter()
                .enumerate()
                .any(|(position, word)| has_option(program, position, word, short, long)),
            RuleCondition::Words(risky) => words[1..].iter().any(|word| {
                let start =
                    word.text.split_once('=').map_or(word.text.as_str(), |(start, _)| start);
                risky.contains(&start) || risky.contains(&start.replacen("--", "-", 1).as_str())
            }),
        };
        if let Some(option) = program.file_option {
            self.add_files_of_option(option, words);
        }
        if program.runs_file {
            let file = words[1..].iter().find(|word| !word.text.starts_with('-'));
            if let Some(file) = file {
                if !file.is_static() {
                    let name = make_visible_short(&words[0].text);
                    self.collector
                        .note_incomplete(format!("what {name} runs is known only when it runs"));
                }
                self.collector.add_script(&file.text);
            }
        }
        self.add_step(words, applies.then(|| program.why.to_owned()));
    }
}

impl Invocation<'_> {
    /// Adds the files after an option such as `-f`, in the same word or the next.
    pub(super) fn add_files_of_option(&mut self, option: &str, words: &[ShellWord]) {
        let name = make_visible_short(&words[0].text);
        for (position, word) in words.iter().enumerate() {
            let Some(attached) = word.text.strip_prefix(option) else { continue };
            let next = words.get(position + 1).map_or("-", |next| next.text.as_str());
            let file = if attached.is_empty() { next } else { attached };
            if file == "-" {
                self.collector.note_incomplete(format!("{name} takes its program from its input"));
            } else {
                self.collector.add_script(file);
            }
            let is_next_static = words.get(position + 1).is_none_or(ShellWord::is_static);
            if !word.is_static() || (attached.is_empty() && !is_next_static) {
                self.collector
                    .note_incomplete(format!("what {name} runs is known only when it runs"));
            }
        }
    }
}

/// Tells whether a word may be one of these options, perhaps among others or shortened.
fn has_option(
    program: &ProgramRule,
    position: usize,
    word: &ShellWord,
    short: &str,
    long: &[&str],
) -> bool {
    let text = word.text.as_str();
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    // Programs take a shortened name for an option, and longer names begin like listed ones.
    let is_like =
        |option: &str| name.starts_with(option) || (name.len() > 2 && option.starts_with(name));
    if long.iter().any(|option| is_like(option)) {
        return true;
    }
    // `tar` takes its first word for options, with or without a dash.
    let bare = position == 0 && program.names.contains(&"tar");
    let letters = match text.strip_prefix('-') {
        Some(letters) if !letters.starts_with('-') => letters,
        None if bare => text,
        _ => return false,
    };
    letters.contains(|letter| short.contains(letter))
}
