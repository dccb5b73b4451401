//! Drops privileges that no command needs.

use rustix::thread::{
    CapabilitySet, CapabilitySets, capability_is_in_bounding_set, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

/// Drops all capabilities, and every way to regain them by running a program.
pub(super) fn drop_capabilities() -> Result<(), String> {
    set_no_new_privs(true).map_err(|error| format!("no_new_privs: {error}"))?;
    for capability in CapabilitySet::all().iter() {
        // Unknown to this kernel, or not removable: with no_new_privs it cannot be gained.
        if capability_is_in_bounding_set(capability) == Ok(true) {
            let _ = remove_capability_from_bounding_set(capability);
        }
    }
    // Kernels before 4.3 have no ambient set, so there is nothing to clear.
    let _ = clear_ambient_capability_set();
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    set_capabilities(None, sets).map_err(|error| format!("capabilities: {error}"))
}
