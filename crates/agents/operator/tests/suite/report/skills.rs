//! Tests the reports of skills.

use lango_operator::{OperatorSettings, Skills};
use lango_protocol::ReportDetails;
use lango_sandbox::{ConfinementLevel, LevelRequirement, Sandbox};
use serde_json::json;
use tempfile::TempDir;

use super::{parts, verbatim};
use crate::support::Bench;

const TIDY: &str = "---\nname: tidy\ndescription: Tidies up.\nallowed-tools: Read Write\n---\n\
                    Tidy up.\nThen rest.\n";
const GREET: &str = "---\nname: greet\ndescription: Greets.\nmetadata:\n  run: scripts/greet.sh\n\
                     ---\nGreets.\n";

async fn bench(directory: &TempDir) -> Bench {
    for (path, content) in [
        ("tidy/SKILL.md", TIDY),
        ("greet/SKILL.md", GREET),
        ("greet/scripts/greet.sh", "echo hello\n"),
    ] {
        let path = directory.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let skills = Skills::discover(&[directory.path().to_owned()]);
    assert_eq!(skills.problems, Vec::<String>::new());
    let sandbox = Sandbox {
        requirement: LevelRequirement::Exactly(ConfinementLevel::None),
        ..Sandbox::default()
    };
    Bench::with(OperatorSettings { skills, sandbox, ..OperatorSettings::default() }).await
}

#[tokio::test]
async fn a_skill_is_told_as_a_script_or_as_its_instructions() {
    let directory = tempfile::tempdir().unwrap();
    let bench = bench(&directory).await;
    for (tool, arguments) in [("skill_tidy", json!({})), ("skill_run", json!({"name": "tidy"}))] {
        let described = bench.description(tool, &arguments);
        assert_eq!(described.as_deref(), Some("Using the skill `tidy`"));
        let report = bench.report(tool, arguments).await;
        let summary = "The skill `tidy` consists of instructions:";
        let instructions = ReportDetails::Quoted("Tidy up.\nThen rest.".to_owned());
        let notes = vec!["It was written for the tools Read, Write."];
        assert_eq!(parts(&report), (summary, Some(&instructions), notes));
        assert_eq!(report.data, Some(json!({"name": "tidy", "files": ["SKILL.md"]})));
    }
    let report = bench.report("skill_run", json!({"name": "greet"})).await;
    let summary = "The skill `greet` ended with exit code 0:";
    assert_eq!(parts(&report), (summary, Some(&verbatim("hello\n")), vec![]));
}
