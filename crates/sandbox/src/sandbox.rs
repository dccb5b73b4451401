//! Starts jobs as confined processes.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tokio::process::Command;
use tokio::runtime::Handle;

use crate::bubblewrap;
use crate::capabilities::{Capabilities, SandboxPart};
use crate::confined::ConfinedProcess;
use crate::error::SandboxError;
use crate::grants;
use crate::helper::{FilterSettings, HELPER_ARGUMENT, HelperOrder, choose_limits};
use crate::job::{Job, NetworkAccess};
use crate::launch;
use crate::level::{ConfinementLevel, LevelRequirement};
use crate::owner::JobOwner;
use crate::plan::PathPlan;
use crate::residue::{AfterCheck, JobResidue};
use crate::running::RunningJob;

/// The socket families of the Internet, and the one that queries the kernel about it.
const INTERNET: [libc::c_int; 3] = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// Starts jobs with the required confinement.
#[derive(Debug, Clone, Default)]
pub struct Sandbox {
    /// The level that the configuration requires.
    pub requirement: LevelRequirement,
    /// Parts of the machine that are treated as missing.
    pub without: Vec<SandboxPart>,
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
    pub fn level(&self) -> Result<ConfinementLevel, SandboxError> {
        self.requirement.level(&self.capabilities())
    }

    /// Starts a job. If this fails, the job had no effect.
    pub async fn spawn(&self, job: Job) -> Result<ConfinedProcess, SandboxError> {
        let (sandbox, runtime) = (self.clone(), Handle::current());
        launch::run_on_launcher(move || {
            let _entered = runtime.enter();
            sandbox.start_job(job)
        })
        .await?
    }

    fn start_job(&self, mut job: Job) -> Result<ConfinedProcess, SandboxError> {
        let capabilities = self.capabilities();
        let level = self.requirement.level(&capabilities)?;
        let mut plan = PathPlan::from_job(&job)?;
        if level != ConfinementLevel::None {
            plan.check_shared_directories()?;
        }
        let after = AfterCheck::take_from(&mut job.bounds, &plan);
        let mut residue = JobResidue { after, ..JobResidue::default() };
        let started = self.start_planned(level, &capabilities, &mut plan, &mut residue, &mut job);
        match started {
            Ok(mut confined) => {
                confined.job = Some(RunningJob::register(residue));
                Ok(confined)
            }
            Err(error) => {
                // The job did not run, and made no repository.
                residue.after = AfterCheck::default();
                residue.clear();
                Err(error)
            }
        }
    }

    fn start_planned(
        &self,
        level: ConfinementLevel,
        capabilities: &Capabilities,
        plan: &mut PathPlan,
        residue: &mut JobResidue,
        job: &mut Job,
    ) -> Result<ConfinedProcess, SandboxError> {
        let helper = self.helper_path()?;
        let temporary = create_temporary_directory(level, residue)?;
        // Without control groups the limits hold for each process; the report says so.
        let hierarchies = capabilities.cgroup.as_ref().ok();
        let mut passed = PassedDescriptors::default();
        let mut groups = Vec::new();
        if let Some(hierarchies) = hierarchies {
            let making = || SandboxError::setup("control group");
            let group = residue
                .group
                .insert(hierarchies.create_group(&job.bounds.limits).map_err(making())?);
            let entrances = group.open_entrances().map_err(making())?;
            groups.extend(entrances.into_iter().map(|entrance| passed.add(entrance.into())));
        }
        let (report, report_inside) = create_pipe(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        let report_inside = passed.add(report_inside);
        let (lifeline_inside, lifeline) = create_pipe(PipeFlags::CLOEXEC)?;
        let lifeline_inside = passed.add(lifeline_inside);
        residue.lifeline = Some(lifeline);
        residue.is_supervised = level != ConfinementLevel::Bubblewrap;
        let has_landlock = capabilities.landlock.is_ok();
        let rules = match level {
            ConfinementLevel::Bubblewrap => {
                has_landlock.then(|| grants::build_rules_behind_mounts(plan))
            }
            ConfinementLevel::Landlock => {
                Some(grants::build_rules_without_mounts(plan, &temporary))
            }
            ConfinementLevel::None => None,
        };
        let mut environment = std::mem::take(&mut job.environment);
        environment.retain(|(name, _)| name != "TMPDIR");
        environment.push(("TMPDIR".into(), temporary.clone().into()));
        let mut kept = Vec::with_capacity(job.descriptors.len());
        for file in job.descriptors.drain(..) {
            let number = passed.add(create_sealed_file(&file.content)?);
            environment.push((file.variable, format!("/dev/fd/{number}").into()));
            kept.push(number);
        }
        let order = HelperOrder {
            program: job.program.clone(),
            arguments: std::mem::take(&mut job.arguments),
            environment,
            directory: job.directory.clone().into(),
            limits: choose_limits(&job.bounds.limits, level, hierarchies),
            rules,
            filter: choose_filter(level, job.bounds.network),
            kept,
            groups,
            report: report_inside,
            lifeline: lifeline_inside,
            is_supervised: residue.is_supervised,
        };
        let order = serde_json::to_vec(&order)
            .map_err(|error| SandboxError::Setup { step: "order", reason: error.to_string() })?;
        let order =
            passed.add(create_memory_file(&JobOwner::current().order_name(), &order)?).to_string();
        let mut command = match level {
            ConfinementLevel::Bubblewrap => {
                let program = capabilities.bubblewrap.clone();
                let program =
                    program.map_err(|reason| SandboxError::Setup { step: "bubblewrap", reason })?;
                build_bubblewrap_command(&program, job, plan, &helper, residue, &mut passed)?
            }
            ConfinementLevel::Landlock | ConfinementLevel::None => Command::new(&helper),
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
            job: None,
            clearing: None,
            planted: Vec::new(),
        })
    }

    fn helper_path(&self) -> Result<PathBuf, SandboxError> {
        match &self.helper {
            Some(helper) => Ok(helper.clone()),
            None => std::env::current_exe().map_err(SandboxError::setup("own program")),
        }
    }
}

/// Builds the command that runs the helper in bubblewrap. What must be removed afterwards goes to
/// `residue`.
fn build_bubblewrap_command(
    program: &Path,
    job: &Job,
    plan: &mut PathPlan,
    helper: &Path,
    residue: &mut JobResidue,
    passed: &mut PassedDescriptors,
) -> Result<Command, SandboxError> {
    residue.placeholders =
        plan.create_placeholders().map_err(SandboxError::setup("protected names"))?;
    let options = bubblewrap::build_options(job, plan, helper, &mut |file| passed.add(file))
        .map_err(SandboxError::setup("places"))?;
    let options = create_memory_file("lango-sandbox", &encode_options(&options))?;
    let options = passed.add(options).to_string();
    let (information, information_inside) = create_pipe(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    residue.information = Some(information.into());
    let information = passed.add(information_inside).to_string();
    let mut command = Command::new(program);
    command.args(["--info-fd", &information, "--args", &options, "--", bubblewrap::HELPER]);
    Ok(command)
}

/// Returns the job's own directory for temporary files.
fn create_temporary_directory(
    level: ConfinementLevel,
    residue: &mut JobResidue,
) -> Result<PathBuf, SandboxError> {
    if level == ConfinementLevel::Bubblewrap {
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

fn choose_filter(level: ConfinementLevel, network: NetworkAccess) -> Option<FilterSettings> {
    let families: &[&[libc::c_int]] = match (level, network) {
        (ConfinementLevel::Bubblewrap, NetworkAccess::On) => &[&INTERNET, &[libc::AF_UNIX]],
        // Sockets of services can be anywhere in the file system. Pairs can still be made.
        (ConfinementLevel::Bubblewrap, NetworkAccess::Off)
        | (ConfinementLevel::Landlock, NetworkAccess::On) => &[&INTERNET],
        (ConfinementLevel::Landlock, NetworkAccess::Off) => &[],
        (ConfinementLevel::None, _) => return None,
    };
    let families = families.concat().into_iter().map(libc::c_int::unsigned_abs).collect();
    Some(FilterSettings { families, shares_processes: level != ConfinementLevel::Bubblewrap })
}

fn create_pipe(flags: PipeFlags) -> Result<(OwnedFd, OwnedFd), SandboxError> {
    pipe_with(flags).map_err(SandboxError::setup_errno("pipe"))
}

/// Creates a file that is not in the file system.
fn create_memory_file(name: &str, content: &[u8]) -> Result<OwnedFd, SandboxError> {
    let file = memfd_create(name, MemfdFlags::CLOEXEC)
        .map_err(SandboxError::setup_errno("memory file"))?;
    let mut file = File::from(file);
    file.write_all(content)
        .and_then(|()| std::io::Seek::rewind(&mut file))
        .map_err(SandboxError::setup("memory file"))?;
    Ok(file.into())
}

/// Creates a file that is not in the file system, and that nothing can change.
fn create_sealed_file(content: &[u8]) -> Result<OwnedFd, SandboxError> {
    let failed = || SandboxError::setup_errno("memory file");
    let file = memfd_create("lango", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING);
    let mut file = File::from(file.map_err(failed())?);
    file.write_all(content)
        .and_then(|()| std::io::Seek::rewind(&mut file))
        .map_err(SandboxError::setup("memory file"))?;
    let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    fcntl_add_seals(&file, seals).map_err(failed())?;
    Ok(file.into())
}

/// Encodes options as bubblewrap reads them from a file.
fn encode_options(options: &[OsString]) -> Vec<u8> {
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
