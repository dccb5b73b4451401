"""Figures on labelled requests: agent, tool, arguments, by level."""
import json
from collections import Counter, defaultdict

import torch

from amounts import numbers, value_for
from examples import AGENTS, cleaned
from words import card

LONGEST_SPAN = 90


def padded(lists, device):
    width = max(map(len, lists))
    ids = torch.tensor([l + [0] * (width - len(l)) for l in lists]).to(device)
    mask = torch.tensor([[1] * len(l) + [0] * (width - len(l)) for l in lists]).to(device)
    return ids, mask


@torch.no_grad()
def vectors(box, tokenizer, texts, device):
    out = []
    for at in range(0, len(texts), 256):
        ids, mask = padded([tokenizer.encode(t).ids[:256] for t in texts[at:at + 256]], device)
        out.append(box.encoder.pooled(box.encoder(ids, mask), mask).float())
    return torch.cat(out)


@torch.no_grad()
def answers(box, questions, device):
    """For each question (name, parameter, pair): the value, or None."""
    found = []
    for at in range(0, len(questions), 256):
        part = questions[at:at + 256]
        ids, mask = padded([pair["ids"] for _, _, pair in part], device)
        logits = box.span(box.encoder(ids, mask).float()).float().cpu()
        for (name, parameter, pair), row in zip(part, logits):
            found.append(read(parameter, pair, row))
    return found


def read(parameter, pair, logits):
    starts, ends = logits[:, 0], logits[:, 1]
    nothing = (starts[0] + ends[0]).item()
    if pair["choices"]:
        best = max(pair["choices"].items(), key=lambda c: (starts[c[1][0]] + ends[c[1][1]]).item())
        score = (starts[best[1][0]] + ends[best[1][1]]).item()
        if score <= nothing:
            return None
        return True if parameter["type"] == "boolean" else best[0]
    first, count = pair["first"], len(pair["offsets"])
    s, e = starts[first:first + count], ends[first:first + count]
    table = s[:, None] + e[None, :]
    allowed = torch.ones_like(table).triu() * torch.ones_like(table).tril(LONGEST_SPAN)
    table = table.masked_fill(allowed == 0, -1e4)
    if not count or table.max().item() <= nothing:
        return None
    at = int(table.argmax())
    start, end = pair["offsets"][at // count][0], pair["offsets"][at % count][1]
    text = pair["text"]
    if parameter["type"] in ("integer", "number"):
        inside = [n for n in numbers(text) if n[0] < end and n[1] > start]
        return value_for(parameter["name"], inside[0]) if inside else None
    start, end = cleaned(text, start, end)
    value = text[start:end]
    if parameter["type"] == "array":
        parts = value.replace(" and ", ",").replace(" or ", ",").split(",")
        return [p.strip(" \"'`") for p in parts if p.strip(" \"'`")]
    return value or None


def same(a, b):
    fold = lambda v: v.strip().lower() if isinstance(v, str) else v
    return fold(a) == fold(b)


def evaluate(box, tokenizer, pairs, tools, rows, device, details=False):
    names = list(tools)
    cards = vectors(box, tokenizer, [card(n, tools[n]) for n in names], device)
    requests = vectors(box, tokenizer, [r["text"] for r in rows], device)
    with torch.no_grad():
        agents = box.agent(requests).softmax(-1).cpu()
        scores = box.tool_scores(requests, cards).cpu()
    owner = [tools[n]["agent"] for n in names]
    levels = defaultdict(Counter)
    confusion, wrong, reliability = Counter(), [], []
    questions, where = [], []
    for i, row in enumerate(rows):
        level = row.get("level") or "shared"
        predicted = AGENTS[int(agents[i].argmax())]
        c = levels[level]
        c["n"] += 1
        c["agent"] += predicted == row["agent"]
        confusion[(row["agent"], predicted)] += 1
        if row["agent"] == "none":
            c["small"] += 1
            c["small_right"] += predicted == "none"
        allowed = torch.tensor([o == predicted for o in owner])
        tool, sure = None, 1.0
        if allowed.any():
            p = scores[i].masked_fill(~allowed, -1e4).softmax(-1)
            tool, sure = names[int(p.argmax())], p.max().item()
        reliability.append((agents[i].max().item(), sure, predicted == row["agent"], tool == row["tool"], row["agent"], row["tool"], tool))
        if row["tool"]:
            c["tools"] += 1
            c["tool"] += tool == row["tool"]
            if tool == row["tool"]:
                for parameter in tools[tool]["parameters"]:
                    questions.append((tool, parameter, pairs.make(tool, parameter, row["text"])))
                    where.append(i)
        if tool != row["tool"] or predicted != row["agent"]:
            wrong.append(dict(row, got_agent=predicted, got_tool=tool, sure=round(agents[i].max().item() * sure, 3)))
            if tool and tools[tool]["level"] == "dangerous":
                c["dangerous"] += 1
    values = answers(box, questions, device)
    got = defaultdict(dict)
    for i, (_, parameter, _), value in zip(where, questions, values):
        if value is not None:
            got[i][parameter["name"]] = value
    wrong_arguments = []
    for i in sorted(set(where) | {i for i, r in enumerate(rows) if r["tool"] and not tools[r["tool"]]["parameters"]}):
        row = rows[i]
        c = levels[row.get("level") or "shared"]
        if reliability[i][6] != row["tool"]:
            continue
        c["called"] += 1
        fine = set(got[i]) == set(row["args"]) and all(same(got[i][k], row["args"][k]) for k in got[i])
        c["arguments"] += fine
        if not fine:
            wrong_arguments.append(dict(text=row["text"], tool=row["tool"], args=row["args"], got=got[i], level=row.get("level")))
    percent = lambda a, b: round(100 * a / b, 1) if b else None
    summary = {level: dict(n=c["n"], agent=percent(c["agent"], c["n"]), tool=percent(c["tool"], c["tools"]),
                           arguments=percent(c["arguments"], c["called"]), small=percent(c["small_right"], c["small"]),
                           dangerous=percent(c["dangerous"], c["n"])) for level, c in sorted(levels.items())}
    result = dict(summary=summary)
    if details:
        result.update(confusion=[[a, b, n] for (a, b), n in sorted(confusion.items())], wrong=wrong,
                      wrong_arguments=wrong_arguments, reliability=reliability)
    return result
