//! Decides whether a call runs, needs a person's approval or is refused.

use lango_tool::{RegisteredTool, SafetyLevel, StepDirectory};

use super::rule::{Effect, Rule, RuleCase};

/// Decides about calls that no rule covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ApprovalPolicy {
    /// Dangerous calls need approval.
    #[default]
    AskDangerous,
    /// All calls that are not read-only need approval.
    AskAll,
    /// No person is asked: a dangerous call runs only if a rule allows it.
    NeverAskDeny,
}

impl ApprovalPolicy {
    /// Tells whether every call of `tool` needs a decision if no rule makes one.
    pub(crate) fn needs_decision(self, tool: &RegisteredTool) -> bool {
        match self {
            Self::AskDangerous | Self::NeverAskDeny => tool.level() == SafetyLevel::Dangerous,
            Self::AskAll => tool.level() == SafetyLevel::Dangerous || !tool.read_only,
        }
    }
}

/// The decision about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The call runs.
    Run {
        /// The rules that allow it; empty if it needs none.
        because: Vec<String>,
    },
    /// A person is asked.
    Ask {
        /// The reason why no rule could decide.
        because: String,
    },
    /// The call does not run.
    Refuse {
        /// The rule or the policy that refuses it.
        because: String,
    },
}

/// Decides about a call. Deny wins over ask, ask wins over allow, and a call is allowed only if all
/// of its steps are.
pub fn decide_call(
    policy: ApprovalPolicy,
    needs_decision: bool,
    rules: &[Rule],
    case: &RuleCase<'_>,
) -> Verdict {
    let objecting =
        |effect| rules.iter().find(|rule| rule.effect == effect && rule.objects_to(case));
    if let Some(rule) = objecting(Effect::Deny) {
        return Verdict::Refuse { because: describe_rule(rule) };
    }
    let because = if let Some(why) = &case.proposal.always_ask {
        why.clone()
    } else if let Some(rule) = objecting(Effect::Ask) {
        describe_rule(rule)
    } else if let Some(rule) = rules.iter().find(|rule| rule.may_object_to_rest(case)) {
        let why = case.proposal.unreadable.as_deref().unwrap_or_default();
        format!("not all of it is known ({why}), and {} may concern it", describe_rule(rule))
    } else if !needs_decision || may_read_unasked(policy, rules, case) {
        return Verdict::Run { because: Vec::new() };
    } else {
        match find_allowing_rules(rules, case) {
            Ok(because) => return Verdict::Run { because },
            Err(why) if !case.proposal.rights.is_empty() => {
                let rights = lango_text::make_visible(&case.proposal.rights.to_string());
                format!("{why} with the rights that it asks for ({rights})")
            }
            Err(why) => why,
        }
    };
    if policy == ApprovalPolicy::NeverAskDeny {
        return Verdict::Refuse { because: format!("{because}, and the policy is never to ask") };
    }
    if let Some(why) = &case.proposal.not_shown {
        return Verdict::Refuse { because: format!("{because}, and {why}") };
    }
    Verdict::Ask { because }
}

/// Tells whether a call that only reads runs without a question. A rule that keeps another tool or
/// program from something could be evaded by it, so that it is asked about where there is one.
fn may_read_unasked(policy: ApprovalPolicy, rules: &[Rule], case: &RuleCase<'_>) -> bool {
    case.proposal.only_reads.is_some_and(|readers| {
        policy != ApprovalPolicy::AskAll
            && rules
                .iter()
                .all(|rule| rule.effect == Effect::Allow || rule.is_about_programs_beside(readers))
    })
}

/// Returns the rules that together allow the whole call, or the part that is not allowed.
fn find_allowing_rules(rules: &[Rule], case: &RuleCase<'_>) -> Result<Vec<String>, String> {
    if let Some(rule) = rules.iter().find(|rule| rule.allows_any(case)) {
        return Ok(vec![describe_rule(rule)]);
    }
    if let Some(why) = &case.proposal.unreadable {
        return Err(format!("not all of it is known: {why}"));
    }
    if let Some(rule) = rules.iter().find(|rule| rule.allows_whole(case)) {
        return Ok(vec![describe_rule(rule)]);
    }
    if case.proposal.steps.is_empty() {
        return Err("no rule allows it".to_owned());
    }
    let mut because = Vec::new();
    for step in &case.proposal.steps {
        let Some(rule) = rules.iter().find(|rule| rule.allows_step(case, step)) else {
            let name = step.words.first().map_or("it", String::as_str);
            let name = lango_text::make_visible_short(name);
            return Err(match (&step.directory, &step.exact_only) {
                (StepDirectory::Unknown, _) => {
                    format!(
                        "only a rule for the whole call can allow {name}: in which directory it runs is known only then"
                    )
                }
                (StepDirectory::At(directory), _) => {
                    let directory = lango_text::make_visible(&directory.to_string_lossy());
                    format!("no rule allows {name} in {directory}")
                }
                (_, Some(why)) => format!("only an exact rule can allow {name}: {why}"),
                (_, None) => format!("no rule allows {name}"),
            });
        };
        let describe_rule = describe_rule(rule);
        if !because.contains(&describe_rule) {
            because.push(describe_rule);
        }
    }
    Ok(because)
}

fn describe_rule(rule: &Rule) -> String {
    format!("rule {} ({rule})", rule.id)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use lango_protocol::{Right, Rights};
    use lango_tool::{BoundResource, Proposal, ProposedStep};
    use proptest::prelude::*;

    use super::*;
    use crate::approval::rule::StepPattern;

    fn rule(effect: Effect, text: &str) -> Rule {
        let words = text.split(' ').map(str::to_owned).collect();
        Rule {
            id: "1".to_owned(),
            effect,
            tool: Some("exec_*".to_owned()),
            agent: None,
            directory: None,
            step_directory: None,
            words: StepPattern::Pattern(words),
            bound: None,
            rights: Rights::default(),
        }
    }

    fn proposal(commands: &[&str]) -> Proposal {
        let step = |text: &&str| ProposedStep {
            words: text.split(' ').map(str::to_owned).collect(),
            ..ProposedStep::default()
        };
        Proposal { steps: commands.iter().map(step).collect(), ..Proposal::default() }
    }

    fn judge(rules: &[Rule], proposal: &Proposal) -> Verdict {
        let agent = "operator".parse().unwrap();
        let directory = Path::new("/home/me/project");
        let case = RuleCase { tool: "exec_shell", agent: &agent, directory, proposal };
        decide_call(ApprovalPolicy::AskDangerous, true, rules, &case)
    }

    fn runs(rules: &[Rule], proposal: &Proposal) -> bool {
        matches!(judge(rules, proposal), Verdict::Run { .. })
    }

    #[test]
    fn every_part_needs_its_own_rule_and_deny_wins() {
        let rules = [rule(Effect::Allow, "ls *"), rule(Effect::Allow, "rm *")];
        assert!(runs(&rules, &proposal(&["ls -l", "rm x"])));
        assert!(!runs(&rules, &proposal(&["ls -l", "whoami"])));
        assert!(!runs(&rules, &proposal(&[])), "nothing known is not everything allowed");
        let denied = [&rules[..], &[rule(Effect::Deny, "rm *")]].concat();
        for command in ["rm x", "/bin/rm x", "./rm"] {
            let verdict = judge(&denied, &proposal(&["ls", command]));
            assert!(matches!(verdict, Verdict::Refuse { .. }), "{command}: {verdict:?}");
        }
        let asked = [&rules[..], &[rule(Effect::Ask, "ls *")]].concat();
        assert!(matches!(judge(&asked, &proposal(&["ls"])), Verdict::Ask { .. }));
    }

    #[test]
    fn an_allowed_name_is_not_a_path_that_ends_in_it() {
        let rules = [rule(Effect::Allow, "ls *")];
        assert!(!runs(&rules, &proposal(&["./ls"])));
        assert!(!runs(&rules, &proposal(&["/tmp/ls"])));
    }

    #[test]
    fn what_is_not_known_whole_is_asked_about() {
        let rules = [rule(Effect::Allow, "*")];
        let mut unknown = proposal(&["ls"]);
        unknown.unreadable = Some("a variable".to_owned());
        assert!(!runs(&rules, &unknown));
        let mut exact = proposal(&["awk BEGIN{}"]);
        exact.steps[0].exact_only = Some("awk runs programs".to_owned());
        assert!(!runs(&rules, &exact));
        let mut sensitive = proposal(&["ls"]);
        sensitive.always_ask = Some("a password".to_owned());
        let any = Rule { words: StepPattern::Any, ..rules[0].clone() };
        assert!(runs(std::slice::from_ref(&any), &unknown), "a person allowed the whole tool");
        assert!(!runs(&[any], &sensitive));
    }

    #[test]
    fn always_stores_exactly_what_was_seen() {
        let agent = "operator".parse().unwrap();
        let directory = Path::new("/home/me/project");
        let mut seen = proposal(&["./test.sh *"]);
        seen.steps[0].exact_only = Some("runs a script".to_owned());
        seen.bound = vec![BoundResource { what: "./test.sh".to_owned(), digest: "one".to_owned() }];
        let case = RuleCase { tool: "exec_shell", agent: &agent, directory, proposal: &seen };
        let rules = Rule::allowing_exactly(&case);
        assert!(runs(&rules, &seen));
        assert!(!runs(&rules, &proposal(&["./test.sh anything"])), "a star is only a star");
        let mut changed = seen.clone();
        changed.bound[0].digest = "two".to_owned();
        assert!(!runs(&rules, &changed), "the script is another one");
        let other_directory = RuleCase { directory: Path::new("/home/me/other"), ..case };
        let verdict = decide_call(ApprovalPolicy::AskDangerous, true, &rules, &other_directory);
        assert!(matches!(verdict, Verdict::Ask { .. }));
        let mut unknown = seen.clone();
        unknown.unreadable = Some("a variable".to_owned());
        assert!(Rule::allowing_exactly(&RuleCase { proposal: &unknown, ..case }).is_empty());
    }

    #[test]
    fn a_policy_that_never_asks_refuses() {
        let agent = "operator".parse().unwrap();
        let proposal = proposal(&["ls"]);
        let directory = Path::new("/home/me");
        let case = RuleCase { tool: "exec_shell", agent: &agent, directory, proposal: &proposal };
        let never = |rules: &[Rule]| decide_call(ApprovalPolicy::NeverAskDeny, true, rules, &case);
        assert!(matches!(never(&[]), Verdict::Refuse { .. }));
        assert!(matches!(never(&[rule(Effect::Allow, "ls")]), Verdict::Run { .. }));
    }

    #[test]
    fn what_only_reads_is_not_asked_about_unless_a_rule_could_be_evaded() {
        let mut reading = proposal(&["cat notes.txt"]);
        reading.only_reads = Some(&["cat", "head"]);
        assert!(runs(&[], &reading));
        assert!(!runs(&[rule(Effect::Deny, "cat *")], &reading));
        assert!(!runs(&[rule(Effect::Ask, "cat *")], &reading));
        assert!(runs(&[rule(Effect::Deny, "rm *")], &reading));
        let for_files =
            Rule { tool: Some("fs_read".to_owned()), ..rule(Effect::Deny, "notes.txt") };
        assert!(!runs(&[for_files], &reading), "it would read what another tool may not");
        let for_all = Rule { tool: None, ..rule(Effect::Deny, ".env") };
        assert!(!runs(&[for_all], &reading), "a rule for every tool can be about a file");
        assert!(!runs(&[rule(Effect::Deny, "cat .env")], &reading), "the path has other spellings");
        assert!(!runs(&[rule(Effect::Deny, "head notes.txt")], &reading), "so do programs");
        assert!(!runs(&[rule(Effect::Ask, "*/cat x")], &reading));
        let agent = "operator".parse().unwrap();
        let directory = Path::new("/home/me");
        let case = RuleCase { tool: "exec_shell", agent: &agent, directory, proposal: &reading };
        let verdict = decide_call(ApprovalPolicy::AskAll, true, &[], &case);
        assert!(matches!(verdict, Verdict::Ask { .. }), "{verdict:?}");
    }

    #[test]
    fn what_is_not_shown_whole_is_not_asked_about() {
        let mut long = proposal(&["./long.sh"]);
        long.not_shown = Some("./long.sh is too long".to_owned());
        assert!(matches!(judge(&[], &long), Verdict::Refuse { .. }));
        let any = Rule { words: StepPattern::Any, ..rule(Effect::Allow, "x") };
        assert!(runs(&[any], &long), "a person allowed the whole tool");
    }

    fn with_rights(mut proposal: Proposal, rights: &Rights) -> Proposal {
        proposal.rights = rights.clone();
        proposal
    }

    fn rights(text: &str) -> Rights {
        text.split_whitespace().map(|right| right.parse().unwrap()).collect()
    }

    #[test]
    fn only_a_rule_that_states_the_rights_allows_them() {
        let git = rights("git");
        let commit = with_rights(proposal(&["git commit -m x"]), &git);
        let without = rule(Effect::Allow, "git commit *");
        let any = Rule { words: StepPattern::Any, ..without.clone() };
        assert!(!runs(&[without.clone(), any.clone()], &commit));
        let stated = Rule { rights: git.clone(), ..without.clone() };
        assert!(runs(std::slice::from_ref(&stated), &commit));
        assert!(runs(std::slice::from_ref(&stated), &proposal(&["git commit -m x"])));
        assert!(runs(&[Rule { rights: git.clone(), ..any }], &commit));
        // Every step runs with the right, so every rule must state it.
        let several = with_rights(proposal(&["git commit", "ls"]), &git);
        assert!(!runs(&[stated.clone(), rule(Effect::Allow, "ls")], &several));
        let verdict = judge(&[without], &commit);
        let Verdict::Ask { because } = verdict else { panic!("{verdict:?}") };
        assert!(because.contains("(git)"), "{because}");
    }

    #[test]
    fn a_rule_can_deny_or_question_a_right() {
        let allowed = Rule { rights: rights("git network"), ..rule(Effect::Allow, "*") };
        let denied = Rule {
            words: StepPattern::Any,
            rights: rights("network write:/home"),
            ..rule(Effect::Deny, "x")
        };
        let rules = [allowed, denied];
        assert!(runs(&rules, &proposal(&["git fetch"])));
        assert!(runs(&rules, &with_rights(proposal(&["git commit"]), &rights("git"))));
        for asked in ["network", "git network", "write:/home/me", "write:/"] {
            let verdict = judge(&rules, &with_rights(proposal(&["git fetch"]), &rights(asked)));
            assert!(matches!(verdict, Verdict::Refuse { .. }), "{asked}: {verdict:?}");
        }
    }

    fn any_rights() -> impl Strategy<Value = Rights> {
        let all = ["git", "network", "write:/a", "write:/a/b", "write:/ab"];
        prop::sample::subsequence(all.to_vec(), 0..=all.len())
            .prop_map(|texts| texts.iter().map(|text| text.parse::<Right>().unwrap()).collect())
    }

    proptest! {
        #[test]
        fn a_call_runs_only_under_rules_that_include_its_rights(
            asked in any_rights(), stated in any_rights(), is_whole_tool in any::<bool>(),
        ) {
            let words = if is_whole_tool {
                StepPattern::Any
            } else {
                StepPattern::Pattern(vec!["git".to_owned(), "*".to_owned()])
            };
            let rule = Rule { words, rights: stated.clone(), ..rule(Effect::Allow, "x") };
            let call = with_rights(proposal(&["git commit"]), &asked);
            prop_assert_eq!(runs(&[rule], &call), stated.include(&asked));
        }

        #[test]
        fn always_covers_exactly_the_rights_that_were_shown(
            shown in any_rights(), later in any_rights(),
        ) {
            let agent = "operator".parse().unwrap();
            let seen = with_rights(proposal(&["git commit"]), &shown);
            let directory = Path::new("/home/me/project");
            let case = RuleCase { tool: "exec_shell", agent: &agent, directory, proposal: &seen };
            let rules = Rule::allowing_exactly(&case);
            prop_assert!(runs(&rules, &seen));
            prop_assert_eq!(runs(&rules, &with_rights(seen, &later)), shown == later);
        }
    }
}
