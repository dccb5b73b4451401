use super::*;

#[test]
fn there_is_a_card_for_every_tool() {
    let trained_tools = TrainedTools::load();
    assert_eq!(trained_tools.tools().len(), SMALL_TALK_CARD);
    assert_eq!(SMALL_TALK_CARD + 6, crate::weights::CARDS);
    let (card, tool) = trained_tools.find("fs_read").unwrap();
    assert_eq!(trained_tools.tools()[card].name, "fs_read");
    assert_eq!(AGENTS[tool.agent], "operator");
    assert!(tool.parameters.iter().any(|p| p.name == "path" && p.required));
    for tool in trained_tools.tools() {
        let offered = crate::schema::read_parameters(&tool.declaration());
        let mut own = tool.parameters.clone();
        own.sort_by(|a, b| a.name.cmp(&b.name));
        assert_eq!(offered, own, "{}", tool.name);
        let no_choice = |p: &Parameter| matches!(&p.kind, ValueKind::Choice(c) if c.is_empty());
        assert!(!tool.parameters.iter().any(no_choice), "{}", tool.name);
    }
    assert_eq!(trained_tools.find("payment_send").unwrap().1.level, SafetyLevel::Dangerous);
}
