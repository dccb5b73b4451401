//! Installs a user service of systemd that runs `lango worker`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use tokio::process::Command;

use crate::{AppError, Home};

/// The name of the unit.
const UNIT: &str = "lango-worker.service";

/// The variables of the shell that decide which files Lango uses, and go into the unit.
const PASSED_VARIABLES: [&str; 5] =
    ["LANGO_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "PATH"];

/// A directory that exists where systemd runs.
const SYSTEMD_RUNS: &str = "/run/systemd/system";

/// The user service.
#[derive(Debug, Clone)]
pub struct UserService {
    /// The file of the unit.
    pub unit_file: PathBuf,
    environment_file: PathBuf,
    config_file: Option<PathBuf>,
}

/// What the service manager says about the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServiceState {
    /// It runs.
    Running,
    /// It is known and does not run; with the word of systemd.
    Stopped(String),
    /// The service manager cannot be asked, for this reason.
    Unreachable(String),
}

impl UserService {
    /// Returns the service of the current user.
    pub fn find(home: &Home) -> Result<Self, AppError> {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let config = set("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let config = config.or_else(|| Some(PathBuf::from(set("HOME")?).join(".config")));
        let config =
            config.ok_or_else(|| AppError::usage("there is no home directory: set HOME"))?;
        let usual = home.config_directory.join("config.toml");
        Ok(Self {
            unit_file: config.join("systemd/user").join(UNIT),
            environment_file: home.config_directory.join("worker.env"),
            config_file: (home.config_file != usual).then(|| home.config_file.clone()),
        })
    }

    /// Writes the text of the unit.
    pub fn render_unit(&self, workspace: Option<&Path>) -> Result<String, AppError> {
        let program = std::env::current_exe()?;
        let mut command = vec![quote(program.as_os_str())?];
        if let Some(config) = &self.config_file {
            command.extend(["--config".to_owned(), quote(config.as_os_str())?]);
        }
        command.push("worker".to_owned());
        if let Some(workspace) = workspace {
            let workspace = workspace.canonicalize()?;
            command.extend(["--workspace".to_owned(), quote(workspace.as_os_str())?]);
        }
        let mut environment = String::new();
        for name in PASSED_VARIABLES {
            if let Some(value) = std::env::var_os(name).filter(|value| !value.is_empty()) {
                let mut pair = std::ffi::OsString::from(name);
                pair.push("=");
                pair.push(value);
                // `$` has a meaning in the command alone.
                let pair = quote(&pair)?.replace("$$", "$");
                environment.push_str(&format!("Environment={pair}\n"));
            }
        }
        let file = self
            .environment_file
            .to_str()
            .filter(|path| is_plain(path))
            .map(|path| format!("EnvironmentFile=-{}\n", path.replace('%', "%%")));
        Ok(format!(
            "[Unit]\n\
             Description=Lango worker: jobs, background tasks and workflows\n\
             \n\
             [Service]\n\
             Type=exec\n\
             ExecStart={}\n\
             {environment}{}\
             Restart=on-failure\n\
             RestartSec=5\n\
             TimeoutStopSec=30\n\
             \n\
             [Install]\n\
             WantedBy=default.target\n",
            command.join(" "),
            file.unwrap_or_default(),
        ))
    }

    /// Writes the unit. It is not started yet.
    pub fn write_unit(&self, workspace: Option<&Path>) -> Result<(), AppError> {
        let text = self.render_unit(workspace)?;
        crate::home::write_private(&self.unit_file, &text)?;
        Ok(())
    }

    /// Starts the service now and at each sign-in. Returns why that is not possible.
    pub async fn start(&self) -> Result<(), String> {
        systemctl(&["daemon-reload"]).await?;
        systemctl(&["enable", UNIT]).await?;
        // One that runs gets its new unit.
        systemctl(&["restart", UNIT]).await.map(drop)
    }

    /// Asks for the state of the service.
    pub async fn state(&self) -> ServiceState {
        match run_systemctl(&["is-active", UNIT]).await {
            Err(reason) => ServiceState::Unreachable(reason),
            Ok((_, words, _)) if words == "active" => ServiceState::Running,
            Ok((_, words, errors)) if words.is_empty() => ServiceState::Unreachable(errors),
            Ok((_, words, _)) => ServiceState::Stopped(words),
        }
    }

    /// Stops the service and removes its unit. Returns false if there is none.
    pub async fn remove(&self) -> Result<bool, AppError> {
        if !self.unit_file.exists() {
            return Ok(false);
        }
        // Where systemd does not run, nothing has to be stopped.
        if let Err(reason) = systemctl(&["disable", "--now", UNIT]).await {
            tracing::debug!(reason, "the service was not stopped");
        }
        std::fs::remove_file(&self.unit_file)?;
        if let Err(reason) = systemctl(&["daemon-reload"]).await {
            tracing::debug!(reason, "systemd was not told");
        }
        Ok(true)
    }
}

/// Runs `systemctl --user`. Returns why it did not succeed.
async fn systemctl(arguments: &[&str]) -> Result<String, String> {
    let (is_done, words, errors) = run_systemctl(arguments).await?;
    if is_done { Ok(words) } else { Err(errors) }
}

async fn run_systemctl(arguments: &[&str]) -> Result<(bool, String, String), String> {
    if !Path::new(SYSTEMD_RUNS).is_dir() {
        return Err("systemd does not run on this system".to_owned());
    }
    let mut command = Command::new("systemctl");
    command.arg("--user").args(arguments).stdin(std::process::Stdio::null());
    let output = command.output().await.map_err(|error| format!("systemctl: {error}"))?;
    let text = |bytes: &[u8]| lango_text::to_one_line(&String::from_utf8_lossy(bytes), 300);
    Ok((output.status.success(), text(&output.stdout), text(&output.stderr)))
}

/// Quotes a word of a command as units have it.
fn quote(word: &OsStr) -> Result<String, AppError> {
    let text = word.to_str().filter(|text| is_plain(text));
    let text = text.ok_or_else(|| {
        let shown = lango_text::make_visible(&word.to_string_lossy());
        AppError::usage(format!("{shown} cannot stand in a unit of systemd"))
    })?;
    let escaped =
        text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    Ok(format!("\"{escaped}\""))
}

fn is_plain(text: &str) -> bool {
    !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_as_units_have_them() {
        let quoted = |word: &str| quote(OsStr::new(word)).unwrap();
        assert_eq!(quoted("/home/a b/lango"), "\"/home/a b/lango\"");
        assert_eq!(quoted("50%$HOME\\\""), "\"50%%$$HOME\\\\\\\"\"");
        assert!(quote(OsStr::new("a\nExecStart=b")).is_err());
    }
}
