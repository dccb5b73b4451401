//! Checks what concerns several steps: ids, needs, circles, and that templates name what is there.

use std::collections::{BTreeMap, BTreeSet};

use crate::definition::{Definition, FailureRule};
use crate::node::Position;
use crate::read::{Reader, nearest};
use crate::read_step::StepPlaces;
use crate::template::Reference;

/// Checks a definition, and replaces the names of steps by their positions.
pub(crate) fn check_definition(
    reader: &mut Reader,
    definition: &mut Definition,
    places: &[StepPlaces],
    output_places: &[Position],
) {
    let ids = check_ids(reader, definition, places);
    resolve_names(reader, definition, places, &ids);
    check_handlers(reader, definition, places);
    if !check_circles(reader, definition, places) {
        return;
    }
    let before = collect_preceding(definition);
    check_references(reader, definition, places, &ids, &before);
    let outputs = std::mem::take(&mut definition.outputs);
    for ((name, value), place) in outputs.iter().zip(output_places) {
        for reference in value.list_references() {
            check_name(reader, definition, *place, reference, &ids);
            if reference.is_item() {
                reader.report(*place, format!("the output {name} uses item, which steps have"));
            }
        }
    }
    definition.outputs = outputs;
}

fn check_ids(
    reader: &mut Reader,
    definition: &Definition,
    places: &[StepPlaces],
) -> BTreeMap<String, usize> {
    let mut ids = BTreeMap::new();
    for (position, (step, place)) in definition.steps.iter().zip(places).enumerate() {
        if let Some(first) = ids.get(&step.id) {
            let first: &usize = first;
            let line = definition.steps[*first].line;
            let reason = format!("there is a step {:?} already, in line {line}", step.id);
            reader.report(place.place, reason);
        } else {
            ids.insert(step.id.clone(), position);
        }
    }
    ids
}

fn resolve_names(
    reader: &mut Reader,
    definition: &mut Definition,
    places: &[StepPlaces],
    ids: &BTreeMap<String, usize>,
) {
    let known: Vec<&str> = ids.keys().map(String::as_str).collect();
    for (position, (step, place)) in definition.steps.iter_mut().zip(places).enumerate() {
        let mut find = |(place, id): &(Position, String)| {
            let found = ids.get(id).copied();
            match found {
                None => {
                    let reason = format!("there is no step {id:?}{}", nearest(id, &known));
                    reader.report(*place, reason);
                }
                Some(other) if other == position => {
                    reader.report(*place, format!("the step {id} needs itself"));
                    return None;
                }
                Some(_) => {}
            }
            found
        };
        step.needs = place.needs.iter().filter_map(&mut find).collect();
        step.needs.sort_unstable();
        step.needs.dedup();
        if let Some(handler) = place.handler.as_ref().and_then(&mut find) {
            step.on_failure = FailureRule::Run(handler);
        }
    }
}

/// Marks the steps that run because another one failed, and checks that they stand alone.
fn check_handlers(reader: &mut Reader, definition: &mut Definition, places: &[StepPlaces]) {
    let handlers: BTreeSet<usize> = definition
        .steps
        .iter()
        .filter_map(|step| match step.on_failure {
            FailureRule::Run(handler) => Some(handler),
            FailureRule::Stop | FailureRule::Continue => None,
        })
        .collect();
    for handler in &handlers {
        definition.steps[*handler].is_handler = true;
    }
    for (step, place) in definition.steps.iter().zip(places) {
        let id = &step.id;
        if step.is_handler && !step.needs.is_empty() {
            let reason =
                format!("the step {id} runs when another one fails, and cannot have needs");
            reader.report(place.of("needs"), reason);
        }
        if step.is_handler && matches!(step.on_failure, FailureRule::Run(_)) {
            let reason = format!("the step {id} runs when another one fails: it has no on_failure");
            reader.report(place.of("on_failure"), reason);
        }
        if let Some(handler) = step.needs.iter().find(|need| handlers.contains(need)) {
            let handler = &definition.steps[*handler].id;
            let reason = format!("{handler} runs only when a step fails, and cannot be needed");
            reader.report(place.of("needs"), reason);
        }
    }
}

/// Tells whether no step needs itself through others.
fn check_circles(reader: &mut Reader, definition: &Definition, places: &[StepPlaces]) -> bool {
    let order = order_steps(definition);
    if order.len() == definition.steps.len() {
        return true;
    }
    let ordered: BTreeSet<usize> = order.into_iter().collect();
    let Some(start) = (0..definition.steps.len()).find(|step| !ordered.contains(step)) else {
        return true;
    };
    // Every step outside the order needs another such step, so that this walk comes back to one.
    let (mut walk, mut step) = (Vec::new(), start);
    while !walk.contains(&step) {
        walk.push(step);
        let next = definition.steps[step].needs.iter().find(|need| !ordered.contains(need));
        match next {
            Some(next) => step = *next,
            None => break,
        }
    }
    let first = walk.iter().position(|seen| *seen == step).unwrap_or(0);
    let mut names: Vec<&str> =
        walk[first..].iter().map(|step| definition.steps[*step].id.as_str()).collect();
    names.push(&definition.steps[step].id);
    let reason = format!("steps need each other in a circle: {}", names.join(" needs "));
    reader.report(places[step].of("needs"), reason);
    false
}

/// Returns the positions of the steps in an order in which each comes after those it needs. Steps of a
/// circle, and those after it, are left out.
pub(crate) fn order_steps(definition: &Definition) -> Vec<usize> {
    let count = definition.steps.len();
    let mut missing: Vec<usize> = definition.steps.iter().map(|step| step.needs.len()).collect();
    let mut followers = vec![Vec::new(); count];
    for (position, step) in definition.steps.iter().enumerate() {
        for need in &step.needs {
            followers[*need].push(position);
        }
    }
    let mut order: Vec<usize> = (0..count).filter(|step| missing[*step] == 0).collect();
    let mut next = 0;
    while let Some(step) = order.get(next).copied() {
        next += 1;
        for follower in &followers[step] {
            missing[*follower] -= 1;
            if missing[*follower] == 0 {
                order.push(*follower);
            }
        }
    }
    order
}

/// Returns for each step all steps that have ended when it begins.
fn collect_preceding(definition: &Definition) -> Vec<BTreeSet<usize>> {
    let mut before = vec![BTreeSet::new(); definition.steps.len()];
    for step in order_steps(definition) {
        let mut own = BTreeSet::new();
        for need in &definition.steps[step].needs {
            own.insert(*need);
            own.extend(before[*need].iter().copied());
        }
        before[step] = own;
    }
    // A handler comes after the steps whose failure it handles.
    for (position, step) in definition.steps.iter().enumerate() {
        if let FailureRule::Run(handler) = step.on_failure {
            let mut preceding = before[position].clone();
            preceding.insert(position);
            before[handler].extend(preceding);
        }
    }
    before
}

fn check_references(
    reader: &mut Reader,
    definition: &Definition,
    places: &[StepPlaces],
    ids: &BTreeMap<String, usize>,
    before: &[BTreeSet<usize>],
) {
    for (position, (step, place)) in definition.steps.iter().zip(places).enumerate() {
        for reference in step.list_references() {
            let at = place.of(find_part(step, reference));
            if !check_name(reader, definition, at, reference, ids) {
                continue;
            }
            if reference.is_item() && step.for_each.is_none() {
                reader.report(at, format!("the step {} uses item and has no for_each", step.id));
            }
            let used = reference.step().and_then(|id| ids.get(id));
            if let Some(used) = used
                && !before[position].contains(used)
            {
                let other = &definition.steps[*used].id;
                let reason = if *used == position {
                    format!("the step {other} uses its own result")
                } else {
                    format!(
                        "{} uses {reference} and does not need {other}. Add it to needs",
                        step.id
                    )
                };
                reader.report(at, reason);
            }
        }
        if step.list_item_free_references().into_iter().any(Reference::is_item) {
            let reason = "item is known in task and arguments only: when, approve and for_each are \
                          looked at once for the whole step";
            reader.report(place.of("for_each"), reason);
        }
    }
}

/// Returns the key in which a step names something.
fn find_part(step: &crate::Step, reference: &Reference) -> &'static str {
    let has = |references: Vec<&Reference>| references.contains(&reference);
    if step.when.as_ref().is_some_and(|when| has(when.list_references())) {
        "when"
    } else if step.for_each.as_ref().is_some_and(|items| has(items.list_references())) {
        "for_each"
    } else if step.approve.as_ref().is_some_and(|text| has(text.list_references())) {
        "approve"
    } else if matches!(step.action, crate::Action::Call { .. }) {
        "arguments"
    } else {
        "task"
    }
}

/// Tells whether the input or the step of a reference exists.
fn check_name(
    reader: &mut Reader,
    definition: &Definition,
    place: Position,
    reference: &Reference,
    ids: &BTreeMap<String, usize>,
) -> bool {
    if let Reference::Input { name, .. } = reference {
        let known: Vec<&str> = definition.inputs.iter().map(|input| input.name.as_str()).collect();
        if !known.contains(&name.as_str()) {
            let hint = if known.is_empty() {
                ". Declare it: inputs: { NAME: { type: string } }".to_owned()
            } else {
                nearest(name, &known)
            };
            reader.report(place, format!("there is no input {name:?}{hint}"));
            return false;
        }
    }
    if let Some(step) = reference.step()
        && !ids.contains_key(step)
    {
        let known: Vec<&str> = ids.keys().map(String::as_str).collect();
        reader.report(place, format!("there is no step {step:?}{}", nearest(step, &known)));
        return false;
    }
    true
}
