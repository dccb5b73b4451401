"""Thresholds, from the numbers that finish.py wrote.

python3 calibrate.py OUT [--data data] [--diagram FILE.svg]

They are chosen on `test_dev`; the other files show what they cost and save. Needs NumPy only.
"""
import argparse
import glob
import json
import os

import numpy as np

from words import NULLS

AGENTS = ["none", "operator", "navigator", "vault", "librarian", "automator", "planner", "chronicler"]

arguments = argparse.ArgumentParser()
arguments.add_argument("out")
arguments.add_argument("--data", default="data")
arguments.add_argument("--diagram")
options = arguments.parse_args()
tools = json.load(open(os.path.join(options.data, "tools.json")))
names = [*tools, *NULLS]
owners = np.array([AGENTS.index(tools[n]["agent"]) for n in tools] + [AGENTS.index(n) for n in NULLS])
dangerous = np.array([tools[n]["level"] == "dangerous" for n in tools] + [False] * len(NULLS))
weights = json.load(open(os.path.join(options.out, "report.json")))["weights"]
looked = np.load(os.path.join(options.out, "looked.npz"))


class Set:
    def __init__(self, path):
        self.name = os.path.basename(path)
        self.rows = [json.loads(line) for line in open(path, encoding="utf-8")]
        logits = weights["tool"] * looked[f"{self.name}/scores"] + weights["agent"] * looked[f"{self.name}/agents"][:, owners]
        p = np.exp(logits - logits.max(1, keepdims=True))
        self.p = p / p.sum(1, keepdims=True)
        by_agent = np.stack([self.p[:, owners == a].sum(1) for a in range(len(AGENTS))], 1)
        self.agent, self.agent_sure = by_agent.argmax(1), by_agent.max(1)
        own = np.where(owners[None, :] == self.agent[:, None], self.p, -1)
        self.choice, self.sure = own.argmax(1), own.max(1)
        self.among = self.sure / self.agent_sure
        self.agent_right = self.agent == [AGENTS.index(r["agent"]) for r in self.rows]
        self.right = self.choice == [names.index(r["tool"] or r["agent"]) for r in self.rows]
        self.levels = np.array([r.get("level") for r in self.rows])


sets = [Set(p) for p in sorted(glob.glob(os.path.join(options.data, "written/test_*.jsonl")))]


def reliability(sure, right, title):
    print(f"\n{title}: said, right, requests")
    edges = [0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.995, 1.0001]
    found, error = [], 0.0
    for low, high in zip(edges, edges[1:]):
        inside = (sure >= low) & (sure < high)
        if inside.any():
            found.append((float(sure[inside].mean()), float(right[inside].mean()), int(inside.sum())))
            error += abs(found[-1][0] - found[-1][1]) * found[-1][2]
            print("  %.3f  %.3f  %d" % found[-1])
    print("  expected calibration error %.3f" % (error / len(sure)))
    return found


dev, others = sets[0], sets[1:]
assert dev.name == "test_dev.jsonl"
join = lambda field: np.concatenate([getattr(s, field) for s in others])
diagrams = {
    "agent": reliability(join("agent_sure"), join("agent_right"), "agents, requests not used for tuning"),
    "tool": reliability(join("sure"), join("right"), "tools, requests not used for tuning"),
}
print("\ndangerous tools: threshold, wrong calls, questions about right ones")
for threshold in (0.0, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95):
    line = []
    for s in sets:
        called = dangerous[s.choice] & (s.sure >= threshold)
        asked = dangerous[s.choice] & (s.sure < threshold) & s.right
        line.append(f"{s.name} {100 * (called & ~s.right).mean():.2f} % / {100 * asked.sum() / max(1, (dangerous[s.choice] & s.right).sum()):.1f} %")
    print(f"  {threshold:.2f}  " + "   ".join(line))
print("\nother tools: threshold among the agent's own, questions about right ones, wrong ones called")
for threshold in (0.0, 0.35, 0.5, 0.6):
    line = []
    for s in sets:
        mine = ~dangerous[s.choice] & (s.choice < len(tools))
        line.append(f"{s.name} {100 * (mine & (s.among < threshold) & s.right).sum() / mine.sum():.1f} % / {100 * (mine & (s.among >= threshold) & ~s.right).sum() / mine.sum():.1f} %")
    print(f"  {threshold:.2f}  " + "   ".join(line))
print("\nfast path: threshold, share decided, wrong of these")
for threshold in (0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995):
    line = []
    for s in sets:
        sure = (s.agent_sure >= threshold) & (s.agent != AGENTS.index("none")) & (s.agent != AGENTS.index("planner"))
        line.append(f"{s.name} {100 * sure.mean():.1f} % / {100 * (~s.agent_right[sure]).mean():.2f} %")
    print(f"  {threshold:.3f}  " + "   ".join(line))
if options.diagram:
    size, parts = 320, []
    x = lambda v: 40 + v * size
    y = lambda v: 20 + size - v * size
    parts.append(f'<rect x="40" y="20" width="{size}" height="{size}" fill="none" stroke="#888"/>')
    parts.append(f'<line x1="{x(0)}" y1="{y(0)}" x2="{x(1)}" y2="{y(1)}" stroke="#bbb" stroke-dasharray="4"/>')
    for (name, points), colour in zip(diagrams.items(), ("#1f6f8b", "#c8553d")):
        parts.append(f'<polyline fill="none" stroke="{colour}" points="' + " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b, _ in points) + '"/>')
        parts += [f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="{2 + n ** 0.5 / 6:.1f}" fill="{colour}"/>' for a, b, n in points]
    parts.append(f'<text x="40" y="{size + 55}">said to be right</text><text x="50" y="15">right</text>')
    parts.append('<text x="240" y="300" fill="#1f6f8b">agent</text><text x="240" y="320" fill="#c8553d">tool</text>')
    open(options.diagram, "w").write(f'<svg xmlns="http://www.w3.org/2000/svg" width="400" height="390" font-family="sans-serif" font-size="12">' + "".join(parts) + "</svg>\n")
