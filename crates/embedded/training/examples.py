"""From labelled requests to what the model learns from."""
import json
import random
import re

from amounts import numbers, value_for
from words import SMALL_TALK, card, choices, human, question

AGENTS = ["none", "operator", "navigator", "vault", "librarian", "automator", "planner", "chronicler",
          "help", "write", "ask", "stray"]
LONGEST_QUESTION = 48
LONGEST = 160


def load(paths, tools=None):
    rows = []
    for path in paths:
        for line in open(path, encoding="utf-8"):
            if line.strip():
                row = json.loads(line)
                row["source"] = path.rsplit("/", 1)[-1]
                rows += natural(row, tools) if "kind" in row else [row]
    return rows


PSEUDO = {"_talk": "none", "_help": "help", "_write": "write", "_ask": "ask", "_stray": "stray", "_steps": "planner"}


def natural(row, tools):
    """A natural request in the form of the others: what was said with it alone, and each of its steps."""
    made = []
    for text, tool, args in [(row["text"], row["tool"], row.get("args") or {})] + [
            (s["part"], s["tool"], s.get("args") or {}) for s in row.get("steps") or []]:
        if "@before" in json.dumps(args) or row["kind"] == "follow" and len(text.split()) < 4:
            continue  # it means nothing by itself
        pseudo = PSEUDO.get(tool)
        agent = pseudo or tools[tool]["agent"]
        if row["kind"] == "plan" and pseudo == "write":
            agent = "planner"
        args = {} if pseudo else {k: v for k, v in args.items() if k != "expected_matches"} | (
            {"all": True} if args.get("expected_matches") == "all" else {})
        made.append(dict(text=text, agent=agent, tool=None if pseudo else tool, args=args, level="natural",
                         source=row["source"]))
    return made


def meant_classes(row):
    """The classes that a request without a tool may belong to. Older labels do not divide small talk."""
    if row["agent"] == "none" and row.get("level") != "natural":
        return SMALL_TALK
    return (row["agent"],)


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
CLOSING = {'"': '"', "'": "'", "‘": "’", "“": "”", "«": "»"}


def quotations(text):
    """The outermost complete quotations: ((start, end) with the marks, (start, end) of the inside)."""
    found, vain, at = [], set(), 0
    while at < len(text):
        mark, length = text[at], 1
        if mark == "`":
            length = len(text[at:]) - len(text[at:].lstrip("`"))
        opens = mark in "`“«" or mark in "\"'‘" and not (at and text[at - 1].isalnum())
        end = None
        if opens and (mark, length) not in vain:
            end = closing(text, at, length, mark)
            if end is None:
                vain.add((mark, length))
        if end:
            found.append(((at, end[1]), (at + length, end[0])))
            at = end[1]
        else:
            at += length
    return found


def closing(text, at, length, mark):
    """Where the marks stand that end what begins at `at`."""
    start = at + length
    if mark == "`":
        return next((m.span() for m in re.compile("`+").finditer(text, start) if len(m.group()) == length), None)
    wanted = CLOSING[mark]
    places = [i for i in range(start, len(text)) if text[i] == wanted]
    if mark in "“«":
        return (places[0], places[0] + 1) if places else None
    follows_word = lambda i: text[i + 1:i + 2].isalnum()
    places = [i for i in places if text[i - 1] != "\\"]
    if mark == '"':  # others within it open and close
        depth = 1
        for i in places[:1000]:
            if follows_word(i):
                depth += i > start and text[i - 1] in " \n("
            else:
                depth -= 1
                if depth == 0:
                    return i, i + 1
    return next(((i, i + 1) for i in places if not follows_word(i)), None)


def cleaned(text, start, end):
    """A span without quotes and the sentence's own punctuation around it."""
    def trimmed(start, end):
        while start < end and text[start].isspace():
            start += 1
        while end > start and text[end - 1].isspace():
            end -= 1
        return start, end

    def ends_with_punctuation(start, end):
        last, before = text[end - 1], text[start:end - 1]
        if last in QUOTES:
            if any(w[1] == end and start <= w[0] for w, _ in every):
                return False
            is_sign = last == '"' and before[-1:].isdigit() and before[-1:].isascii()  # nineteen inches
            return any(w[1] == end for w, _ in every) or not is_sign
        if end < len(text) and not (text[end].isspace() or text[end] in QUOTES + ")"):
            return False
        if last == ".":  # a name may be made of dots, and end with them
            return bool(before) and not before.endswith((".", "/", " "))
        if last == ";":  # the end of a command, unless more is said
            return bool(text[end:].strip())
        return last in ",:!?"

    every = quotations(text)
    start, end = trimmed(start, end)
    while True:
        before = start, end
        inside = next((i for w, i in every if w == (start, end)), None)
        if inside:
            return trimmed(*inside)
        if start < end:
            first, rest = text[start], text[start + 1:end]
            pause = first in ",:;" and rest and (rest[0].isspace() or rest[0] in QUOTES)
            lone = first in QUOTES and not any(w[0] == start and w[1] <= end for w, _ in every)
            if pause or lone or not rest and first in ",;:!?":
                start += 1
        if start < end and ends_with_punctuation(start, end):
            end -= 1
        start, end = trimmed(start, end)
        if (start, end) == before:
            return start, end
