//! Tests a process that is killed repeatedly while it observes and reflects.

use std::process::{Command, Stdio};
use std::time::Duration;

use lango_store::DatabaseLocation;

use crate::samples::{Home, session};

/// Sets the number of statements, each of which is searched for.
const FACTS: usize = 60;

pub(crate) async fn nothing_is_observed_twice_or_lost_when_the_process_is_killed(
    location: DatabaseLocation,
) {
    let home = Home::at(&location).await;
    let work = session("work");
    for number in 0..FACTS {
        let fact =
            format!("My colleague number {number} works on project P{number} in room R{number}.");
        home.play(&work, &[&fact]).await;
    }
    let address = match &location {
        DatabaseLocation::Sqlite(path) => path.display().to_string(),
        DatabaseLocation::Postgres(url) => url.clone(),
    };
    let mut killed = 0;
    for round in 0..40_u64 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lango-chronicler-worker"))
            .args([&address, "work"])
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        tokio::time::sleep(Duration::from_millis(15 + round * 17 % 120)).await;
        if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            killed += 1;
        }
        child.wait().unwrap();
        home.assert_sound().await;
    }
    assert!(killed > 0, "it was never killed while it worked");
    home.work(&work).await;
    home.chronicler()
        .observe_now(&work, &tokio_util::sync::CancellationToken::new())
        .await
        .unwrap();
    home.assert_sound().await;
    let observations = home.memory.list_observations(Some(&work), 1000).await.unwrap();
    for number in 0..FACTS {
        let of = |text: &str| text.contains(&format!("number {number} "));
        let times = observations.iter().filter(|o| of(&o.content)).count();
        assert_eq!(times, 1, "number {number} was observed {times} times, {killed} kills");
    }
    let condensed: Vec<String> = home
        .memory
        .list_reflections(Some(&work), 1000)
        .await
        .unwrap()
        .into_iter()
        .flat_map(|reflection| reflection.sources)
        .collect();
    let mut once = condensed.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), condensed.len(), "an observation was condensed twice");
}
