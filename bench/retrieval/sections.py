"""Sections of documents, and how one is cut into passages that can be read alone."""

import re

FEWEST_WORDS, MOST_WORDS = 60, 250
# A passage is closed when it has this many words and the next paragraph would make it long.
ENOUGH_WORDS, COMFORTABLE_WORDS = 110, 200
MOST_CODE = 0.45  # of the words of a passage
LONGEST_CODE = 60  # words of one code block; longer ones are left out

# A passage from the middle of a section must not lean on what came before it.
LEANING = re.compile(
    r"(?:this|these|those|that|it|its|they|them|he|such|so|thus|therefore|hence|however|but|also|"
    r"and|or|then|otherwise|similarly|likewise|moreover|furthermore|finally|again|instead|here|there|"
    r"in this case|in that case|for example|note that|the (?:above|following|latter|former|second|third|"
    r"other|same|rest|first|next|previous|result|example)|another|as (?:above|before|shown)|both|"
    r"next|now|even|still|yet|because of this|as a result|in other words|by contrast|in contrast|"
    r"on the other hand|if so|if not|after that|second|third)\b",
    re.IGNORECASE,
)
# Paragraphs that only refer to other pages.
POINTERS = re.compile(r"(?:see also|see:|for (?:more|further|additional) (?:information|details)[^.]*\.?$|"
                      r"refer to [^.]*\.$|copyright|examples?:?$|e\.g\.:?$|"
                      r"this page last modified)", re.IGNORECASE)


def squeeze(text):
    return re.sub(r"\s+", " ", text).strip()


def count(text):
    return len(text.split())


class Section:
    """A heading (with those above it) and the paragraphs below it."""

    def __init__(self, titles):
        self.titles = [title for title in titles if title]
        self.paragraphs = []  # (text, whether it is code)


def cut(section):
    """The passages of one section, each of whole paragraphs."""
    pieces, current, words = [], [], 0
    for text, is_code in section.paragraphs:
        if POINTERS.match(text) and count(text) < 40:
            continue
        if is_code and (count(text) > LONGEST_CODE or re.search("[\u2500-\u257f]", text)):
            continue
        for part in [text] if is_code else halves(text):
            size = count(part)
            if words >= ENOUGH_WORDS and words + size > COMFORTABLE_WORDS or words + size > MOST_WORDS:
                pieces.append(current)
                current, words = [], 0
            current.append((part, is_code))
            words += size
    if current:
        if pieces and words < FEWEST_WORDS and words + size_of(pieces[-1]) <= MOST_WORDS:
            pieces[-1] = pieces[-1] + current
        else:
            pieces.append(current)
    for number, piece in enumerate(pieces):
        while piece and (piece[-1][0].endswith(":") and not piece[-1][1]):
            piece = piece[:-1]  # announces something that is not there
        while number and piece and piece[0][1]:
            piece = piece[1:]  # code that belongs to the passage before
        if not piece or number and (LEANING.match(piece[0][0]) or re.match(r"- |[a-z]+ ", piece[0][0])):
            continue
        size = size_of(piece)
        code = sum(count(text) for text, is_code in piece if is_code)
        contents = sum(text.endswith("?") for text, _ in piece) > 5
        if FEWEST_WORDS <= size <= MOST_WORDS and code <= MOST_CODE * size and not contents:
            yield "\n".join(text for text, _ in piece)


def size_of(piece):
    return sum(count(text) for text, _ in piece)


def halves(text):
    """A paragraph, cut between sentences if it is too long for a passage."""
    if count(text) <= COMFORTABLE_WORDS:
        return [text]
    parts, current = [], ""
    for sentence in re.split(r"(?<=[.!?]) (?=[A-Z])", text):
        if current and count(current) + count(sentence) > COMFORTABLE_WORDS - 40:
            parts.append(current)
            current = sentence
        else:
            current = f"{current} {sentence}".strip()
    return parts + [current]
