//! Draws a traversal as a tree for a terminal.

use lango_text::make_visible;

use super::Traversal;

/// Draws a traversal: each relation once, under the end that is nearer to the start. `→` leads from
/// subject to object, `←` the other way; `…` marks a node with further relations; `↑` marks a node
/// that is drawn at another position.
pub fn render_tree(traversal: &Traversal) -> String {
    let Some(start) = traversal.nodes.first() else { return String::new() };
    let mut children: Vec<Vec<TreeChild>> = traversal.nodes.iter().map(|_| Vec::new()).collect();
    for (index, edge) in traversal.edges.iter().enumerate() {
        let led = |node: usize| traversal.nodes[node].via == Some(index);
        let depth = |node: usize| traversal.nodes[node].depth;
        // Under the nearer end, unless this very relation led to it.
        let outgoing =
            !led(edge.subject) && (led(edge.object) || depth(edge.subject) <= depth(edge.object));
        let (parent, child) =
            if outgoing { (edge.subject, edge.object) } else { (edge.object, edge.subject) };
        children[parent].push(TreeChild { edge: index, node: child, outgoing, first: led(child) });
    }
    let mut text = make_visible(&start.name);
    if start.open {
        text.push_str(" …");
    }
    text.push('\n');
    // An explicit stack: the depth depends on the data.
    let mut open: Vec<(usize, usize, String)> = vec![(0, 0, String::new())];
    while let Some((node, position, indent)) = open.pop() {
        let Some(child) = children[node].get(position) else { continue };
        let last = position + 1 == children[node].len();
        let (branch, below) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let predicate = make_visible(&traversal.edges[child.edge].predicate);
        let arrow = if child.outgoing { "→" } else { "←" };
        let name = make_visible(&traversal.nodes[child.node].name);
        let mark = match (child.first, traversal.nodes[child.node].open) {
            (false, _) => " ↑",
            (true, true) => " …",
            (true, false) => "",
        };
        text.push_str(&format!("{indent}{branch}{predicate} {arrow} {name}{mark}\n"));
        open.push((node, position + 1, indent.clone()));
        if child.first {
            open.push((child.node, 0, format!("{indent}{below}")));
        }
    }
    for cut in &traversal.cut {
        text.push_str(&format!("({})\n", make_visible(cut)));
    }
    text
}

struct TreeChild {
    edge: usize,
    node: usize,
    outgoing: bool,
    /// True if the node is drawn here.
    first: bool,
}

#[cfg(test)]
mod tests {
    use super::super::{ReachedEdge, ReachedNode};
    use super::*;

    fn node(name: &str, depth: u32, via: Option<usize>, open: bool) -> ReachedNode {
        ReachedNode { name: name.into(), depth, via, open }
    }

    fn edge(subject: usize, predicate: &str, object: usize) -> ReachedEdge {
        ReachedEdge { subject, predicate: predicate.into(), object }
    }

    #[test]
    fn every_relation_is_drawn_once_with_its_direction() {
        let traversal = Traversal {
            nodes: vec![
                node("Ada", 0, None, false),
                node("Notes", 1, Some(0), false),
                node("Annabella", 1, Some(1), true),
                node("Engine", 2, Some(2), false),
            ],
            edges: vec![
                edge(0, "wrote", 1),
                edge(2, "mother of", 0),
                edge(1, "about", 3),
                edge(3, "fascinated", 0),
                edge(0, "knows", 0),
            ],
            cut: vec!["there is more".to_owned()],
        };
        assert_eq!(
            render_tree(&traversal),
            "Ada\n\
             ├─ wrote → Notes\n\
             │  └─ about → Engine\n\
             ├─ mother of ← Annabella …\n\
             ├─ fascinated ← Engine ↑\n\
             └─ knows → Ada ↑\n\
             (there is more)\n"
        );
    }

    #[test]
    fn names_cannot_draw() {
        let mut traversal = Traversal::default();
        traversal.nodes.push(node("a\u{1b}[2Jb", 0, None, false));
        assert_eq!(render_tree(&traversal), "a\\u{1b}[2Jb\n");
    }
}
