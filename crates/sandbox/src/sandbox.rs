//! Starts jobs as confined processes.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::process::Stdio;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tokio::process::Command;
use tokio::runtime::Handle;

use crate::bubblewrap;
use crate::capabilities::{Capabilities, Part};
use crate::confined::ConfinedProcess;
use crate::error::SandboxError;
use crate::grants;
use crate::helper::{Filter, HELPER_ARGUMENT, Order, limits_for};
use crate::job::{Job, Network};
use crate::launch;
use crate::level::{Level, Requirement};
use crate::plan::Plan;
use crate::residue::Residue;

/// The socket families of the Internet, and the one that queries the kernel about it.
const INTERNET: [libc::c_int; 3] = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// Starts jobs with the required confinement.
#[derive(Debug, Clone, Default)]
pub struct Sandbox {
    /// The level that the configuration requires.
    pub requirement: Requirement,
    /// Parts of the machine that are treated as missing.
    pub without: Vec<Part>,
    /// The helper program; this program if none is set.
    pub helper: Option<PathBuf>,
}

impl Sandbox {
    /// Returns the machine's capabilities, except for the parts that are treated as missing. The
    /// first call takes some milliseconds.
    pub fn capabilities(&self) -> Cow<'static, Capabilities> {
        let found = Capabilities::probe();
        if self.without.is_empty() {
            Cow::Borrowed(found)
        } else {
            Cow::Owned(found.without(&self.without))
        }
    }

    /// Returns the level of the jobs.
    pub fn level(&self) -> Result<Level, SandboxError> {
        self.requirement.level(&self.capabilities())
    }

    /// Starts a job. If this fails, the job had no effect.
    pub async fn spawn(&self, job: Job) -> Result<ConfinedProcess, SandboxError> {
        let (sandbox, runtime) = (self.clone(), Handle::current());
        launch::run_on_launcher(move || {
            let _entered = runtime.enter();
            sandbox.start(job)
        })
        .await?
    }

    fn start(&self, mut job: Job) -> Result<ConfinedProcess, SandboxError> {
        let capabilities = self.capabilities();
        let level = self.requirement.level(&capabilities)?;
        let mut plan = Plan::make(&job)?;
        // Dropped without a cleanup if a later step fails; then the group is empty, and
        // placeholders are recognized the next time.
        let mut residue = Residue::default();
        let started = self.start_planned(level, &capabilities, &mut plan, &mut residue, &mut job);
        match started {
            Ok(mut confined) => {
                confined.residue = Some(residue);
                Ok(confined)
            }
            Err(error) => {
                residue.clear();
                Err(error)
            }
        }
    }

    fn start_planned(
        &self,
        level: Level,
        capabilities: &Capabilities,
        plan: &mut Plan,
        residue: &mut Residue,
        job: &mut Job,
    ) -> Result<ConfinedProcess, SandboxError> {
        let helper = self.helper_path()?;
        let temporary = temporary(level, residue)?;
        // Without control groups the limits hold for each process; the report says so.
        let hierarchies = capabilities.cgroup.as_ref().ok();
        let mut passed = PassedDescriptors::default();
        let mut groups = Vec::new();
        if let Some(hierarchies) = hierarchies {
            let making = || SandboxError::setup("control group");
            let group =
                residue.group.insert(hierarchies.make(&job.bounds.limits).map_err(making())?);
            let entrances = group.entrances().map_err(making())?;
            groups.extend(entrances.into_iter().map(|entrance| passed.add(entrance.into())));
        }
        let (report, report_inside) = pipe(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        let report_inside = passed.add(report_inside);
        let (lifeline, lifeline_inside) = match level {
            Level::Bubblewrap => (None, None),
            Level::Landlock | Level::None => {
                let (inside, outside) = pipe(PipeFlags::CLOEXEC)?;
                (Some(outside), Some(passed.add(inside)))
            }
        };
        let has_landlock = capabilities.landlock.is_ok();
        let rules = match level {
            Level::Bubblewrap => has_landlock.then(|| grants::rules_behind_mounts(plan)),
            Level::Landlock => Some(grants::rules_without_mounts(plan, &temporary)),
            Level::None => None,
        };
        let mut environment = std::mem::take(&mut job.environment);
        environment.retain(|(name, _)| name != "TMPDIR");
        environment.push(("TMPDIR".into(), temporary.clone().into()));
        let order = Order {
            program: job.program.clone(),
            arguments: std::mem::take(&mut job.arguments),
            environment,
            directory: job.directory.clone().into(),
            limits: limits_for(&job.bounds.limits, level, hierarchies),
            rules,
            filter: filter(level, job.bounds.network),
            groups,
            report: report_inside,
            lifeline: lifeline_inside,
        };
        let order = serde_json::to_vec(&order)
            .map_err(|error| SandboxError::Setup { step: "order", reason: error.to_string() })?;
        let order = passed.add(memory("lango-order", &order)?).to_string();
        let mut command = match level {
            Level::Bubblewrap => {
                residue.placeholders =
                    plan.occupy().map_err(SandboxError::setup("protected names"))?;
                let program = capabilities
                    .bubblewrap
                    .clone()
                    .map_err(|reason| SandboxError::Setup { step: "bubblewrap", reason })?;
                let options = bubblewrap::options(job, plan, &helper, &mut |file| passed.add(file))
                    .map_err(SandboxError::setup("places"))?;
                let options =
                    passed.add(memory("lango-sandbox", &separated(&options))?).to_string();
                let (information, information_inside) =
                    pipe(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
                residue.information = Some(information.into());
                let information = passed.add(information_inside).to_string();
                let mut command = Command::new(program);
                command.args([
                    "--info-fd",
                    &information,
                    "--args",
                    &options,
                    "--",
                    bubblewrap::HELPER,
                ]);
                command
            }
            Level::Landlock | Level::None => Command::new(&helper),
        };
        command
            .args([HELPER_ARGUMENT, &order])
            // The job's own environment goes to the program alone: some variables can make any
            // program do anything, and these two are not confined yet.
            .env_clear()
            .current_dir("/")
            .stdin(std::mem::replace(&mut job.stdin, Stdio::null()))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = passed.spawn(&mut command)?;
        // A process that is gone already cannot be opened, and need not be ended.
        residue.first = child
            .id()
            .and_then(|id| Pid::from_raw(id.cast_signed()))
            .and_then(|id| pidfd_open(id, PidfdFlags::empty()).ok());
        Ok(ConfinedProcess {
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            child,
            program: job.program.to_string_lossy().into_owned(),
            report: report.into(),
            report_bytes: Vec::new(),
            lifeline,
            is_supervised: level != Level::Bubblewrap,
            residue: None,
            clearing: None,
        })
    }

    fn helper_path(&self) -> Result<PathBuf, SandboxError> {
        match &self.helper {
            Some(helper) => Ok(helper.clone()),
            None => std::env::current_exe().map_err(SandboxError::setup("own program")),
        }
    }
}

/// Returns the job's own directory for temporary files.
fn temporary(level: Level, residue: &mut Residue) -> Result<PathBuf, SandboxError> {
    if level == Level::Bubblewrap {
        return Ok(PathBuf::from(bubblewrap::TEMPORARY));
    }
    let making = || SandboxError::setup("temporary directory");
    let above = std::env::temp_dir().canonicalize().map_err(making())?;
    for number in 0..u32::MAX {
        let path = above.join(format!("lango-{}-{number}", std::process::id()));
        match std::fs::DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            made => {
                made.map_err(making())?;
                residue.temporary = Some(path.clone());
                return Ok(path);
            }
        }
    }
    Err(SandboxError::Setup {
        step: "temporary directory",
        reason: "all names are taken".to_owned(),
    })
}

fn filter(level: Level, network: Network) -> Option<Filter> {
    let families: &[&[libc::c_int]] = match (level, network) {
        // Inside, only processes of the same job can be reached.
        (Level::Bubblewrap, _) => &[&INTERNET, &[libc::AF_UNIX]],
        (Level::Landlock, Network::On) => &[&INTERNET],
        (Level::Landlock, Network::Off) => &[],
        (Level::None, _) => return None,
    };
    let families = families.concat().into_iter().map(libc::c_int::unsigned_abs).collect();
    Some(Filter { families, shares_processes: level != Level::Bubblewrap })
}

fn pipe(flags: PipeFlags) -> Result<(OwnedFd, OwnedFd), SandboxError> {
    pipe_with(flags).map_err(SandboxError::setup_errno("pipe"))
}

/// Creates a file that is not in the file system.
fn memory(name: &str, content: &[u8]) -> Result<OwnedFd, SandboxError> {
    let file = memfd_create(name, MemfdFlags::CLOEXEC)
        .map_err(SandboxError::setup_errno("memory file"))?;
    let mut file = File::from(file);
    file.write_all(content)
        .and_then(|()| std::io::Seek::rewind(&mut file))
        .map_err(SandboxError::setup("memory file"))?;
    Ok(file.into())
}

/// Encodes options as bubblewrap reads them from a file.
fn separated(options: &[OsString]) -> Vec<u8> {
    let options: Vec<&[u8]> = options.iter().map(|option| option.as_bytes()).collect();
    let mut text = options.join(&0);
    text.push(0);
    text
}

/// The descriptors that the child keeps, with unchanged numbers.
#[derive(Default)]
struct PassedDescriptors(Vec<OwnedFd>);

impl PassedDescriptors {
    fn add(&mut self, descriptor: OwnedFd) -> i32 {
        let number = descriptor.as_raw_fd();
        self.0.push(descriptor);
        number
    }

    /// Starts the command. The descriptors are inheritable only for this moment, and sandboxes are
    /// started one after the other.
    fn spawn(self, command: &mut Command) -> Result<tokio::process::Child, SandboxError> {
        for descriptor in &self.0 {
            fcntl_setfd(descriptor.as_fd(), FdFlags::empty())
                .map_err(SandboxError::setup_errno("descriptor"))?;
        }
        command.spawn().map_err(SandboxError::setup("start"))
    }
}
