//! Tests how browsers start and end, and that nothing is left behind.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::reading::resident_megabytes;
use crate::site::Site;
use crate::support::{TEST_TIMEOUT, Tools};

/// Returns the processes whose command line mentions `text`, by id.
fn processes_with(text: &str) -> Vec<u32> {
    let ids = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let id: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let line = std::fs::read(format!("/proc/{id}/cmdline")).ok()?;
        // A zombie has no command line.
        String::from_utf8_lossy(&line).contains(text).then_some(id)
    });
    ids.collect()
}

/// Returns the directory of the browser whose keeper is `group`.
fn home_of(group: u32) -> PathBuf {
    let line = std::fs::read(format!("/proc/{group}/cmdline")).unwrap();
    let words: Vec<String> =
        line.split(|byte| *byte == 0).map(|w| String::from_utf8_lossy(w).into_owned()).collect();
    PathBuf::from(words.iter().find(|word| word.contains("lango-browser-")).unwrap())
}

async fn until_gone(home: &Path) {
    let gone = async {
        while home.exists() || !processes_with(home.to_str().unwrap()).is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let left = tokio::time::timeout(TEST_TIMEOUT, gone).await;
    assert!(left.is_ok(), "{:?} of {}", processes_with(home.to_str().unwrap()), home.display());
}

#[tokio::test]
async fn fifty_pages_leave_no_process_no_tab_and_no_memory_behind() {
    let site = Site::start().await;
    let tools = Tools::at(&[site.authority()]);
    let mut early = (0, 0);
    for number in 0..50 {
        let opened = tools.open(&site.url(&format!("/number?{number}"))).await.unwrap();
        assert!(opened.contains(&format!("Page /number?{number}")), "{opened}");
        let home = home_of(tools.navigator.list_process_groups().await[0]);
        let processes = processes_with(home.to_str().unwrap()).len();
        if number == 10 {
            early = (processes, resident_megabytes());
        }
        if number == 49 {
            let now = (processes, resident_megabytes());
            assert!(now.0 <= early.0 * 2, "processes: {early:?}, then {now:?}");
            assert!(now.1 <= early.1 * 2, "megabytes: {early:?}, then {now:?}");
            println!("processes and megabytes: {early:?}, then {now:?}");
        }
    }
    assert_eq!(tools.navigator.count_tabs().await, 1);
    let home = home_of(tools.navigator.list_process_groups().await[0]);
    assert!(home.exists() && processes_with(home.to_str().unwrap()).len() > 3);
    assert_eq!(tools.call("browser_close", json!({})).await.unwrap(), "Closed.");
    until_gone(&home).await;
    assert_eq!(tools.call("browser_close", json!({})).await.unwrap(), "No browser was open.");
    let error = tools.call("browser_read", json!({})).await.unwrap_err().to_string();
    assert!(error.contains("browser_navigate"), "{error}");
}

#[tokio::test]
async fn a_killed_browser_is_replaced_and_a_dropped_one_is_gone() {
    let site = Site::start().await;
    let tools = Tools::at(&[site.authority()]);
    tools.open(&site.url("/shop")).await.unwrap();
    let home = home_of(tools.navigator.list_process_groups().await[0]);
    let keeper = tools.navigator.list_process_groups().await[0];
    let reference = tools.reference("Add to basket").await;
    // The browser itself, not its keeper.
    let browser = processes_with(home.to_str().unwrap()).into_iter().find(|id| {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        status.contains(&format!("PPid:\t{keeper}\n"))
    });
    let id = i32::try_from(browser.unwrap()).unwrap();
    kill_process(Pid::from_raw(id).unwrap(), Signal::KILL).unwrap();
    until_gone(&home).await;

    // Calls that need the old page report it; a call that opens a page works.
    let error = tools.call("browser_click", json!({"ref": reference})).await.unwrap_err();
    assert!(error.to_string().contains("ended by itself"), "{error}");
    let opened = tools.open(&site.url("/shop")).await.unwrap();
    assert!(opened.contains("Green teapot"), "{opened}");
    let error = tools.call("browser_click", json!({"ref": reference})).await.unwrap_err();
    assert!(error.to_string().contains("not an element of the page any more"), "{error}");

    // Killed again, and the next call opens a page.
    let home = home_of(tools.navigator.list_process_groups().await[0]);
    let keeper = tools.navigator.list_process_groups().await[0];
    let group = Pid::from_raw(i32::try_from(keeper).unwrap()).unwrap();
    rustix::process::kill_process_group(group, Signal::KILL).unwrap();
    let opened = tools.open(&site.url("/shop")).await.unwrap();
    assert!(opened.contains("started again") && opened.contains("Green teapot"), "{opened}");
    until_gone(&home).await;

    // It is not closed: the tools are dropped.
    let home = home_of(tools.navigator.list_process_groups().await[0]);
    drop(tools);
    until_gone(&home).await;
}

#[tokio::test]
async fn sessions_are_apart_and_idle_browsers_end() {
    let site = Site::start().await;
    let tools = Tools::with(&[site.authority()], |settings| {
        settings.idle = Duration::from_secs(2);
        settings.browsers = 1;
    });
    tools.open(&site.url("/session")).await.unwrap();
    let account = tools.read("text").await;
    assert!(account.contains("Hello Ada"), "{account}");
    let home = home_of(tools.navigator.list_process_groups().await[0]);
    // Another session has other cookies, other references, and here takes the only slot.
    let reference = {
        tools.open(&site.url("/shop")).await.unwrap();
        tools.reference("Add to basket").await
    };
    let other = tools.as_another_session();
    let opened = other.open(&site.url("/account")).await.unwrap();
    assert!(opened.contains("Please sign in"), "{opened}");
    let other_home = home_of(other.navigator.list_process_groups().await[0]);
    let error = other.call("browser_click", json!({"ref": reference})).await.unwrap_err();
    assert!(error.to_string().contains("not an element of the page"), "{error}");
    until_gone(&home).await;
    // It is not used any more.
    until_gone(&other_home).await;
    let error = other.call("browser_read", json!({})).await.unwrap_err().to_string();
    assert!(error.contains("no page is open"), "{error}");
}

#[tokio::test]
async fn a_profile_that_is_kept_is_kept() {
    let site = Site::start().await;
    let directory = tempfile::tempdir().unwrap();
    let profile = directory.path().join("profile");
    for round in 0..2 {
        let kept = Some(profile.clone());
        let tools = Tools::with(&[site.authority()], |settings| settings.profile = kept);
        let opened = tools.open(&site.url("/scroll")).await.unwrap();
        assert!(opened.contains("Endless list"), "{round}: {opened}");
        tools.navigator.close().await;
        assert!(profile.join("Default").exists(), "{round}");
    }
}

#[tokio::test]
async fn a_browser_that_cannot_start_says_why() {
    use std::os::unix::fs::PermissionsExt as _;
    let began = SystemTime::now();
    let site = Site::start().await;
    let directory = tempfile::tempdir().unwrap();
    let program = |name: &str, text: &str, mode: u32| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    };
    let dead_display = "#!/bin/sh\necho 'Missing X server or $DISPLAY' >&2\nexit 1\n";
    for (path, expected) in [
        (directory.path().join("absent"), "navigator.chromium"),
        (program("plain", "#!/bin/sh\n", 0o644), "not executable"),
        (program("dead", dead_display, 0o755), "Missing X server"),
        (program("silent", "#!/bin/sh\nexit 0\n", 0o755), "ended at once"),
        (program("wrong", "\x7fELF not really", 0o755), "did not start"),
    ] {
        let configured = Some(path);
        let tools = Tools::with(&[site.authority()], |settings| settings.chromium = configured);
        let error = tools.open(&site.url("/shop")).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    }
    // The real one, with a window and without a display for it.
    let path = std::env::var_os("PATH");
    let real = lango_navigator::find_chromium(None, path.as_deref()).unwrap();
    let without_display =
        format!("#!/bin/sh\nexec env -u DISPLAY -u WAYLAND_DISPLAY '{}' \"$@\"\n", real.display());
    let program = program("headful", &without_display, 0o755);
    let tools = Tools::with(&[site.authority()], |settings| {
        (settings.chromium, settings.headless) = (Some(program), false);
    });
    let error = tools.open(&site.url("/shop")).await.unwrap_err().to_string();
    assert!(error.contains("ended at once. It said:") && error.contains("DISPLAY"), "{error}");
    // A profile cannot be created.
    let full = directory.path().join("plain").join("profile");
    let tools = Tools::with(&[site.authority()], |settings| settings.profile = Some(full));
    let error = tools.open(&site.url("/shop")).await.unwrap_err().to_string();
    assert!(error.contains("df -h"), "{error}");
    // None of them left a directory behind. The keepers check a few times, and are gone then.
    tokio::time::sleep(Duration::from_secs(7)).await;
    let left = || -> Vec<PathBuf> {
        let entries = std::fs::read_dir(std::env::temp_dir()).unwrap().filter_map(Result::ok);
        entries.map(|entry| entry.path()).filter(|path| is_ours(path, began)).collect()
    };
    let gone = async {
        while !left().is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    assert!(tokio::time::timeout(TEST_TIMEOUT, gone).await.is_ok(), "{:?}", left());
}

/// Tells whether this is the directory of a browser that was started since `began` and has no
/// process any more. Those of other tests are without one for a moment only.
fn is_ours(path: &Path, began: SystemTime) -> bool {
    let is_browser = path.to_string_lossy().contains("lango-browser-");
    let is_new = path.metadata().and_then(|m| m.modified()).is_ok_and(|time| time >= began);
    is_browser && is_new && processes_with(path.to_str().unwrap()).is_empty()
}
