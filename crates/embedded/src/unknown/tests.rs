use lango_tool::SafetyLevel;

use super::*;

#[test]
fn names_say_what_is_final() {
    let tool = |name: &str| ToolDeclaration {
        name: name.into(),
        ..ToolDeclaration::new::<()>("", "", SafetyLevel::Dangerous)
    };
    for name in ["delete_file", "mcp_x_dropTable", "drop", "send-mail"] {
        assert!(is_final(&tool(name)), "{name}");
    }
    for name in ["get_orders", "list_deleted", "sender", "read_file"] {
        assert!(!is_final(&tool(name)), "{name}");
    }
}
