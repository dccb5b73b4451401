//! Holds the tools, one file each.

mod back;
mod click;
mod close;
mod navigate;
mod read;
mod screenshot;
mod r#type;
mod wait;

pub(crate) use back::Back;
pub(crate) use click::Click;
pub(crate) use close::Close;
pub(crate) use navigate::Navigate;
pub(crate) use read::Read;
pub(crate) use screenshot::Screenshot;
pub(crate) use r#type::Type;
pub(crate) use wait::Wait;

use lango_tool::{Proposal, ProposedStep};

use crate::page::ElementReference;

/// Returns what rules about an action on a page are compared with: the site.
fn page_origin(page: &str) -> String {
    lango_egress::Url::parse(page)
        .map_or_else(|_| page.to_owned(), |url| url.origin().ascii_serialization())
}

/// Builds the proposal of an action on a known element. A rule with a pattern is about the origin of
/// the page; "always" covers this action on this element of this page alone.
fn propose_action(summary: String, reference: &ElementReference, action: &[&str]) -> Proposal {
    let element = [&reference.role, &reference.name].map(String::as_str);
    let target = reference.other_site();
    let words = [reference.page.as_str()].into_iter().chain(element);
    let words = words.chain(action.iter().copied()).chain(target);
    let words = words.map(str::to_owned).collect();
    let mut proposal = Proposal {
        whole: Some(ProposedStep { words, ..ProposedStep::default() }),
        ..Proposal::of(summary, [&page_origin(&reference.page)])
    };
    // A rule about this site does not cover where a link leads.
    if let Some(target) = reference.other_site() {
        proposal.steps.push(ProposedStep::new([&page_origin(target)]));
    }
    proposal
}
