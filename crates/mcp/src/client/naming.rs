//! Names the tools of servers.

use super::ServerName;

/// Limits a tool name to what every model provider accepts.
pub(crate) const MAX_NAME_BYTES: usize = 64;

/// Returns `mcp_<server>_<tool>`, with unsupported characters replaced.
pub fn tool_name(server: &ServerName, tool: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '_' };
    let name = format!("mcp_{server}_{tool}");
    // Every character is one byte now.
    name.chars().map(allowed).take(MAX_NAME_BYTES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_providers_take() {
        let server: ServerName = "my-files".parse().unwrap();
        assert_eq!(tool_name(&server, "read_file"), "mcp_my-files_read_file");
        assert_eq!(tool_name(&server, "a.b/ä c"), "mcp_my-files_a_b___c");
        assert_eq!(tool_name(&server, &"x".repeat(200)).len(), MAX_NAME_BYTES);
    }
}
