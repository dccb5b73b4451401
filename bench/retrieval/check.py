"""Checks a retrieval collection, and says what is in it.

    python3 bench/retrieval/check.py bench/retrieval
    python3 bench/retrieval/check.py bench/retrieval-holdout

Ends with status 1 and a list of what is wrong if an id does not exist or occurs twice, a text is empty, a
passage has an unusual length or says what another one says, or a question has no full answer. It does not
judge whether a passage answers a question: only a reader can.
"""

import collections
import json
import pathlib
import re
import statistics
import sys

FEWEST_WORDS, MOST_WORDS = 60, 250
CLASSES = ("paraphrase", "natural", "exact", "keywords")
RARE = 0.02  # of the passages: a word in fewer than this is rare
STOP_WORDS = set(
    "a about again all also am an and any are as at be because been before but by can did do does for from get "
    "got had has have he her his how i if in into is it its just me more most must my no not of off on one only "
    "or other our out own should so some still such than that the their them then there these they this those "
    "to too up us was we were what when where which while who why will with would you your".split()
)


def words(text):
    return re.findall(r"[\w']+", text.lower())


def records(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def table(path, header):
    lines = path.read_text(encoding="utf-8").splitlines()
    if lines[0].split("\t") != header:
        sys.exit(f"{path}: the first line must be {header}")
    return [line.split("\t") for line in lines[1:]]


def check_corpus(corpus, wrong):
    seen = {}
    for identifier, passage in corpus.items():
        size = len(passage["text"].split())
        if not passage["title"].strip() or not FEWEST_WORDS <= size <= MOST_WORDS:
            wrong.append(f"{identifier}: no title, or {size} words")
        sequence = words(passage["text"])
        runs = {tuple(sequence[at:at + 6]) for at in range(len(sequence) - 5)}
        repeated = collections.Counter(seen[run] for run in runs if run in seen)
        if repeated and repeated.most_common(1)[0][1] > len(runs) / 2:
            wrong.append(f"{identifier}: repeats {repeated.most_common(1)[0][0]}")
        for run in runs:
            seen.setdefault(run, identifier)


def check_questions(corpus, questions, judgements, classes, wrong):
    grades = collections.defaultdict(dict)
    for question, passage, grade in judgements:
        if question not in questions or passage not in corpus or grade not in ("1", "2"):
            wrong.append(f"judgement {question} {passage} {grade}: unknown id or grade")
        if passage in grades[question]:
            wrong.append(f"judgement {question} {passage}: twice")
        grades[question][passage] = int(grade)
    for question, text in questions.items():
        if not text.strip():
            wrong.append(f"{question}: empty")
        if 2 not in grades[question].values():
            wrong.append(f"{question}: nothing answers it directly")
        if classes.get(question) not in CLASSES:
            wrong.append(f"{question}: no class")
    for text, count in collections.Counter(text.lower() for text in questions.values()).items():
        if count > 1:
            wrong.append(f"asked twice: {text}")
    return grades


def report(corpus, questions, classes, grades):
    sizes = [len(passage["text"].split()) for passage in corpus.values()]
    print(f"{len(corpus)} passages of {min(sizes)} to {max(sizes)} words, median {statistics.median(sizes):.0f}")
    sources = collections.Counter(identifier.split("-")[0] for identifier in corpus)
    print("from: " + ", ".join(f"{source} {count}" for source, count in sources.most_common()))
    answered = {passage for judged in grades.values() for passage in judged}
    print(f"{len(questions)} questions, {sum(map(len, grades.values()))} judgements on {len(answered)} passages")
    asked = collections.Counter(next(iter(judged)).split("-")[0] for judged in grades.values())
    print("asked about: " + ", ".join(f"{source} {count}" for source, count in asked.most_common()))

    content = {identifier: set(words(f"{passage['title']} {passage['text']}"))
               for identifier, passage in corpus.items()}
    frequency = collections.Counter(word for found in content.values() for word in found)
    print("\nclass        questions  answers each  words found in best answer  with a rare word of it")
    for name in CLASSES:
        shares, with_rare, answers = [], 0, []
        for question in (question for question in questions if classes[question] == name):
            asked_words = set(words(questions[question])) - STOP_WORDS
            best = [content[passage] for passage, grade in grades[question].items() if grade == 2]
            found = max((asked_words & passage for passage in best), key=len)
            shares.append(len(found) / max(len(asked_words), 1))
            rare = {word for passage in best for word in asked_words & passage
                    if frequency[word] < RARE * len(corpus)}
            with_rare += bool(rare)
            answers.append(len(grades[question]))
            if "--rare" in sys.argv and name == "paraphrase" and rare:
                print(f"  {question} {sorted(rare)}: {questions[question]}")
        if shares:
            print(f"{name:12} {len(shares):9} {statistics.mean(answers):13.1f} {statistics.mean(shares):27.0%} "
                  f"{with_rare / len(shares):23.0%}")


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: python3 check.py FOLDER [--rare]")
    folder, wrong = pathlib.Path(sys.argv[1]), []
    listed = records(folder / "corpus.jsonl"), records(folder / "queries.jsonl")
    for one in listed:
        for identifier, count in collections.Counter(record["_id"] for record in one).items():
            if count > 1:
                wrong.append(f"{identifier}: {count} times")
    corpus = {record["_id"]: record for record in listed[0]}
    questions = {record["_id"]: record["text"] for record in listed[1]}
    judgements = table(folder / "qrels/test.tsv", ["query-id", "corpus-id", "score"])
    classes = dict(table(folder / "classes.tsv", ["query-id", "class"]))
    check_corpus(corpus, wrong)
    grades = check_questions(corpus, questions, judgements, classes, wrong)
    if wrong:
        sys.exit("\n".join(wrong))
    report(corpus, questions, classes, grades)


main()
