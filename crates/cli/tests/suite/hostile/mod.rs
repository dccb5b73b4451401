//! Models that say whatever an attacker wants, and providers that break. Whatever they do: the
//! journal is valid, the user gets words, the exit code says what happened, and nothing has an
//! effect that was not allowed. The fixture checks the first two for every turn.

mod arguments;
mod canaries;
mod circles;
mod commands;
mod every_tool;
mod files;
mod injected;
mod injection;
mod ownership;
mod provider;
mod shell;
mod strangers;
mod unasked;
mod web;
