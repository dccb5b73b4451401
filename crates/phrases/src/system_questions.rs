//! Knows the commands that answer questions about the machine.

/// A question about the machine: all words of one group occur in it.
struct SystemQuestion {
    /// Groups of words; a group fits if all its words occur.
    groups: &'static [&'static [&'static str]],
    command: &'static str,
}

const QUESTIONS: &[SystemQuestion] = &[
    SystemQuestion {
        groups: &[
            &["disk", "space"],
            &["free", "space"],
            &["disk", "full"],
            &["storage", "left"],
            &["space", "left"],
            &["disk", "free"],
            &["disk", "usage"],
            &["room", "disk"],
            &["machine", "full"],
            &["drive", "full"],
            &["computer", "full"],
        ],
        command: "df -h",
    },
    SystemQuestion {
        groups: &[
            &["memory", "free"],
            &["free", "ram"],
            &["much", "ram"],
            &["memory", "left"],
            &["memory", "used"],
            &["ram", "left"],
            &["ram", "used"],
        ],
        command: "free -h",
    },
    SystemQuestion {
        groups: &[
            &["eating", "cpu"],
            &["using", "cpu"],
            &["hogging", "cpu"],
            &["cpu", "usage"],
            &["top", "processes"],
            &["processes", "running"],
            &["cpu", "load"],
            &["slow", "computer"],
            &["running", "processes"],
            &["eats", "cpu"],
        ],
        command: "ps aux --sort=-%cpu | head -n 15",
    },
    SystemQuestion {
        groups: &[
            &["eating", "memory"],
            &["using", "memory"],
            &["hogging", "memory"],
            &["eating", "ram"],
            &["using", "ram"],
        ],
        command: "ps aux --sort=-%mem | head -n 15",
    },
    SystemQuestion {
        groups: &[
            &["date", "today"],
            &["today's", "date"],
            &["todays", "date"],
            &["what", "time"],
            &["what", "hour"],
            &["which", "day"],
            &["what", "day"],
            &["current", "time"],
            &["time", "is"],
            &["current", "date"],
            &["date", "is"],
        ],
        command: "date",
    },
    SystemQuestion {
        groups: &[&["python", "version"], &["version", "python"], &["python", "installed"]],
        command: "python3 --version",
    },
    SystemQuestion { groups: &[&["git", "version"]], command: "git --version" },
    SystemQuestion {
        groups: &[&["node", "version"], &["node", "installed"]],
        command: "node --version",
    },
    SystemQuestion {
        groups: &[&["rust", "version"], &["rustc", "version"], &["cargo", "version"]],
        command: "rustc --version",
    },
    SystemQuestion {
        groups: &[&["git", "status"], &["uncommitted", "changes"]],
        command: "git status",
    },
    SystemQuestion {
        groups: &[&["git", "branch"], &["which", "branch"], &["what", "branch"]],
        command: "git branch --show-current",
    },
    SystemQuestion {
        groups: &[
            &["git", "log"],
            &["last", "commits"],
            &["last", "commit"],
            &["recent", "commits"],
            &["git", "history"],
        ],
        command: "git log --oneline -n 10",
    },
    SystemQuestion { groups: &[&["git", "diff"]], command: "git diff" },
    SystemQuestion {
        groups: &[
            &["operating", "system"],
            &["kernel", "version"],
            &["which", "linux"],
            &["os", "version"],
            &["what", "os"],
        ],
        command: "uname -a",
    },
    SystemQuestion {
        groups: &[&["how", "long", "up"], &["uptime"], &["been", "running", "computer"]],
        command: "uptime",
    },
    SystemQuestion {
        groups: &[&["who", "am", "i"], &["which", "user"], &["what", "user"], &["username"]],
        command: "whoami",
    },
    SystemQuestion { groups: &[&["ip", "address"], &["my", "ip"]], command: "ip addr" },
    SystemQuestion {
        groups: &[&["hostname"], &["name", "computer"], &["name", "machine"]],
        command: "hostname",
    },
    SystemQuestion {
        groups: &[
            &["listening", "port"],
            &["listening", "ports"],
            &["open", "ports"],
            &["listening", "on"],
            &["process", "port"],
            &["program", "port"],
            &["holding", "port"],
            &["using", "port"],
        ],
        command: "ss -ltn",
    },
    SystemQuestion {
        groups: &[&["how", "many", "cores"], &["cpu", "cores"], &["many", "cpus"]],
        command: "nproc",
    },
    SystemQuestion { groups: &[&["environment", "variables"], &["env", "vars"]], command: "env" },
    SystemQuestion {
        groups: &[
            &["where", "am", "i"],
            &["which", "directory"],
            &["current", "directory"],
            &["what", "directory"],
            &["working", "directory"],
        ],
        command: "pwd",
    },
];

/// Tells whether all words of a group stand near each other.
fn are_near(group: &[&str], words: &[&str]) -> bool {
    const MAX_WORDS_BETWEEN: usize = 6;
    let Some((first, others)) = group.split_first() else { return false };
    let places = |wanted: &str| {
        let wanted = wanted.to_owned();
        words.iter().enumerate().filter(move |(_, word)| **word == wanted).map(|(at, _)| at)
    };
    places(first).any(|at| {
        others.iter().all(|word| places(word).any(|other| other.abs_diff(at) <= MAX_WORDS_BETWEEN))
    })
}

/// Returns the command that answers a question with these words.
pub fn find_system_command(words: &[&str]) -> Option<&'static str> {
    let fits =
        |question: &&SystemQuestion| question.groups.iter().any(|group| are_near(group, words));
    QUESTIONS.iter().find(fits).map(|question| question.command)
}

/// Tells whether a command is one of the fixed list.
pub fn is_fixed_command(command: &str) -> bool {
    QUESTIONS.iter().any(|question| question.command == command)
}
