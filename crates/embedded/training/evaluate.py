"""What a model makes of labelled requests, and figures about it."""
from collections import Counter, defaultdict

import numpy as np
import torch

from amounts import numbers, value_for
from examples import AGENTS, cleaned, meant_classes
from words import NULLS, SMALL_TALK, card

LONGEST_SPAN = 90


def padded(lists, device):
    width = max(map(len, lists))
    ids = torch.tensor([l + [0] * (width - len(l)) for l in lists]).to(device)
    mask = torch.tensor([[1] * len(l) + [0] * (width - len(l)) for l in lists]).to(device)
    return ids, mask


@torch.no_grad()
def vectors(model, tokenizer, texts, device):
    out = []
    for at in range(0, len(texts), 256):
        ids, mask = padded([tokenizer.encode(t).ids[:256] for t in texts[at:at + 256]], device)
        out.append(model.encoder.pooled(model.encoder(ids, mask), mask).float())
    return torch.cat(out)


@torch.no_grad()
def answers(model, questions, device):
    """For each question (name, parameter, pair): the value, or None."""
    found = []
    for at in range(0, len(questions), 256):
        part = questions[at:at + 256]
        ids, mask = padded([pair["ids"] for _, _, pair in part], device)
        logits = model.span(model.encoder(ids, mask).float()).float().cpu()
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


@torch.no_grad()
def look(model, tokenizer, pairs, tools, rows, device):
    """Numbers for each request, and the arguments of the tool that is meant."""
    names = list(tools)
    cards = vectors(model, tokenizer, [card(n, tools[n]) for n in names] + list(NULLS.values()), device)
    requests = vectors(model, tokenizer, [r["text"] for r in rows], device)
    questions, where = [], []
    for i, row in enumerate(rows):
        for parameter in tools[row["tool"]]["parameters"] if row["tool"] else []:
            questions.append((row["tool"], parameter, pairs.make(row["tool"], parameter, row["text"])))
            where.append(i)
    arguments = [{} for _ in rows]
    for i, (_, parameter, _), value in zip(where, questions, answers(model, questions, device) if questions else []):
        if value is not None:
            arguments[i][parameter["name"]] = value
    return dict(
        agents=model.agent(requests).log_softmax(-1).cpu().numpy(),
        scores=model.tool_scores(requests, cards).cpu().numpy(),
        arguments=arguments,
    )


def judged(looked, tools, weight_tool, weight_agent):
    """The probability of every tool, and of nothing and of a plan, for each request."""
    owners = [AGENTS.index(tools[n]["agent"]) for n in tools] + [AGENTS.index(n) for n in NULLS]
    logits = weight_tool * looked["scores"] + weight_agent * looked["agents"][:, owners]
    logits = logits - logits.max(1, keepdims=True)
    p = np.exp(logits)
    return p / p.sum(1, keepdims=True), np.array(owners)


def meanings(rows, tools):
    """For each request, which meanings are right."""
    place = {n: i for i, n in enumerate([*tools, *NULLS])}
    right = np.zeros((len(rows), len(place)), dtype=bool)
    for i, row in enumerate(rows):
        right[i, [place[n] for n in ([row["tool"]] if row["tool"] else meant_classes(row))]] = True
    return right


def figures(rows, looked, tools, weight_tool, weight_agent, details=False):
    p, owners = judged(looked, tools, weight_tool, weight_agent)
    by_agent = np.stack([p[:, owners == a].sum(1) for a in range(len(AGENTS))], 1)
    names = [*tools, *NULLS]
    levels, confusion = defaultdict(Counter), Counter()
    wrong, wrong_arguments = [], []
    for i, row in enumerate(rows):
        c = levels[row.get("level") or "shared"]
        agent = int(by_agent[i].argmax())
        # The specialist chooses among its own.
        own = np.where(owners == agent, p[i], -1.0)
        tool = names[int(own.argmax())]
        sure = float(own.max())
        tool = None if tool in NULLS else tool
        if row.get("level") != "natural" and AGENTS[agent] in SMALL_TALK:
            agent = AGENTS.index("none")
        c["n"] += 1
        c["agent"] += AGENTS[agent] == row["agent"]
        confusion[(row["agent"], AGENTS[agent])] += 1
        if row["agent"] == "none":
            c["small"] += 1
            c["small_right"] += AGENTS[agent] == "none"
        if row["tool"]:
            c["tools"] += 1
            c["tool"] += tool == row["tool"]
            if tool == row["tool"]:
                got = looked["arguments"][i]
                fine = set(got) == set(row["args"]) and all(same(got[k], row["args"][k]) for k in got)
                c["called"] += 1
                c["arguments"] += fine
                if not fine:
                    wrong_arguments.append(dict(text=row["text"], tool=row["tool"], args=row["args"], got=got, level=row.get("level")))
        if tool != row["tool"] or AGENTS[agent] != row["agent"]:
            wrong.append(dict(row, got_agent=AGENTS[agent], got_tool=tool, sure=round(sure, 3)))
            if tool and tools[tool]["level"] == "dangerous":
                c["dangerous"] += 1
    percent = lambda a, b: round(100 * a / b, 1) if b else None
    summary = {level: dict(n=c["n"], agent=percent(c["agent"], c["n"]), tool=percent(c["tool"], c["tools"]),
                           arguments=percent(c["arguments"], c["called"]), small=percent(c["small_right"], c["small"]),
                           dangerous=percent(c["dangerous"], c["n"])) for level, c in sorted(levels.items())}
    if not details:
        return summary
    return dict(summary=summary, confusion=[[a, b, n] for (a, b), n in sorted(confusion.items())], wrong=wrong,
                wrong_arguments=wrong_arguments)


def tuned(rows, looked, tools):
    """The two weights that make the probabilities of these requests most likely."""
    gold, best = meanings(rows, tools), None
    for weight_tool in np.arange(0.3, 2.6, 0.1):
        for weight_agent in np.arange(0.0, 2.1, 0.1):
            p, _ = judged(looked, tools, weight_tool, weight_agent)
            loss = -np.log(np.maximum((p * gold).sum(1), 1e-9)).mean()
            if best is None or loss < best[0]:
                best = (loss, float(weight_tool), float(weight_agent))
    return best
