"""Numbers and durations in a text, found by rules and never by the model.

The program has the same rules: crates/phrases/src/amounts.rs. `python3 amounts.py` writes down what these find
in some of the texts, for a test there.
"""
import re

UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
WORDS = {word: value for value, word in enumerate(UNITS)} | TENS | {
    "a": 1, "an": 1, "couple": 2, "dozen": 12, "half": 0.5, "first": 1, "second": 2, "third": 3, "once": 1, "twice": 2,
    "single": 1,
}
SCALE = {"dozen": 12, "hundred": 100, "k": 1e3, "thousand": 1e3, "million": 1e6, "billion": 1e9}
# In milliseconds. How many days a month has is not said.
NO_LENGTH = float("nan")
LENGTHS = {word: length for words, length in [
    ("ms msec msecs millisecond milliseconds", 1), ("s sec secs second seconds", 1000),
    ("m min mins minute minutes", 60_000), ("h hr hrs hour hours", 3_600_000), ("day days", 86_400_000),
    ("week weeks", 604_800_000), ("month months year years", NO_LENGTH)] for word in words.split()}
TOKEN = re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:[.,]\d+)?|[A-Za-z]+", re.ASCII)
THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", re.ASCII)


class Tokens:
    def __init__(self, text):
        self.text = text
        self.all = [(m.group().lower(), m.start(), m.end()) for m in TOKEN.finditer(text)]

    def word(self, at):
        return self.all[at][0] if at < len(self.all) else ""

    def gap(self, at):
        """What stands before a token."""
        if at >= len(self.all):
            return None
        return self.text[self.all[at - 1][2] if at else 0:self.all[at][1]]

    def is_close(self, at):
        return self.gap(at) in ("", " ", "-")

    def number(self, at):
        """The value of digits or of words, and the token after it."""
        beginning = self.beginning(at)
        if beginning is None:
            return None
        current, after = beginning
        half = self.and_a_half(after)
        if half:
            current, after = current + 0.5, half
        if self.word(at) in ("half", "couple"):  # "half a million", "a couple of hundred"
            between = self.small_words(after)
            if self.is_close(after + between) and self.word(after + between) in SCALE:
                after += between
        total, below, room = 0.0, float("inf"), 0.0
        while True:
            word = self.word(after)
            factor = SCALE.get(word) if self.is_close(after) else None
            if factor and factor < below and (factor >= 1000 or current < 100) and (word != "k" or self.gap(after) == ""):
                if factor >= 1000:
                    total, current, below = total + current * factor, 0.0, factor
                else:
                    current *= factor
                room = 0.0 if word in ("k", "dozen") else factor  # "5k and two" are two numbers
                after += 1
                continue
            more = self.more(after)
            if more is None or more[0] >= room:
                break
            scale = SCALE.get(self.word(more[1])) if self.is_close(more[1]) else None
            if scale and (max(scale, room) < 1000 or scale >= below):  # "between one hundred and two hundred"
                break
            current, after, room = current + more[0], more[1], 0.0
        return total + current, after

    def beginning(self, at):
        """The value of digits or of one word, and the token after it."""
        word = self.word(at)
        if word[:1].isdigit():
            return float(word.replace(",", "" if THOUSANDS.fullmatch(word) else ".")), at + 1
        if word not in WORDS:
            return None
        value = float(WORDS[word])
        if word in TENS and self.is_close(at + 1) and self.word(at + 1) in UNITS[1:10]:
            return value + UNITS.index(self.word(at + 1)), at + 2
        return value, at + 1

    def more(self, at):
        """What may follow "hundred": "twenty", "and twenty-five"."""
        if self.word(at) == "and" and self.gap(at) == " ":
            at += 1
        if (self.word(at) in UNITS[1:] or self.word(at) in TENS) and self.gap(at) == " ":
            return self.beginning(at)
        return None

    def and_a_half(self, at):
        if all(self.word(at + i) == word and self.is_close(at + i) for i, word in enumerate(("and", "a", "half"))):
            return at + 3
        return None

    def small_words(self, at):
        count = 0
        while count < 2 and self.word(at + count) in ("of", "a", "an"):
            count += 1
        return count

    def unit_after(self, at):
        """A unit of time right after a number, as in "a couple of minutes" and "half an hour"."""
        position = at + self.small_words(at)
        word = self.word(position)
        if word in LENGTHS and not self.text[self.all[at - 1][2]:self.all[position][1]].strip(" -ofan"):
            return position, LENGTHS[word]
        return None


def numbers(text):
    """Every number: (start, end, value, milliseconds or None, smallest unit). `end` includes the unit."""
    tokens, found, at = Tokens(text), [], 0
    while at < len(tokens.all):
        number = tokens.number(at)
        if number is None:
            at += 1
            continue
        value, after = number
        length, unit = None, float("inf")
        with_unit = tokens.unit_after(after)
        if with_unit:
            after = with_unit[0] + 1
            half = tokens.and_a_half(after)  # "an hour and a half"
            if half:
                value, after = value + 0.5, half
            unit = with_unit[1]
            length = value * unit
        if tokens.word(at) in ("a", "an") and after == at + 1:  # an article alone is no number
            at += 1
            continue
        start, end = tokens.all[at][1], tokens.all[after - 1][2]
        if text[start].isdigit() and re.search(r"(?:^|[ \n\t(=:])-$", text[:start]):
            start, value, length = start - 1, -value, None if length is None else -length
        at = after
        if found and text[found[-1][1]:start] in ("", " ", ", ", " and ", ", and "):  # "1 minute 30 seconds"
            before = found[-1]
            if before[3] is not None and length is not None and unit < before[4] and value >= 0:
                found[-1] = (before[0], end, float("nan"), before[3] + length, unit)
                continue
        found.append((start, end, value, length, unit))
    return found


def counted_in(name):
    """The unit of time, in milliseconds, that a parameter's name says: its last word that is one."""
    words = re.split(r"[^a-z0-9]", re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower())
    for at in reversed(range(len(words))):
        word = words[at]
        if word in ("min", "m", "h") or (word == "s" and (at < len(words) - 1 or at == 0)):
            continue  # alone, these are as likely something else
        length = 1 if word == "millis" else LENGTHS.get(word)
        if length and length == length:
            return length
    return None


def value_for(name, number):
    """What a number means for a parameter of this name; None where that cannot be said."""
    _, _, value, length, _ = number
    unit = counted_in(name)
    if length is not None and unit:
        value = length / unit
    if value != value:
        return None
    return int(value) if value == int(value) else value


if __name__ == "__main__":
    import glob
    import json

    texts = [json.loads(line)["text"] for path in sorted(glob.glob("data/*/*.jsonl")) for line in open(path) if '"text": "' in line[:10]]
    # What people say rarely, and the rules are for.
    said = [
        "give it 1 minute 30 seconds", "2 hours and 5 minutes", "1h30m", "an hour and a half", "two and a half minutes",
        "30 seconds and 5 minutes", "5 minutes\n30 seconds", "500 ms", "2 weeks", "three months and 2 days", "-5 s, -3 or x-4",
        "one hundred and twenty", "one thousand two hundred and fifty-five", "5k and two", "2.5 million", "half a million",
        "one hundred and twenty thousand", "two dozen", "a couple of hundred", "between one hundred and two hundred",
        "ein Gr\u00f6\u00dfe, 5\u20136 minutes", "a thousand and one",
    ]
    for text in said + [t for t in texts if numbers(t)][::5]:
        place = lambda at: len(text[:at].encode())
        print(json.dumps([text, [[place(a), place(b), value_for("seconds", number)] for number in numbers(text) for a, b in [number[:2]]]]))
