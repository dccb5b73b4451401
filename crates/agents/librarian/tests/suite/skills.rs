//! Tests the skills that the librarian writes: inactive until a person approves them.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use lango_librarian::skills::{ListedSkill, SkillDrafts, SkillSources};
use lango_tool::{SafetyLevel, ToolError};
use serde_json::{Value, json};

use crate::database::{call, new_holdings, tools};

pub(crate) fn skill_sources(place: &std::path::Path) -> SkillSources {
    let usable = ListedSkill {
        name: "deploy".into(),
        description: "Deploys.".into(),
        origin: "user".into(),
        state: "allowed".into(),
    };
    SkillSources {
        drafts: SkillDrafts { pending: place.join("pending"), own: place.join("own") },
        usable: Arc::new(move || vec![usable.clone()]),
    }
}

pub(crate) fn notes(name: &str) -> Value {
    json!({ "name": name, "description": "Writes notes.", "instructions": "Look at the log." })
}

#[tokio::test(flavor = "current_thread")]
async fn a_skill_waits_until_a_person_approves_it() {
    let directory = tempfile::tempdir().unwrap();
    let skills = skill_sources(directory.path());
    let tools = tools(&new_holdings(directory.path()).await, Some(skills.clone())).await;
    let tool = tools.get("create_skill").unwrap();
    assert_eq!((tool.level(), tool.read_only), (SafetyLevel::Dangerous, false));
    let scripted = json!({
        "name": "count-lines", "description": "Counts.", "script": "wc -l \u{202e}x"
    });
    let proposal = tool.prepare(&scripted.to_string()).unwrap().propose().unwrap();
    assert!(proposal.summary.contains("  | wc -l \\u{202e}x"), "{}", proposal.summary);
    let made = call(&tools, "create_skill", scripted).await.unwrap();
    assert_eq!(made["created"], "count-lines");
    assert!(made["next"].as_str().unwrap().contains("lango skills approve count-lines"));
    assert!(!directory.path().join("own").exists(), "nothing is where skills are looked for");
    call(&tools, "create_skill", notes("notes")).await.unwrap();
    let listed = call(&tools, "list_skills", json!({})).await.unwrap();
    let names: Vec<&str> =
        listed["skills"].as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["deploy", "count-lines", "notes"]);
    assert_eq!(listed["skills"][2]["description"], "Writes notes.");
    assert!(listed["skills"][2]["state"].as_str().unwrap().contains("inactive"));
    let seen = skills.drafts.read("count-lines").unwrap();
    assert_eq!(seen.files.len(), 2);
    let place = skills.drafts.approve(&seen).unwrap();
    let script = place.join("scripts/count-lines.sh");
    assert_eq!(std::fs::metadata(&script).unwrap().permissions().mode() & 0o777, 0o700);
    assert!(std::fs::read_to_string(place.join("SKILL.md")).unwrap().contains("name: count-lines"));
    assert_eq!(skills.drafts.list().unwrap().len(), 1);
    skills.drafts.discard("notes").unwrap();
    assert!(skills.drafts.list().unwrap().is_empty());
    assert!(skills.drafts.discard("notes").unwrap_err().to_string().contains("lango skills list"));
}

#[tokio::test(flavor = "current_thread")]
async fn nothing_is_overwritten_and_no_name_leads_out() {
    let directory = tempfile::tempdir().unwrap();
    let skills = skill_sources(directory.path());
    let tools = tools(&new_holdings(directory.path()).await, Some(skills.clone())).await;
    std::fs::create_dir_all(directory.path().join("own/mine")).unwrap();
    call(&tools, "create_skill", notes("twice")).await.unwrap();
    for name in ["deploy", "mine", "twice"] {
        let error = call(&tools, "create_skill", notes(name)).await.unwrap_err();
        assert!(error.to_string().contains("already"), "{name}: {error}");
    }
    for name in ["../evil", "a/b", "", "UPPER", "x--y", ".hidden"] {
        let error = call(&tools, "create_skill", notes(name)).await.unwrap_err();
        assert!(matches!(error, ToolError::Arguments(_)), "{name}: {error}");
        assert!(skills.drafts.read(name).is_err());
    }
    let neither = json!({ "name": "empty", "description": "x" });
    assert!(call(&tools, "create_skill", neither).await.is_err());
    // Only what was seen is approved, not a later change.
    let seen = skills.drafts.read("twice").unwrap();
    let file = directory.path().join("pending/twice/SKILL.md");
    std::fs::write(&file, "---\nname: twice\n---\nevil\n").unwrap();
    let error = skills.drafts.approve(&seen).unwrap_err();
    assert!(error.to_string().contains("changed"), "{error}");
    assert!(!directory.path().join("own/twice").exists());
}
