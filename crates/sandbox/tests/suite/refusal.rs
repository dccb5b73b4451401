//! Tests machines that offer less than is required.

use lango_sandbox::{ConfinementLevel, LevelRequirement, SandboxError, SandboxPart};

use crate::workspace::TestWorkspace;

async fn refusal(workspace: &TestWorkspace) -> String {
    match workspace.try_run("echo ran > ran").await {
        Err(error @ SandboxError::Unavailable { .. }) => {
            assert!(workspace.names().is_empty());
            error.to_string()
        }
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test]
async fn less_than_asked_for_is_refused_with_what_to_type() {
    for (level, part, word) in [
        (ConfinementLevel::Bubblewrap, SandboxPart::Bubblewrap, "bubblewrap is missing"),
        (ConfinementLevel::Bubblewrap, SandboxPart::Seccomp, "seccomp"),
        (ConfinementLevel::Landlock, SandboxPart::Landlock, "Landlock is missing"),
        (ConfinementLevel::Landlock, SandboxPart::Seccomp, "seccomp"),
    ] {
        let text = refusal(&TestWorkspace::at(level).without(part)).await;
        assert!(
            text.contains(word) && text.contains("lango config set sandbox.level none"),
            "{text}"
        );
    }
}

#[tokio::test]
async fn auto_takes_the_strongest_and_never_none() {
    let mut workspace = TestWorkspace::at(ConfinementLevel::Bubblewrap);
    workspace.sandbox.requirement = LevelRequirement::Auto;
    assert_eq!(workspace.sandbox.level().unwrap(), ConfinementLevel::Bubblewrap);
    workspace = workspace.without(SandboxPart::Bubblewrap);
    assert_eq!(workspace.sandbox.level().unwrap(), ConfinementLevel::Landlock);
    workspace = workspace.without(SandboxPart::Landlock);
    let text = refusal(&workspace).await;
    assert!(
        text.contains("bubblewrap is missing") && text.contains("Landlock is missing"),
        "{text}"
    );
}

#[tokio::test]
async fn a_person_can_ask_for_none() {
    let workspace = TestWorkspace::at(ConfinementLevel::None)
        .without(SandboxPart::Bubblewrap)
        .without(SandboxPart::Landlock)
        .without(SandboxPart::Seccomp);
    workspace.prints("echo x > made && touch ../beside").await;
    assert_eq!(workspace.names(), ["made"]);
}

#[tokio::test]
async fn a_program_that_is_not_there_is_told_from_one_that_fails() {
    for level in [ConfinementLevel::Bubblewrap, ConfinementLevel::Landlock, ConfinementLevel::None]
    {
        let workspace = TestWorkspace::at(level);
        let mut job = workspace.job("");
        job.program = "/no/such/program".into();
        let job = workspace.sandbox.spawn(job).await.unwrap();
        let error = crate::workspace::finish(job).await.unwrap_err();
        assert!(matches!(error, SandboxError::Program { .. }), "{level}: {error}");
    }
}
