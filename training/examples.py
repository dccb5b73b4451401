"""From labelled requests to what the model learns from."""
import json
import random
import re

from amounts import numbers, value_for
from words import card, choices, human, question

AGENTS = ["none", "operator", "navigator", "vault", "librarian", "automator", "planner", "chronicler"]
LONGEST_QUESTION = 48
LONGEST = 160


def load(paths):
    rows = []
    for path in paths:
        for line in open(path, encoding="utf-8"):
            if line.strip():
                row = json.loads(line)
                row["source"] = path.rsplit("/", 1)[-1]
                rows.append(row)
    return rows


def place_of(text, value):
    """Where a value stands in the text: as a word of its own where it can."""
    spans = [m.start() for m in re.finditer(re.escape(value), text)]
    if not spans:
        spans = [m.start() for m in re.finditer(re.escape(value.lower()), text.lower())]
        if not spans or len(text) != len(text.lower()):
            return None
    whole = [s for s in spans if (s == 0 or not text[s - 1].isalnum() or not value[0].isalnum())
             and (s + len(value) == len(text) or not text[s + len(value)].isalnum() or not value[-1].isalnum())]
    start = (whole or spans)[0]
    return start, start + len(value)


def target(row, parameter):
    """('text', span) | ('choice', value) | None, or False where the label cannot be learnt from."""
    name = parameter["name"]
    value = row["args"].get(name)
    if parameter["type"] == "boolean":
        return ("choice", "yes") if value is True else None
    if value is None:
        return None
    if parameter["type"] == "enum":
        return ("choice", value) if value in parameter["values"] else False
    if isinstance(value, list):
        spans = [place_of(row["text"], v) for v in value]
        if not spans or any(s is None for s in spans):
            return False
        return ("text", (min(s[0] for s in spans), max(s[1] for s in spans)))
    if not isinstance(value, str):
        for number in numbers(row["text"]):
            if value_for(name, number) == value:
                return ("text", number[:2])
        return False
    span = place_of(row["text"], value) if value else None
    return ("text", span) if span else False


class Pairs:
    """Questions about parameters, tokenised together with the request."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer

    def make(self, name, parameter, text, wanted=None, description=True):
        ask, places = question(name, parameter, description)
        q = self.tokenizer.encode(ask, add_special_tokens=False)
        t = self.tokenizer.encode(text, add_special_tokens=False)
        keep = LONGEST_QUESTION
        if len(q.ids) > keep:  # the choices stand at the end
            cut = len(q.ids) - keep
            q_ids, q_offsets = q.ids[:8] + q.ids[8 + cut:], q.offsets[:8] + q.offsets[8 + cut:]
        else:
            q_ids, q_offsets = q.ids, q.offsets
        t_ids, t_offsets = t.ids[:LONGEST], t.offsets[:LONGEST]
        ids = [101] + q_ids + [102] + t_ids + [102]
        first = len(q_ids) + 2
        made = dict(ids=ids, first=first, offsets=t_offsets, choices={}, text=text)
        for value, (start, end) in places.items():
            inside = [i for i, (a, b) in enumerate(q_offsets) if a < end and b > start]
            if inside:
                made["choices"][value] = (inside[0] + 1, inside[-1] + 1)
        if wanted is None:
            made["gold"] = (0, 0)
        elif wanted[0] == "choice":
            made["gold"] = made["choices"].get(wanted[1])
        else:
            start, end = wanted[1]
            inside = [i for i, (a, b) in enumerate(t_offsets) if a < end and b > start]
            made["gold"] = (inside[0] + first, inside[-1] + first) if inside else None
        return made


QUOTES = "\"'`“”‘’«»"


def cleaned(text, start, end):
    """A span without quotes and the sentence's own punctuation around it."""
    while start < end and (text[start].isspace() or text[start] in QUOTES + ",:;"):
        start += 1
    while end > start and (text[end - 1].isspace() or text[end - 1] in QUOTES + ",;:!?" or
                           (text[end - 1] == "." and not text[start:end].endswith(("..", "/.")) and text[start:end] != ".")):
        end -= 1
    return start, end
