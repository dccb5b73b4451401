"""Puts trained models together and writes what the program ships.

python3 finish.py A.pt [B.pt …] --weights ENCODER.q8 --vocabulary vocabulary.txt --data data --out OUT

The weights of several runs are averaged. Then the matrices are rounded to 8 bits, the two weights of the decision are
tuned on `test_dev`, and figures are printed for every test file. OUT gets `model.q8`, `report.json`, and `looked.npz` with
the numbers of every test request, for thresholds and diagrams.
"""
import argparse
import glob
import json
import os

import numpy as np
import torch
from tokenizers import BertWordPieceTokenizer

from evaluate import figures, look, tuned, vectors
from examples import AGENTS, Pairs, load
from model import EmbeddedModel, round_in_place, write
from words import NULLS, card

arguments = argparse.ArgumentParser()
arguments.add_argument("states", nargs="+")
arguments.add_argument("--weights", required=True)
arguments.add_argument("--vocabulary", required=True)
arguments.add_argument("--data", default="data")
arguments.add_argument("--test", default="written/test_*.jsonl")
arguments.add_argument("--out", required=True)
arguments.add_argument("--each", action="store_true", help="figures of every run as well")
options = arguments.parse_args()

device = "cuda" if torch.cuda.is_available() else "cpu"
tokenizer = BertWordPieceTokenizer(options.vocabulary, lowercase=True)
pairs = Pairs(tokenizer)
tools = json.load(open(os.path.join(options.data, "tools.json")))
tests = {os.path.basename(p): load([p], tools) for pattern in options.test.split(",")
         for p in sorted(glob.glob(os.path.join(options.data, pattern)))}
states = [torch.load(p, map_location="cpu") for p in options.states]
os.makedirs(options.out, exist_ok=True)


def ready(state):
    model = EmbeddedModel(options.weights, AGENTS)
    model.load_state_dict(state, strict=False)
    model = model.to(device).eval()
    round_in_place(model)
    return model


def told(name, model):
    looked = {n: look(model, tokenizer, pairs, tools, rows, device) for n, rows in tests.items()}
    loss, weight_tool, weight_agent = tuned(tests["test_dev.jsonl"], looked["test_dev.jsonl"], tools)
    print(f"{name}: loss {loss:.4f} tool {weight_tool:.1f} agent {weight_agent:.1f}", flush=True)
    for n, rows in tests.items():
        for level, line in figures(rows, looked[n], tools, weight_tool, weight_agent).items():
            print(f"  {n:20} {level:9} {line}", flush=True)
    return looked, weight_tool, weight_agent


@torch.no_grad()
def unseen(model, weight_tool, weight_agent, penalty):
    """How often requests reach tools that were never trained on, beside all that were."""
    entries = [json.loads(l) for p in sorted(glob.glob(os.path.join(options.data, "invented/test_*.jsonl"))) for l in open(p)]
    cards = vectors(model, tokenizer, [card(n, tools[n]) for n in tools] + list(NULLS.values())
                    + [card(e["tool"], e["declaration"]) for e in entries], device)
    owners = [AGENTS.index(tools[n]["agent"]) for n in tools] + [AGENTS.index(n) for n in NULLS]
    right = total = 0
    for at, entry in enumerate(entries):
        requests = vectors(model, tokenizer, [r["text"] for r in entry["requests"]], device)
        agents = model.agent(requests).log_softmax(-1)
        own = agents[:, owners]
        other = agents.max(1, keepdim=True).values.expand(-1, len(entries)) - penalty / max(weight_agent, 1e-6)
        logits = weight_tool * model.tool_scores(requests, cards) + weight_agent * torch.cat([own, other], 1)
        found = logits.argmax(1).cpu().numpy()
        right += int((found == len(owners) + at).sum())
        total += len(found)
    return 100 * right / total


if options.each:
    for path, state in zip(options.states, states):
        told(path, ready(state))
mean = {k: sum(s[k].float() for s in states) / len(states) for k in states[0]}
model = ready(mean)
looked, weight_tool, weight_agent = told("shipped", model)
for penalty in (0.0, 0.5, 1.0, 2.0):
    print(f"unseen tools reached, penalty {penalty}: {unseen(model, weight_tool, weight_agent, penalty):.1f} %", flush=True)
report = {n: figures(rows, looked[n], tools, weight_tool, weight_agent, details=True) for n, rows in tests.items()}
report["weights"] = dict(tool=weight_tool, agent=weight_agent)
json.dump(report, open(os.path.join(options.out, "report.json"), "w"), indent=1)
np.savez_compressed(os.path.join(options.out, "looked.npz"),
                    **{f"{n}/{k}": looked[n][k] for n in tests for k in ("agents", "scores")})
with torch.no_grad():
    cards = vectors(model, tokenizer, [card(n, tools[n]) for n in tools] + list(NULLS.values()), device)
    offers = torch.nn.functional.normalize(model.offer(cards), dim=-1)
write(model, os.path.join(options.out, "model.q8"), AGENTS, offers, (weight_tool, weight_agent))
