//! Refuses set-user-ID and set-group-ID bits: a file with one lets other users of the machine act
//! as the user, after the job.

use seccompiler::{
    BackendError, SeccompCmpArgLen as Length, SeccompCmpOp as Compare,
    SeccompCondition as Condition, SeccompRule as Rule,
};

/// Missing in `libc` for some machines; the number is the same on all.
const SYS_FCHMODAT2: libc::c_long = 452;

/// Calls that set the mode of a file, with the position of the mode.
const ON_MODES: &[(libc::c_long, u8)] =
    &[(libc::SYS_fchmod, 1), (libc::SYS_fchmodat, 2), (SYS_FCHMODAT2, 2), (libc::SYS_mknodat, 2)];
#[cfg(target_arch = "x86_64")]
const ON_MODES_HERE: &[(libc::c_long, u8)] =
    &[(libc::SYS_chmod, 1), (libc::SYS_mknod, 1), (libc::SYS_creat, 1)];
#[cfg(not(target_arch = "x86_64"))]
const ON_MODES_HERE: &[(libc::c_long, u8)] = &[];

/// Calls that open a file, with the positions of the flags and of the mode.
const ON_OPENING: &[(libc::c_long, u8, u8)] = &[(libc::SYS_openat, 2, 3)];
#[cfg(target_arch = "x86_64")]
const ON_OPENING_HERE: &[(libc::c_long, u8, u8)] = &[(libc::SYS_open, 1, 2)];
#[cfg(not(target_arch = "x86_64"))]
const ON_OPENING_HERE: &[(libc::c_long, u8, u8)] = &[];

/// The bits that are refused.
const SET_ID_BITS: [libc::mode_t; 2] = [libc::S_ISUID, libc::S_ISGID];
/// The bit of `O_TMPFILE` that it does not share with `O_DIRECTORY`.
const TEMPORARY_FILE: libc::c_int = libc::O_TMPFILE & !libc::O_DIRECTORY;

/// Returns the refused calls. `openat2` has its mode in memory, which a filter cannot read; it must be
/// refused as a whole.
pub(super) fn build_refused_modes() -> Result<Vec<(libc::c_long, Vec<Rule>)>, BackendError> {
    let mut refused = Vec::new();
    for (number, mode) in ON_MODES.iter().chain(ON_MODES_HERE) {
        let mut rules = Vec::new();
        for bit in SET_ID_BITS {
            rules.push(Rule::new(vec![has_bits(*mode, bit)?])?);
        }
        refused.push((*number, rules));
    }
    for (number, flags, mode) in ON_OPENING.iter().chain(ON_OPENING_HERE) {
        let mut rules = Vec::new();
        for bit in SET_ID_BITS {
            // Without one of these flags the mode has no meaning, and may be anything.
            for flag in [libc::O_CREAT, TEMPORARY_FILE] {
                let created = has_bits(*flags, flag.unsigned_abs())?;
                rules.push(Rule::new(vec![created, has_bits(*mode, bit)?])?);
            }
        }
        refused.push((*number, rules));
    }
    Ok(refused)
}

fn has_bits(position: u8, bits: u32) -> Result<Condition, BackendError> {
    let bits = u64::from(bits);
    Condition::new(position, Length::Dword, Compare::MaskedEq(bits), bits)
}
