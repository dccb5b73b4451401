//! What a server's tool is called here.

use super::ServerName;

/// The longest name that every model provider takes.
pub(crate) const LONGEST: usize = 64;

/// `mcp_<server>_<tool>`, with what providers do not take replaced.
pub fn tool_name(server: &ServerName, tool: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '_' };
    let name = format!("mcp_{server}_{tool}");
    // Every character has become one byte.
    name.chars().map(allowed).take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_providers_take() {
        let server: ServerName = "my-files".parse().unwrap();
        assert_eq!(tool_name(&server, "read_file"), "mcp_my-files_read_file");
        assert_eq!(tool_name(&server, "a.b/ä c"), "mcp_my-files_a_b___c");
        assert_eq!(tool_name(&server, &"x".repeat(200)).len(), LONGEST);
    }
}
