//! Every model, and a bad network.

mod choice;
mod context;
mod embedded;
mod failures;
mod measured;
mod prefix;
mod recording;
mod reports;
mod tls;
mod wires;
