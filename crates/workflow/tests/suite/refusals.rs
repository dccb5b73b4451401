//! What is refused before anything runs, with line, column and reason.

use std::fmt::Write as _;

use lango_workflow::Definition;

/// Returns the problems as a person sees them.
fn problems(text: &str) -> Vec<String> {
    let error = Definition::parse(text).unwrap_err();
    error.problems().iter().map(ToString::to_string).collect()
}

fn step(rest: &str) -> String {
    format!("name: w\nsteps:\n  - id: a\n{rest}")
}

#[test]
fn each_mistake_is_named_with_its_place() {
    for (text, expected) in [
        ("", "1:1: "),
        ("name: w", "1:1: the workflow has no steps"),
        ("- a", "1:1: a workflow is a mapping"),
        ("name: w\nsteps: []", "1:1: the workflow has no steps"),
        ("name: w\nsteps: 5", "2:8: steps is a list, not a number"),
        ("steps: [{ id: a, task: x }]", "1:1: the workflow has no name"),
        ("name: a b\nsteps: [{ id: a, task: x }]", "1:7: the name of a workflow has at most"),
        (
            "nam: w\nname: w\nsteps: [{ id: a, task: x }]",
            "1:1: a workflow has no key \"nam\". Did you mean \"name\"?",
        ),
        ("name: w\nname: v\nsteps: [{ id: a, task: x }]", "2:1: this is not YAML that can be used"),
        ("name: w\nsteps:\n  - { id: a, task: x", "this is not YAML that can be used"),
        ("name: w\nsteps:\n  - task: x", "3:5: the step has no id"),
        (&step("    taks: x\n"), "4:5: a step has no key \"taks\". Did you mean \"task\"?"),
        (&step("    timeout: 5m\n"), "3:5: the step a does nothing"),
        (&step("    agent: operator\n"), "3:5: the step a has an agent and no task"),
        (&step("    task: x\n    tool: y\n"), "3:5: the step a has both task and tool"),
        (&step("    tool: y\n    agent: operator\n"), "has agent and tool"),
        (&step("    task: x\n    arguments: {}\n"), "has arguments and no tool"),
        (&step("    tool: y\n    arguments: [1]\n"), "5:16: arguments is a mapping"),
        (&step("    task: ''\n"), "4:11: the task is empty"),
        (&step("    task: [1]\n"), "4:11: task must be a text, not a list"),
        (&step("    task: x\n    needs: [b]\n"), "5:13: there is no step \"b\""),
        (&step("    task: x\n    needs: [a]\n"), "5:13: the step a needs itself"),
        (&step("    task: x\n    timeout: 5\n"), "5:14: timeout must be a text"),
        (&step("    task: x\n    timeout: soon\n"), "5:14: \"soon\" is no duration"),
        (
            &step("    task: x\n    retry: { attempts: 0 }\n"),
            "5:24: attempts is a number from 1 to 20",
        ),
        (&step("    task: x\n    retry: { tries: 2 }\n"), "5:14: retry has no key \"tries\""),
        (&step("    task: x\n    on_failure: retry\n"), "5:17: on_failure is stop, continue"),
        (&step("    task: x\n    on_failure: { run: b }\n"), "5:24: there is no step \"b\""),
        (&step("    task: x\n    when: inputs.x ==\n"), "5:11: the condition ends"),
        (&step("    task: x\n    when: 1 1\n"), "5:11: the condition goes on"),
        (&step("    task: x\n    for_each: many\n"), "5:15: for_each is a list"),
        (&step("    task: '{{ inputs.x }}'\n"), "4:11: there is no input \"x\". Declare it"),
        (&step("    task: '{{ steps.b.output }}'\n"), "4:11: there is no step \"b\""),
        (&step("    task: '{{ steps.a.output }}'\n"), "4:11: the step a uses its own result"),
        (&step("    task: '{{ steps.a }}'\n"), "4:11: \"steps.a\" names nothing"),
        (&step("    task: '{{ input.x }}'\n"), "4:11: \"input.x\" names nothing"),
        (&step("    task: '{{ item }}'\n"), "4:11: the step a uses item and has no for_each"),
        (&step("    task: '{{ }}'\n"), "4:11: a template is empty"),
        (&step("    task: '{{ inputs.x'\n"), "4:11: a template is not closed"),
        (
            &step("    task: x\n    for_each: [1]\n    when: item == 1\n"),
            "item is known in task and arguments only",
        ),
        (
            &step("    task: x\n  - id: a\n    task: y\n"),
            "5:9: there is a step \"a\" already, in line 3",
        ),
        (
            &step("    task: x\n  - id: b\n    task: '{{ steps.a.output }}'\n"),
            "6:11: b uses steps.a.output and does not need a. Add it to needs",
        ),
        (
            &step(
                "    task: x\n    on_failure: { run: b }\n  - id: b\n    task: y\n    needs: a\n",
            ),
            "cannot have needs",
        ),
        (
            &step(
                "    task: x\n    on_failure: { run: b }\n  - id: b\n    task: y\n  - { id: c, task: z, needs: b }\n",
            ),
            "b runs only when a step fails, and cannot be needed",
        ),
        (
            &step("    task: x\noutputs: { y: '{{ steps.b.output }}' }\n"),
            "5:15: there is no step \"b\"",
        ),
        (
            &step("    task: x\ninputs: { y: { type: text } }\n"),
            "5:22: type is one of string, number, boolean, list",
        ),
        (
            &step("    task: x\ninputs: { y: { type: number, default: z } }\n"),
            "the default \"z\" of y is not a number",
        ),
    ] {
        let found = problems(text);
        assert!(
            found.iter().any(|problem| problem.contains(expected)),
            "{text}\n{found:?}\n{expected}"
        );
    }
}

#[test]
fn a_circle_is_shown_as_a_whole() {
    let text = "name: w\nsteps:\n  - { id: a, task: x }\n  - { id: b, task: x, needs: [a, d] }\n  \
                - { id: c, task: x, needs: b }\n  - { id: d, task: x, needs: c }\n";
    let found = problems(text);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("in a circle: b needs d needs c needs b"), "{found:?}");
    assert!(found[0].starts_with("4:"), "{found:?}");
}

#[test]
fn all_mistakes_are_told_at_once_in_the_order_of_the_text() {
    let text = "name: w\nsteps:\n  - { id: a, task: x, needs: z }\n  - { id: b, tsk: x }\n  \
                - { id: c, task: '{{ inputs.q }}' }\n";
    let found = problems(text);
    let lines: Vec<&str> = found.iter().map(|problem| &problem[..1]).collect();
    assert_eq!(lines, ["3", "4", "4", "5"], "{found:?}");
}

#[test]
fn too_many_steps_are_refused() {
    let many = |count: usize| {
        let mut text = "name: w\nsteps:\n".to_owned();
        for number in 0..count {
            writeln!(text, "- {{ id: s{number}, task: x }}").unwrap();
        }
        text
    };
    assert_eq!(Definition::parse(&many(1000)).unwrap().steps.len(), 1000);
    assert_eq!(problems(&many(1001)), ["3:3: there are 1001 steps, and at most 1000 are allowed"]);
    assert_eq!(problems(&many(10_000)).len(), 1);
}

#[test]
fn bombs_and_large_files_are_refused_quickly() {
    let mut bomb = "a: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let alias = format!("*a{}", level - 1);
        let list = [alias.as_str(); 10].join(", ");
        writeln!(bomb, "b{level}: &a{level} [{list}]").unwrap();
    }
    bomb.push_str("name: w\nsteps: *a11\n");
    let deep = format!("name: w\nsteps: {}", "[".repeat(100_000));
    let wide = format!("name: w\nsteps: [{}]", "1,".repeat(100_000));
    let large = format!("name: w\ndescription: {}\n", "x".repeat(600 * 1024));
    let began = std::time::Instant::now();
    for text in [bomb, deep, wide, large] {
        let found = problems(&text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].len() < 400, "{found:?}");
    }
    assert!(began.elapsed() < std::time::Duration::from_secs(10));
}
