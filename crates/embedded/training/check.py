"""check.py FILE: every line is in the format, its arguments are spans, and no text comes twice."""
import collections
import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent / "data"
TOOLS = json.loads((HERE / "tools.json").read_text())


def folded(text):
    return re.sub(r"\W+", " ", text.lower()).strip()


seen, bad, levels, tools = set(), 0, collections.Counter(), collections.Counter()
for number, line in enumerate(open(sys.argv[1], encoding="utf-8"), 1):
    if not line.strip():
        continue
    row = json.loads(line)

    def wrong(why):
        global bad
        bad += 1
        print(number, why, row["text"][:90])

    if row.get("level") not in (None, "plain", "indirect", "hard"):
        wrong("level")
    if folded(row["text"]) in seen:
        wrong("twice")
    seen.add(folded(row["text"]))
    tool, agent = row["tool"], row["agent"]
    if tool is None:
        if agent not in ("none", "planner"):
            wrong("an agent without a tool")
        parameters = {}
    elif tool not in TOOLS or TOOLS[tool]["agent"] != agent:
        wrong("the tool is another agent's")
        continue
    else:
        parameters = {p["name"]: p for p in TOOLS[tool]["parameters"]}
    for name, value in row["args"].items():
        parameter = parameters.get(name)
        if parameter is None:
            wrong(f"no parameter {name}")
        elif parameter["type"] in ("integer", "number", "boolean"):
            if isinstance(value, str):
                wrong(f"{name} is text")
        elif parameter["type"] == "enum":
            if value not in parameter["values"]:
                wrong(f"{name}: {value!r} is no choice")
        else:
            for part in value if isinstance(value, list) else [value]:
                if part not in row["text"]:
                    wrong(f"{name}: {part!r} is not in the text")
    levels[row.get("level")] += 1
    tools[tool or agent] += 1
print(dict(levels), "wrong:", bad, "of", len(seen))
