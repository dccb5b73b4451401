//! Recognises shell commands that were typed as they are: "git log --oneline -5".

use super::file_names::FileNames;
use super::words::RequestWords;

/// Programs whose names are hardly ever the first word of an English request.
#[rustfmt::skip]
const PROGRAMS: &[&str] = &[
    "ls", "ll", "cat", "grep", "egrep", "rg", "head", "tail", "wc", "mv", "cp", "rm", "mkdir",
    "rmdir", "touch", "chmod", "chown", "ln", "df", "du", "ps", "top", "free", "uptime", "whoami",
    "hostname", "uname", "id", "pwd", "env", "printenv", "echo", "printf", "awk", "sed", "sort",
    "uniq", "cut", "tr", "xargs", "find", "fd", "tar", "zip", "unzip", "gzip", "gunzip", "curl",
    "wget", "ping", "dig", "ss", "netstat", "lsof", "kill", "git", "make", "cargo", "rustc", "npm",
    "npx", "yarn", "pnpm", "node", "python", "python3", "pip", "pip3", "pytest", "go", "gcc",
    "docker", "kubectl", "systemctl", "journalctl", "ssh", "scp", "rsync", "date", "cal", "which",
    "whereis", "file", "stat", "tree", "diff", "less", "more", "nl", "tee", "test", "true",
    "false", "sleep", "seq", "for", "while", "if", "export", "bash", "sh", "java", "ruby", "perl",
    "php", "terraform", "helm", "ansible", "sqlite3", "psql", "sha256sum", "md5sum", "base64",
    "xxd", "jq", "column", "history", "lsblk", "mount", "ip", "ifconfig", "nproc", "lscpu",
    "vmstat", "truncate", "cd", "basename", "dirname", "realpath", "readlink", "bc", "expr",
];

/// Programs that are also English words: more has to look like a command.
const ENGLISH: &[&str] = &[
    "find", "make", "kill", "sort", "cut", "file", "test", "which", "date", "touch", "head",
    "tail", "top", "free", "go", "history", "if", "for", "while", "more", "less", "export",
    "sleep", "echo", "mount", "expr", "cat", "column", "node", "tree", "split", "diff", "stat",
    "ping", "which", "true", "false", "truncate", "tee", "id", "ip", "seq",
];

/// Words that a command line does not have.
#[rustfmt::skip]
const PROSE: &[&str] = &[
    "the", "my", "please", "plz", "pls", "me", "i", "you", "it", "that", "this", "is", "are", "a",
    "an", "of", "which", "what", "with", "into", "your", "our", "we", "thanks", "where", "about",
    "every", "everything", "can", "could", "just", "only", "whatever", "or", "then", "to", "but",
    "complains", "says", "because", "job",
    "not", "keep", "in", "them", "how", "many", "all",
];

/// Says what a typed command line is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CommandLine {
    /// To be run as it is.
    Run(String),
    /// To be kept running.
    Background(String),
}

/// Words that may stand around a command.
#[rustfmt::skip]
const BEFORE: &[&str] = &[
    "run this command:", "execute this command:", "run this:", "run the command", "please run",
    "can you run", "could you run", "run", "execute", "exec", "i want execute this command:",
    "i want to run", "i want to execute", "do", "$", "try", "just run", "now run", "run it:",
    "pls run", "plz run", "go ahead and run", "can you execute", "please execute", "start",
];
#[rustfmt::skip]
const AFTER: &[&str] = &[
    "please", "plz", "pls", "for me", "this one please run it", "please run it", "run it",
    "run this", "now", "thanks", "please run this", "this one please run",
];
const BACKGROUND: &[&str] =
    &["in the background", "in background", "in the bg", "in bg", "detached"];

/// Reads a command line that was typed as it is.
pub(crate) fn read_command(text: &str, files: &FileNames<'_>) -> Option<CommandLine> {
    let text = text.trim();
    if text.contains('\n') {
        return None;
    }
    let (bare, said_run) = strip_around(text);
    let (bare, background) = strip_background(bare);
    let bare = bare.trim();
    // "check with ss -ltn", "run `make`"
    let quoted = crate::arguments::find_quotations(text)
        .into_iter()
        .filter(|quotation| text[quotation.whole.clone()].starts_with('`'))
        .map(|quotation| text[quotation.inside].trim())
        .next();
    let command = match quoted {
        Some(quoted) if said_run || says_run(text) => quoted,
        Some(_) => return None,
        None => bare,
    };
    let is_command = is_command_line(command, said_run, files);
    if !is_command {
        return None;
    }
    let command = command.to_owned();
    Some(if background { CommandLine::Background(command) } else { CommandLine::Run(command) })
}

fn says_run(text: &str) -> bool {
    RequestWords::of(text).has_any(&["run", "execute", "exec", "running"])
}

fn strip_around(text: &str) -> (&str, bool) {
    let lower = text.to_lowercase();
    let mut start = 0;
    let mut said_run = false;
    // The longest beginning first.
    let mut beginnings: Vec<&&str> = BEFORE.iter().collect();
    beginnings.sort_by_key(|words| std::cmp::Reverse(words.len()));
    if lower.len() == text.len()
        && let Some(words) = beginnings.iter().find(|words| {
            lower.starts_with(***words) && lower[words.len()..].starts_with([' ', ':', '\t'])
        })
    {
        start = words.len();
        said_run = true;
    }
    let mut bare = text[start..].trim_start_matches([' ', ':']);
    loop {
        let lower = bare.to_lowercase();
        if lower.len() != bare.len() {
            break;
        }
        let Some(end) = AFTER.iter().find(|words| {
            lower.ends_with(**words) && lower[..lower.len() - words.len()].ends_with([' ', ','])
        }) else {
            break;
        };
        if end.contains("run") {
            said_run = true;
        }
        bare = bare[..bare.len() - end.len()].trim_end_matches([' ', ',']);
    }
    (bare, said_run)
}

fn strip_background(text: &str) -> (&str, bool) {
    let lower = text.to_lowercase();
    match BACKGROUND.iter().find(|words| lower.ends_with(**words)) {
        Some(words) if lower.len() == text.len() => {
            (text[..text.len() - words.len()].trim_end_matches([' ', ',']), true)
        }
        _ => (text, false),
    }
}

/// Tells whether a word is one of English prose, such as "there's".
fn is_contraction(word: &str) -> bool {
    let lower = word.to_lowercase().replace('’', "'");
    ["there's", "that's", "it's", "isn't", "won't", "doesn't", "can't", "don't", "i'm", "we're"]
        .contains(&lower.as_str())
}

/// Tells whether a text looks like a command line.
fn is_command_line(text: &str, said_run: bool, files: &FileNames<'_>) -> bool {
    let mut words = text.split_whitespace();
    let Some(program) = words.next() else { return false };
    let rest: Vec<&str> = words.collect();
    let is_local = program.starts_with("./") && program.len() > 2;
    if !PROGRAMS.contains(&program) && !is_local {
        return false;
    }
    let is_loop = matches!(program, "for" | "while" | "if");
    let plain = |word: &&&str| {
        !is_loop && PROSE.contains(&word.to_lowercase().trim_end_matches([',', '.', '?', '!']))
    };
    let has_shape = rest.iter().any(|word| {
        word.starts_with('-') && word.len() > 1
            || word.starts_with(['|', '>', '<', '&', '$'])
            || word.contains(['*', '='])
    }) || text.contains(['|', ';', '>'])
        || text.contains("$(");
    let prose = rest.iter().filter(plain).count();
    // A quotation may hold any words.
    let has_contraction = rest.iter().any(|word| is_contraction(word));
    if has_contraction || prose > 0 && !text.contains(['"', '\'']) {
        return false;
    }
    let has_quotes = text.contains(['"', '\'']);
    let is_enumeration = !has_quotes
        && rest.iter().any(|word| !word.starts_with('-') && word.ends_with([',', '?', '!']));
    if text.trim_end().ends_with('?')
        || is_enumeration && !matches!(program, "awk" | "for" | "echo")
    {
        return false;
    }
    if has_shape || is_local {
        return true;
    }
    if ENGLISH.contains(&program) {
        // One word is a command where nothing else is meant by it; with operands they have to exist.
        let exists = |word: &&str| files.kind_of(word).is_some() || word.contains('/');
        return match rest.as_slice() {
            [] => {
                matches!(program, "date" | "free" | "top" | "history" | "id" | "tree")
                    || said_run && program != "file"
            }
            operands => {
                let are_names = operands.len() <= 3
                    && operands.iter().any(exists)
                    && operands.iter().all(|word| exists(word) || word.contains('.'));
                said_run && !matches!(program, "find" | "cat")
                    || are_names
                    || matches!(program, "make" | "cargo" | "node")
                        && operands.len() == 1
                        && operands[0].chars().all(|c| c.is_ascii_lowercase())
                    || matches!(program, "echo" | "sleep" | "ping" | "seq")
            }
        };
    }
    true
}

#[cfg(test)]
mod tests;
