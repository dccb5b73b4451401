//! What survives: a loss of power, deleted files, a database that says nothing; and backups.

mod backups;
mod files;
mod power;
mod silence;
