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

/// Returns what rules about an action on a page are compared with: the site.
fn page_origin(page: &str) -> String {
    lango_egress::Url::parse(page)
        .map_or_else(|_| page.to_owned(), |url| url.origin().ascii_serialization())
}
