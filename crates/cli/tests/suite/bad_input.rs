//! Files, variables and addresses that cannot be used: a clear message, what to type next, the
//! right exit code, and nothing lost.

use lango_store::{Batch, Database, DatabaseLocation, Statement};

use crate::fixture::Lango;
use crate::invocation::{CommandOutput, Invocation};

const HELLO: &str = "[[reply]]\nsay = \"Hello.\"\n";

/// Runs what must be refused as wrong usage, with these words.
async fn refused(invocation: Invocation<'_>, words: &[&str]) -> CommandOutput {
    let finished = invocation.run().await;
    assert_eq!((finished.code, finished.stdout.as_str()), (2, ""), "{}", finished.stderr);
    assert!(finished.stderr.starts_with("lango: "), "{}", finished.stderr);
    for word in words {
        assert!(finished.stderr.contains(word), "{word}: {}", finished.stderr);
    }
    finished
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_that_cannot_be_used_is_named_with_the_place_and_left_alone() {
    let cases: [(&[u8], &[&str]); 6] = [
        (b"[agent\nmultiAgent = true\n", &["not valid TOML", "line 1", "lango config schema"]),
        (b"[agent]\nname = \"\xff\"\n", &["not UTF-8", "ls -l"]),
        (b"[agent]\nmultiAgent = \"yes\"\n", &["agent.multiAgent", "lango config schema"]),
        (b"[agent]\nmulti_agent = true\n", &["did you mean \"agent.multiAgent\"?"]),
        (b"[agents]\ntopology = \"compact\"\n", &["did you mean \"agent.topology\"?"]),
        (b"[budget]\nseconds = -1\n", &["budget.seconds", "lango config schema"]),
    ];
    for (text, words) in cases {
        let lango = Lango::playing(&[HELLO]).await;
        std::fs::write(lango.config_file(), text).unwrap();
        let file = lango.config_file();
        refused(lango.command(&["run", "hello"]), words).await;
        let told = refused(lango.command(&["agents", "list"]), words).await.stderr;
        assert!(told.contains(file.to_str().unwrap()), "{told}");
        assert_eq!(std::fs::read(&file).unwrap(), text);
        assert!(lango.requests().is_empty() && !lango.database_file().exists());
        let doctor = lango.command(&["doctor"]).run().await;
        assert_eq!(doctor.code, 1, "the doctor still works");
        assert!(doctor.stdout.contains("bad   configuration"), "{}", doctor.stdout);
        assert_eq!(lango.command(&["config", "path"]).run().await.code, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_in_the_place_of_the_configuration_is_refused() {
    let lango = Lango::playing(&[HELLO]).await;
    std::fs::create_dir(lango.config_file()).unwrap();
    refused(lango.command(&["run", "hello"]), &["cannot read", "ls -l"]).await;
    refused(lango.command(&["config", "set", "agent.topology", "compact"]), &["ls -l"]).await;
    assert!(lango.config_file().is_dir());
}

#[tokio::test(flavor = "multi_thread")]
async fn variables_that_cannot_be_used_are_named() {
    let lango = Lango::playing(&[HELLO]).await;
    // A variable that is none of ours may belong to another version.
    let unknown = lango.command(&["run", "hello"]).set("LANGO_AGENT_TOPOLGY", "compact");
    let warned = unknown.set("LANGO_TOKEN", "a token for curl").run().await;
    assert_eq!((warned.code, warned.stdout.as_str()), (0, "Hello.\n"), "{}", warned.stderr);
    for words in
        ["warning: the variable LANGO_AGENT_TOPOLGY", "did you mean \"LANGO_AGENT_TOPOLOGY\"?"]
    {
        assert!(warned.stderr.contains(words), "{}", warned.stderr);
    }
    assert!(!warned.stderr.contains("LANGO_TOKEN"), "{}", warned.stderr);
    let asked = lango.requests().len();
    let wrong = lango.command(&["run", "hello"]).set("LANGO_BUDGET_SECONDS", "soon");
    refused(wrong, &["budget.seconds", "LANGO_BUDGET_SECONDS"]).await;
    let hot = lango.command(&["run", "hello"]).set("LANGO_MODEL_TEMPERATURE", "5");
    refused(hot, &["model.temperature", "from 0 to 2"]).await;
    assert_eq!(lango.requests().len(), asked);
}

#[tokio::test(flavor = "multi_thread")]
async fn variables_that_are_not_text_harm_only_what_they_are_for() {
    use std::os::unix::ffi::OsStrExt;

    let bytes = std::ffi::OsStr::from_bytes(b"\xff\xfe");
    let lango = Lango::playing(&[HELLO]).await;
    let other = lango.command(&["run", "hello"]).set("OTHER_VARIABLE", bytes).run().await;
    assert_eq!((other.code, other.stdout.as_str()), (0, "Hello.\n"), "{}", other.stderr);
    let ours = lango.command(&["run", "hello"]).set("LANGO_BUDGET_SECONDS", bytes);
    refused(ours, &["LANGO_BUDGET_SECONDS"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_and_topologies_that_cannot_be_read_are_named() {
    let lango = Lango::playing(&[HELLO]).await;
    lango.file("agents/extra.md", "---\nname: extra\ndescription: x\nprefixs: [x_]\n---\nWork.\n");
    let run = || lango.command(&["run", "hello"]);
    let misspelt = run().set("LANGO_AGENT_AGENTSDIR", lango.path("agents"));
    refused(misspelt, &["extra.md", "unknown field \"prefixs\"", "did you mean \"prefixes\"?"])
        .await;
    let missing = run().set("LANGO_AGENT_AGENTSDIR", lango.path("nowhere"));
    refused(missing, &["agent.agentsDir", "nowhere"]).await;
    let unknown = run().with(&["--topology", "standart"]);
    refused(unknown, &["\"standart\"", "standard", "compact"]).await;
    let empty = lango.path("empty");
    std::fs::create_dir(&empty).unwrap();
    refused(run().with(&["--topology", empty.to_str().unwrap()]), &["add at least one agent"])
        .await;
    let workspace = run().with(&["--workspace", "/nowhere/at/all"]);
    refused(workspace, &["/nowhere/at/all"]).await;
    assert!(lango.requests().is_empty());
}

/// Changes the version that the database says it has.
async fn change_version(lango: &Lango, by: i64) {
    let location = DatabaseLocation::Sqlite(lango.database_file());
    let database = Database::open(&location).await.unwrap();
    let statement = Statement::new(
        "UPDATE schema_versions SET version = version + $1 WHERE component = 'journal'",
    )
    .bind(by);
    database.write(Batch::from(statement.expect_rows(1))).await.unwrap();
    database.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_a_newer_version_is_refused_and_left_alone() {
    let lango = Lango::playing(&[HELLO]).await;
    lango.ask("hello").with(&["--session", "work"]).turn().await;
    let export = lango.command(&["sessions", "export", "work"]).run().await.stdout;
    change_version(&lango, 9000).await;
    let before = std::fs::read(lango.database_file()).unwrap();
    let words = ["newer lango", "version 900", "Upgrade lango"];
    refused(lango.command(&["run", "hello"]), &words).await;
    refused(lango.command(&["sessions", "list"]), &words).await;
    assert!(std::fs::read(lango.database_file()).unwrap() == before, "the file has changed");
    change_version(&lango, -9000).await;
    assert_eq!(lango.command(&["sessions", "export", "work"]).run().await.stdout, export);
    assert_eq!(lango.requests().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_not_a_database_is_refused_and_left_alone() {
    let diary = "Dear diary, this is not a database. ".repeat(200);
    let lango = Lango::playing(&[HELLO]).await;
    std::fs::write(lango.database_file(), &diary).unwrap();
    let words = ["not a lango database", "lango doctor --repair"];
    refused(lango.command(&["run", "hello"]), &words).await;
    refused(lango.command(&["sessions", "list"]), &words).await;
    assert_eq!(std::fs::read_to_string(lango.database_file()).unwrap(), diary);
    let doctor = lango.command(&["doctor"]).run().await;
    assert_eq!(doctor.code, 1);
    assert!(doctor.stdout.contains("bad   database"), "{}", doctor.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_home_that_cannot_be_written_is_refused() {
    let lango = Lango::playing(&[HELLO]).await;
    let run = lango.command(&["run", "hello"]).set("LANGO_HOME", "/proc/nope");
    refused(run, &["/proc/nope", "LANGO_HOME"]).await;
    let set = lango.command(&["config", "set", "agent.topology", "compact"]);
    refused(set.set("LANGO_HOME", "/proc/nope"), &["cannot write", "/proc/nope"]).await;
    let database = lango.command(&["run", "hello"]).set("LANGO_DATABASE_URL", "mysql://x/y");
    refused(database, &["postgres://user@host/database"]).await;
    assert!(lango.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_named_model_that_no_provider_has_is_refused_with_the_ways_to_get_one() {
    let lango = Lango::silent().await;
    let finished = lango.bare(&["run", "hello", "--model", "gigantic"]).run().await;
    assert_eq!((finished.code, finished.stdout.as_str()), (4, ""));
    for words in ["\"gigantic\"", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL=", "--model embedded"] {
        assert!(finished.stderr.contains(words), "{words}: {}", finished.stderr);
    }
    assert!(!lango.database_file().exists(), "nothing was begun");
    let unknown = lango.command(&["run", "hello"]).set("LANGO_MODEL_PROVIDER", "locl");
    refused(unknown, &["no provider \"locl\"", "lango config set providers.locl.baseUrl URL"])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_listen_ends_the_turn_and_the_message_is_kept() {
    let lango = Lango::silent().await;
    let turn = lango.ask("hello").set("OPENAI_BASE_URL", "http://127.0.0.1:1/v1").turn().await;
    assert_eq!((turn.code, turn.class().as_str(), turn.author()), (4, "provider", "lango"));
    assert!(
        turn.answer().contains("cannot be reached at http://127.0.0.1:1/v1/"),
        "{}",
        turn.answer()
    );
    assert!(turn.answer().contains("lango models test openai"), "{}", turn.answer());
    let shown = lango.command(&["sessions", "show", turn.events[0].session.as_str()]).run().await;
    assert!(shown.stdout.contains("user: hello"), "{}", shown.stdout);
    let odd = lango.command(&["run", "hello"]).set("OPENAI_BASE_URL", "not a url").run().await;
    assert_eq!(odd.code, 4);
    assert!(odd.stderr.contains("not a url"), "{}", odd.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_is_missing_or_not_valid_is_refused() {
    let lango = Lango::silent().await;
    let run = |model: &str| lango.command(&["run", "hello", "--model", model]);
    refused(run("script:/nowhere.toml"), &["/nowhere.toml", "lango demo"]).await;
    let misspelt = lango.file("misspelt.toml", "[[reply]]\nsays = \"hello\"\n");
    refused(run(&format!("script:{misspelt}")), &["misspelt.toml", "unknown field `says`"]).await;
    let mute = lango.file("mute.toml", "[[reply]]\nagent = \"operator\"\n");
    refused(run(&format!("script:{mute}")), &["reply 1 says, calls and breaks nothing"]).await;
    let good = lango.file("good.toml", HELLO);
    let finished = run(&format!("script:{good}")).run().await;
    assert_eq!((finished.code, finished.stdout.as_str()), (0, "Hello.\n"));
}
