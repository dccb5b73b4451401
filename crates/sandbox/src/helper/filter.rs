//! Filters system calls: those that no command needs, and many that are used to break out of
//! sandboxes.
//!
//! This is a deny list and not an allow list, because the programs are not known. Refused calls
//! fail with "Operation not permitted"; the program continues.

use std::collections::BTreeMap;

use rustix::process::{getpgid, getpid, getppid};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Compare,
    SeccompCondition as Condition, SeccompFilter, SeccompRule as Rule, apply_filter, sock_filter,
};

use super::file_modes::build_refused_modes;
use super::order::FilterSettings;

/// The calls that are always refused.
const REFUSED: &[libc::c_long] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_unshare,
    libc::SYS_setns,
    // The machine.
    libc::SYS_reboot,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    libc::SYS_nfsservctl,
    libc::SYS_lookup_dcookie,
    // Complex, and often used to attack a kernel.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_fanotify_init,
    // Files by handle, which bypasses all rules for paths.
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    // The user's keys.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
];

#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[libc::c_long] =
    &[libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt, libc::SYS_kexec_file_load];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[libc::c_long] = &[];

/// Calls whose first argument is the process that they act on.
const ON_PROCESSES: &[libc::c_long] = &[
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_open,
    libc::SYS_prlimit64,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
];

/// The flags of `clone` for new namespaces.
const NAMESPACES: [libc::c_int; 7] = [
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];

/// `TIOCSTI` types text into a terminal, `TIOCLINUX` controls the console.
const TERMINAL: [u64; 2] = [0x5412, 0x541c];

type SyscallRules = BTreeMap<i64, Vec<Rule>>;

/// Filters the calls of this thread and of all processes that it starts.
pub(super) fn apply_settings(filter: &FilterSettings) -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| format!("seccomp: {error}");
    let rules = build_refused_calls(filter).map_err(|error| failed(&error))?;
    // A filter cannot read what these have in memory: flags, and the mode of a new file. Without
    // them, libraries use `clone` and `openat`.
    let missing = [libc::SYS_clone3, libc::SYS_openat2].map(|number| (number, Vec::new()));
    for program in [
        compile_rules(missing.into(), libc::ENOSYS).map_err(|error| failed(&error))?,
        compile_rules(rules, libc::EPERM).map_err(|error| failed(&error))?,
        build_second_numbering_filter(),
    ] {
        apply_filter(&program).map_err(|error| failed(&error))?;
    }
    Ok(())
}

/// Tries a filter that refuses nothing.
pub(crate) fn try_filter() -> Result<(), String> {
    let architecture: Result<seccompiler::TargetArch, _> = std::env::consts::ARCH.try_into();
    architecture.map_err(|_| format!("not known on {}", std::env::consts::ARCH))?;
    apply_filter(&[sock_filter { code: RETURN, jt: 0, jf: 0, k: ALLOW }])
        .map_err(|error| error.to_string())
}

fn compile_rules(
    rules: SyscallRules,
    errno: libc::c_int,
) -> Result<BpfProgram, seccompiler::BackendError> {
    let refuse = SeccompAction::Errno(errno.unsigned_abs());
    let architecture = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture)?.try_into()
}

fn build_refused_calls(filter: &FilterSettings) -> Result<SyscallRules, seccompiler::BackendError> {
    let mut rules: SyscallRules =
        REFUSED.iter().chain(REFUSED_HERE).map(|number| (*number, Vec::new())).collect();
    let mut clone = Vec::new();
    for flag in NAMESPACES {
        let flag = u64::from(flag.unsigned_abs());
        clone.push(Rule::new(vec![Condition::new(
            0,
            Length::Qword,
            Compare::MaskedEq(flag),
            flag,
        )?])?);
    }
    rules.insert(libc::SYS_clone, clone);
    rules.extend(build_refused_modes()?);
    let mut ioctl = Vec::new();
    for request in TERMINAL {
        ioctl.push(Rule::new(vec![Condition::new(1, Length::Dword, Compare::Eq, request)?])?);
    }
    rules.insert(libc::SYS_ioctl, ioctl);
    let mut other_families = Vec::new();
    for family in &filter.families {
        other_families.push(Condition::new(0, Length::Dword, Compare::Ne, u64::from(*family))?);
    }
    let socket =
        if other_families.is_empty() { Vec::new() } else { vec![Rule::new(other_families)?] };
    rules.insert(libc::SYS_socket, socket);
    if filter.shares_processes {
        for number in ON_PROCESSES {
            let mut targets = Vec::new();
            for target in list_protected_processes() {
                let target = u64::from(target.cast_unsigned());
                targets.push(Rule::new(vec![Condition::new(
                    0,
                    Length::Dword,
                    Compare::Eq,
                    target,
                )?])?);
            }
            rules.insert(*number, targets);
        }
    }
    Ok(rules)
}

/// Returns the processes that the program must not signal: those that supervise it, and -1 for all.
fn list_protected_processes() -> Vec<i32> {
    let mut targets = vec![-1, getpid().as_raw_nonzero().get()];
    if let Some(parent) = getppid() {
        targets.push(parent.as_raw_nonzero().get());
        let group = getpgid(Some(parent)).map(|group| -group.as_raw_nonzero().get());
        // -1 is in the list already, and a group in another namespace has no number.
        targets.extend(group.ok().filter(|group| *group != -1));
    }
    targets
}

const LOAD: u16 = 0x20;
const JUMP_IF_AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;
const ALLOW: u32 = 0x7fff_0000;
const REFUSE: u32 = 0x0005_0000;
/// From here on the numbers are those of x32, a second numbering of the same calls.
const SECOND_NUMBERING: u32 = 0x4000_0000;

/// Refuses calls of the second numbering, which the other filters do not cover.
fn build_second_numbering_filter() -> BpfProgram {
    let refuse = REFUSE | libc::ENOSYS.unsigned_abs();
    vec![
        sock_filter { code: LOAD, jt: 0, jf: 0, k: 0 },
        sock_filter { code: JUMP_IF_AT_LEAST, jt: 0, jf: 1, k: SECOND_NUMBERING },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: refuse },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: ALLOW },
    ]
}
