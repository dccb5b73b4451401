//! Takes the Rust code out of `CONTRIBUTING.md`: a module for each section that shows some.

use std::path::PathBuf;
use std::{env, fs, io};

const GUIDE: &str = include_str!("../../CONTRIBUTING.md");

fn main() -> io::Result<()> {
    let directory = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    fs::write(directory.join("recipes.rs"), modules(GUIDE))
}

fn modules(guide: &str) -> String {
    let mut modules = String::new();
    let (mut name, mut code) = (String::new(), String::new());
    // The language of the block that a line is in.
    let mut language = None;
    for line in guide.lines() {
        match (language, line.strip_prefix("```")) {
            (None, Some(mark)) => language = Some(mark),
            (Some(_), Some(_)) => language = None,
            (Some("rust"), None) => code += &format!("{line}\n"),
            (Some(_), None) => {}
            (None, None) => {
                if let Some(heading) = line.strip_prefix("## ") {
                    modules += &module(&name, &code);
                    code.clear();
                    name = heading.to_lowercase();
                }
            }
        }
    }
    modules + &module(&name, &code)
}

fn module(heading: &str, code: &str) -> String {
    if code.is_empty() {
        return String::new();
    }
    let name = heading.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    let allow = "#[allow(dead_code, reason = \"a recipe is compiled and tested, and not used\")]";
    format!("{allow}\nmod {name} {{\n{code}}}\n")
}
