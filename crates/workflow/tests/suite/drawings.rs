use lango_workflow::{Definition, draw_svg, draw_text};

use crate::REPORT;

#[test]
fn a_drawing_for_the_terminal_has_levels() {
    let drawing = draw_text(&Definition::parse(REPORT).unwrap());
    let expected = "daily-report: 5 steps

  ├── fetch      tool web_fetch (for each, retries, timeout)
  │
  ├── check      operator: Check these figures and say \"ok\" i…  ← fetch
  │
  ├┬─ release    asks a person (when)  ← check
   └─ apologise  Say that the check failed: {{ steps.check.er… (on failure)
  │
  ├── file       tool fs_write  ← release
";
    assert_eq!(drawing, expected);
}

#[test]
fn a_drawing_as_svg_is_well_formed_and_escaped() {
    let text = "name: a\nsteps:\n  - { id: a, task: \"<b> & \\\"c\\\"\" }\n  - { id: b, task: x, needs: a }";
    let svg = draw_svg(&Definition::parse(text).unwrap());
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    assert!(svg.contains("&lt;b&gt; &amp; &quot;c&quot;"), "{svg}");
    assert_eq!(svg.matches("<path ").count(), 1, "{svg}");
    assert_eq!(svg.matches("<rect ").count(), 3, "{svg}");
}
