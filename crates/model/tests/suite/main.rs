//! The OpenAI wire, end to end: our client against servers that speak it well and badly.

mod client;
mod raw_server;
