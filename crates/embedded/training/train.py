"""Trains the embedded model. Everything is seeded; the same data gives the same figures up to the GPU's rounding.

python3 train.py --weights ENCODER.q8 --vocabulary vocabulary.txt --data data --out OUT [--epochs N] [--lr X] [--seed N]
"""
import argparse
import glob
import json
import math
import os
import random
import re
import time

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import BertWordPieceTokenizer

from examples import AGENTS, Pairs, load, meant_classes, target
from model import EmbeddedModel, read
from words import NULLS, card

arguments = argparse.ArgumentParser()
arguments.add_argument("--weights", required=True)
arguments.add_argument("--vocabulary", required=True)
arguments.add_argument("--data", default="data")
arguments.add_argument("--out", required=True)
arguments.add_argument("--epochs", type=int, default=12)
arguments.add_argument("--lr", type=float, default=2e-4)
arguments.add_argument("--seed", type=int, default=7)
arguments.add_argument("--batch", type=int, default=32)
arguments.add_argument("--questions", type=int, default=96, help="questions about parameters in a step")
arguments.add_argument("--train", default="shared/*.jsonl,written/train_*.jsonl,natural/train_*.jsonl")
arguments.add_argument("--test", default="written/test_*.jsonl")
arguments.add_argument("--invented", default="invented/train_*.jsonl")
arguments.add_argument("--name", default="model")
arguments.add_argument("--chatter", type=float, default=0.05, help="share of requests with small talk before them")
arguments.add_argument("--average", type=float, default=0.999, help="how slowly the averaged weights follow")
arguments.add_argument("--from", dest="begin", help="go on from this file instead of the encoder")
arguments.add_argument("--others", type=int, default=24, help="invented tools beside those that are asked for")
arguments.add_argument("--share", type=float, default=0.33, help="requests for invented tools, for each other request")
arguments.add_argument("--natural", type=int, default=3, help="how often each natural request is seen in an epoch")
arguments.add_argument("--without", default="", help="files of natural requests that are left out")
arguments.add_argument("--words", action="store_true", help="train the word vectors as well")
options = arguments.parse_args()

random.seed(options.seed)
np.random.seed(options.seed)
torch.manual_seed(options.seed)
device = "cuda" if torch.cuda.is_available() else "cpu"
def folded(text):
    return re.sub(r"\W+", " ", text.lower()).strip()


tokenizer = BertWordPieceTokenizer(options.vocabulary, lowercase=True)
pairs = Pairs(tokenizer)


def files(patterns):
    return sorted(p for pattern in patterns.split(",") for p in glob.glob(os.path.join(options.data, pattern)))


tools = json.load(open(os.path.join(options.data, "tools.json")))
train = load(files(options.train), tools)
tests = {os.path.basename(p): load([p], tools) for p in files(options.test)}
# Tools that do not exist, with requests: so that the model learns to read descriptions.
invented_tools, invented = {}, []
for path in files(options.invented):
    for line in open(path, encoding="utf-8"):
        if line.strip():
            entry = json.loads(line)
            invented_tools[entry["tool"]] = entry["declaration"]
            invented += [dict(r, tool=entry["tool"]) for r in entry["requests"]]
seen = {folded(r["text"]) for rows in tests.values() for r in rows}
train = [r for r in train if folded(r["text"]) not in seen]
held_back = set(options.without.split(",")) if options.without else set()
train = [r for r in train if r["source"] not in held_back]
train += [r for r in train if r.get("level") == "natural"] * (options.natural - 1)
print(f"{len(train)} to learn from, {len(invented)} for {len(invented_tools)} invented tools, "
      f"{ {n: len(r) for n, r in tests.items()} } to test with", flush=True)

names = list(tools)
index = {name: i for i, name in enumerate(names)}
all_tools = dict(tools) | invented_tools
all_names = list(all_tools)
all_index = {name: i for i, name in enumerate(all_names)}

made, unlearnable = [], 0
for row in train + invented:
    declaration = all_tools.get(row["tool"])
    for parameter in (declaration or {"parameters": []})["parameters"]:
        wanted = target(row, parameter)
        if wanted is False:
            unlearnable += 1
            continue
        made.append((row, row["tool"], parameter, wanted))
print(f"{len(made)} questions, {unlearnable} labels that are no span", flush=True)


def pad(lists, fill=0):
    width = max(map(len, lists))
    ids = torch.tensor([l + [fill] * (width - len(l)) for l in lists])
    mask = torch.tensor([[1] * len(l) + [0] * (width - len(l)) for l in lists])
    return ids.to(device), mask.to(device)


def encode_texts(model, texts, dropout=0.1):
    ids, mask = pad([tokenizer.encode(t).ids[:256] for t in texts])
    states = model.encoder(ids, mask, dropout)
    return model.encoder.pooled(states, mask)


def owners(offered):
    return [all_tools[n].get("agent") for n in offered]


chatter = [r["text"] for r in train if r["agent"] == "none" and 2 < len(r["text"].split()) < 12]


def altered(text, tool):
    """The same request as another user would type it."""
    draw = random.random()
    if tool and draw > 1 - options.chatter:  # some people talk before they ask
        return random.choice(chatter).rstrip(".") + ". " + text
    if draw < 0.06:
        return text.rstrip(".?!")
    if draw < 0.14 and len(text) > 12:  # a typo, in a word that is no argument for anybody
        at = random.randrange(1, len(text) - 1)
        if text[at].isalpha() and text[at + 1].isalpha():
            return text[:at] + text[at + 1] + text[at] + text[at + 2:]
    return text


def one_of(logits, allowed, smoothing=0.05):
    """Cross entropy where any of the allowed classes is right."""
    log_p = logits.log_softmax(-1)
    right = log_p.masked_fill(~allowed, -1e4).logsumexp(-1)
    return -((1 - smoothing) * right + smoothing * log_p.mean(-1)).mean()


model = EmbeddedModel(options.weights, AGENTS)
if options.begin:
    read(model, options.begin)
model = model.to(device)
model.encoder.words.requires_grad = options.words
groups = [
    {"params": [model.encoder.words], "lr": options.lr / 2} if options.words else {"params": [], "lr": 0.0},
    {"params": [p for p in model.encoder.layers.parameters()], "lr": options.lr},
    {"params": [p for n, p in model.named_parameters() if not n.startswith("encoder")], "lr": options.lr * 5},
]
optimizer = torch.optim.AdamW(groups, weight_decay=0.01, betas=(0.9, 0.98), fused=device == "cuda")
steps = options.epochs * math.ceil(len(train) / options.batch)
warmup = max(1, steps // 12)
schedule = torch.optim.lr_scheduler.LambdaLR(
    optimizer, lambda s: min(1.0, (s + 1) / warmup) * max(0.02, 0.5 * (1 + math.cos(math.pi * min(1.0, s / steps)))))
began, step = time.time(), 0
learnt = [p for p in model.parameters() if p.requires_grad]
averaged = [p.detach().clone() for p in learnt]
question_order, question_at = list(range(len(made))), 0
random.shuffle(question_order)
invented_order, invented_at = list(range(len(invented))), 0
random.shuffle(invented_order)

for epoch in range(options.epochs):
    model.train()
    order = list(range(len(train)))
    random.shuffle(order)
    sums = {}
    for start in range(0, len(order), options.batch):
        rows = [train[i] for i in order[start:start + options.batch]]
        extra = []
        if invented:
            for _ in range(int(options.batch * options.share)):
                extra.append(invented[invented_order[invented_at]])
                invented_at = (invented_at + 1) % len(invented)
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            texts = [altered(r["text"], r["tool"]) for r in rows + extra]
            vectors = encode_texts(model, texts)
            own = vectors[:len(rows)]
            classes = torch.zeros(len(rows), len(AGENTS), dtype=torch.bool)
            for k, r in enumerate(rows):
                classes[k, [AGENTS.index(c) for c in meant_classes(r)]] = True
            agent_loss = one_of(model.agent(own).float(), classes.to(device))
            # Cards as they may look: without description or parameters, now and then.
            offered = list(names)
            if extra:
                others = {r["tool"] for r in extra} | set(random.sample(list(invented_tools), min(options.others, len(invented_tools))))
                offered += sorted(others)
            cards = encode_texts(model, [
                card(n, all_tools[n], random.random() < 0.6, random.random() < 0.92) for n in offered] + list(NULLS.values()))
            scores = model.tool_scores(vectors, cards).float()
            place = {n: i for i, n in enumerate(offered)}
            nulls = {n: len(offered) + i for i, n in enumerate(NULLS)}
            meant = torch.zeros(len(rows) + len(extra), len(offered) + len(NULLS), dtype=torch.bool)
            for k, r in enumerate(rows + extra):
                meant[k, [place[r["tool"]]] if r["tool"] else [nulls[c] for c in meant_classes(r)]] = True
            tool_loss = one_of(scores, meant.to(device))
            with_tool = [i for i, r in enumerate(rows + extra) if r["tool"]]
            gold = torch.tensor([place[(rows + extra)[i]["tool"]] for i in with_tool], device=device)
            # Among the tools of its own agent: what the specialist is asked.
            allowed = torch.ones(len(with_tool), len(offered) + len(NULLS), dtype=torch.bool)
            for k, i in enumerate(with_tool):
                agent = all_tools[(rows + extra)[i]["tool"]].get("agent")
                if agent and random.random() < 0.9:
                    allowed[k] = torch.tensor([o in (agent, None) for o in owners(offered)] + [False] * len(NULLS))
            close_loss = F.cross_entropy(
                scores[with_tool].masked_fill(~allowed.to(device), -1e4), gold)
            batch = []
            while len(batch) < options.questions and made:
                row, name, parameter, wanted = made[question_order[question_at]]
                question_at = (question_at + 1) % len(made)
                # Most parameters are not given; half of those questions are enough.
                if wanted is None and random.random() < 0.35:
                    continue
                pair = pairs.make(name, parameter, row["text"], wanted, random.random() < 0.85)
                if pair["gold"] is not None:
                    batch.append(pair)
            ids, mask = pad([p["ids"] for p in batch])
            states = model.encoder(ids, mask)
            logits = model.span(states).float().masked_fill(mask[..., None] == 0, -1e4)
            starts = torch.tensor([p["gold"][0] for p in batch], device=device)
            ends = torch.tensor([p["gold"][1] for p in batch], device=device)
            span_loss = F.cross_entropy(logits[..., 0], starts) + F.cross_entropy(logits[..., 1], ends)
            loss = agent_loss + 0.7 * tool_loss + 0.7 * close_loss + 0.7 * span_loss
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        step += 1
        with torch.no_grad():
            follow = min(options.average, (1 + step) / (10 + step))
            torch._foreach_lerp_(averaged, learnt, 1 - follow)
        for key, value in dict(agent=agent_loss, tool=tool_loss, close=close_loss, span=span_loss).items():
            sums[key] = sums.get(key, 0.0) + value.detach() * len(rows)
    line = {k: round(float(v) / len(train), 4) for k, v in sums.items()}
    print(f"epoch {epoch + 1} {time.time() - began:.0f}s {line}", flush=True)

with torch.no_grad():
    for p, a in zip(learnt, averaged):
        p.copy_(a)
os.makedirs(options.out, exist_ok=True)
frozen = {n for n, p in model.named_parameters() if not p.requires_grad}
state = {n: v.half() for n, v in model.state_dict().items() if n not in frozen}
torch.save(state, os.path.join(options.out, options.name + ".pt"))
print(f"done in {time.time() - began:.0f}s", flush=True)
