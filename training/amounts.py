"""Numbers and durations in a text, found by rules and never by the model.

The program has the same rules: crates/model/src/embedded/amounts.rs. `python3 amounts.py` writes down what these find
in some of the texts, for a test there.
"""
import re

UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
WORDS = {word: value for value, word in enumerate(UNITS)} | TENS | {
    "a": 1, "an": 1, "couple": 2, "dozen": 12, "half": 0.5, "first": 1, "second": 2, "third": 3, "once": 1, "twice": 2,
    "single": 1,
}
SCALE = {"hundred": 100, "thousand": 1000}
SECONDS = {"s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1, "m": 60, "min": 60, "mins": 60, "minute": 60,
           "minutes": 60, "h": 3600, "hr": 3600, "hrs": 3600, "hour": 3600, "hours": 3600, "day": 86400, "days": 86400}
TOKEN = re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:[.,]\d+)?|[A-Za-z]+", re.ASCII)
THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", re.ASCII)


def numbers(text):
    """Every number: (start, end, value, unit in seconds or None). `end` includes the unit."""
    tokens = [(m.group().lower(), m.start(), m.end()) for m in TOKEN.finditer(text)]
    found, i = [], 0
    while i < len(tokens):
        word, start, end = tokens[i]
        value, j = None, i
        if word[0].isdigit():
            value = float(word.replace(",", "" if THOUSANDS.fullmatch(word) else "."))
            j = i + 1
        elif word in WORDS:
            value, j = float(WORDS[word]), i + 1
            if word in TENS and j < len(tokens) and tokens[j][0] in UNITS[1:10] and tokens[j][1] - end <= 1:
                value += UNITS.index(tokens[j][0])
                end = tokens[j][2]
                j += 1
        if value is None:
            i += 1
            continue
        while j < len(tokens) and tokens[j][0] in SCALE and tokens[j][1] - end <= 1:
            value *= SCALE[tokens[j][0]]
            end = tokens[j][2]
            j += 1
        unit = None
        k = j
        # "a couple of minutes", "half an hour"
        while k < len(tokens) and k - j < 2 and tokens[k][0] in ("of", "a", "an"):
            k += 1
        if k < len(tokens) and tokens[k][0] in SECONDS and not text[end:tokens[k][1]].strip(" -ofan"):
            unit = SECONDS[tokens[k][0]]
            end = tokens[k][2]
            j = k + 1
        if word in ("a", "an") and unit is None and not (j > i + 1):
            i += 1
            continue
        found.append((start, end, value, unit))
        i = j
    return found


def value_for(name, number):
    """What a number means for a parameter of this name."""
    _, _, value, unit = number
    if "second" in name and unit:
        value *= unit
    elif "minute" in name and unit:
        value = value * unit / 60
    return int(value) if value == int(value) else value


if __name__ == "__main__":
    import glob
    import json

    texts = [json.loads(line)["text"] for path in sorted(glob.glob("data/*/*.jsonl")) for line in open(path) if '"text": "' in line[:10]]
    for text in [t for t in texts if numbers(t)][::5]:
        place = lambda at: len(text[:at].encode())
        print(json.dumps([text, [[place(a), place(b), value_for("seconds", (a, b, v, u))] for a, b, v, u in numbers(text)]]))
