"""Makes corpus.jsonl of the two retrieval collections from published documentation.

    python3 bench/retrieval/make.py SOURCES main    > bench/retrieval/corpus.jsonl
    python3 bench/retrieval/make.py SOURCES holdout > bench/retrieval-holdout/corpus.jsonl

SOURCES is a folder that holds the unpacked sources; README.md says which ones, in which versions, and
how to get them. The same sources give the same bytes. The questions and the judgements are not made
here: people write them, against the ids that come out of this.
"""

import hashlib
import html.parser
import json
import pathlib
import re
import sys

FEWEST_WORDS, MOST_WORDS = 60, 250
# A passage is closed when it has this many words and the next paragraph would make it long.
ENOUGH_WORDS, COMFORTABLE_WORDS = 110, 200
MOST_CODE = 0.45  # of the words of a passage
LONGEST_CODE = 60  # words of one code block; longer ones are left out
ALIKE = 0.4  # share of word sequences that makes a passage a repetition of an earlier one

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
# Paragraphs that point elsewhere and say nothing.
POINTERS = re.compile(r"(?:see also|see:|for (?:more|further|additional) (?:information|details)[^.]*\.?$|"
                      r"refer to [^.]*\.$|copyright|examples?:?$|e\.g\.:?$|"
                      r"this page last modified)", re.IGNORECASE)
ASIDES = {"Note", "Warning", "Tip", "Caution", "Important"}  # headings that name no subject


def squeeze(text):
    return re.sub(r"\s+", " ", text).strip()


def count(text):
    return len(text.split())


class Section:
    """A heading (with those above it) and the paragraphs below it."""

    def __init__(self, titles):
        self.titles = [title for title in titles if title]
        self.paragraphs = []  # (text, whether it is code)


class Page(html.parser.HTMLParser):
    """Cuts one page of HTML into sections. Tolerates paragraphs and items that are never closed."""

    BLOCKS = {"p", "div", "li", "dd", "dt", "ul", "ol", "dl", "blockquote", "tr", "hr", "center", "table",
              "section", "h"} | {f"h{level}" for level in range(1, 7)}
    UNSEEN = {"script", "style", "svg", "head", "table", "button", "nav", "form"}
    UNSEEN_CLASSES = {"nosearch", "navheader", "navfooter", "toc", "fancy_toc", "footnotes", "footnote",
                      "imgcontainer", "related", "sphinxsidebar", "footer", "refnamediv", "refsynopsisdiv",
                      "seealso", "versionchanged", "versionadded", "headerlink", "admonition-see-also",
                      "synopsis", "bibliodiv", "mobile-nav", "availability", "contents", "topic"}

    def __init__(self, title, term_paragraph=None):
        super().__init__(convert_charrefs=True)
        self.sections = []
        self.headings = {0: title}
        self.term_paragraph = term_paragraph
        self.buffer = []
        self.kind = "p"
        self.unseen = []  # open tags of what is left out
        self.lists = 0  # depth of definition lists
        self.term = None
        self.preformatted = 0
        self.begin()

    def begin(self):
        titles = [self.headings[level] for level in sorted(self.headings)]
        self.sections.append(Section(titles))

    def heading(self, level, text):
        text = squeeze(re.sub(r"[¶§]", "", text))
        if text in ASIDES:
            return
        text = re.sub(r"^(?:(?:Chapter|Appendix) )?[0-9A-Z]+(?:\.[0-9]+)*\.\s+", "", text)
        self.headings = {old: title for old, title in self.headings.items() if old < level}
        if text and text != self.headings.get(0):
            self.headings[level] = text
        self.begin()

    def flush(self):
        raw, self.buffer = "".join(self.buffer), []
        kind, self.kind = self.kind, "p"
        text = squeeze(raw.replace("¶", ""))
        if not text:
            return
        if kind.startswith("h") and kind != "hr":
            self.heading(8 if kind == "h" else int(kind[1]), text)
        elif kind == "dt":
            if self.lists == 1:
                self.heading(9, text)
            else:
                self.term = text if self.term is None else f"{self.term}, {text}"
        elif kind == "pre":
            self.sections[-1].paragraphs.append((raw.strip("\n"), True))
        elif self.term_paragraph and self.term_paragraph.match(text):
            self.heading(9, text)
        else:
            if self.term:
                text, self.term = f"{self.term}: {text}", None
            if kind == "li":
                text = f"- {text}"
            self.sections[-1].paragraphs.append((text, False))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        classes = set((attributes.get("class") or "").split())
        if self.unseen:
            if tag == self.unseen[0]:
                self.unseen.append(tag)
            return
        if tag in self.UNSEEN or classes & self.UNSEEN_CLASSES:
            if tag not in ("a", "span", "button"):
                self.flush()
            self.unseen.append(tag)
            return
        if tag == "pre":
            self.flush()
            self.kind = "pre"
            self.preformatted += 1
        elif tag in self.BLOCKS and not self.preformatted:
            kind = self.kind
            self.flush()
            # A paragraph that opens inside an item is still that item.
            self.kind = "li" if tag == "p" and kind == "li" else tag
            if tag == "dl":
                self.lists += 1
        elif tag == "br":
            self.buffer.append("\n" if self.preformatted else " ")

    def handle_endtag(self, tag):
        if self.unseen:
            if tag == self.unseen[0]:
                self.unseen.pop()
            return
        if tag == "pre" and self.preformatted:
            self.flush()
            self.preformatted -= 1
        elif tag in self.BLOCKS and not self.preformatted:
            self.flush()
            if tag == "dl" and self.lists:
                self.lists -= 1
                self.term = None
                if self.lists == 0 and 9 in self.headings:
                    del self.headings[9]
                    self.begin()

    def handle_data(self, data):
        if not self.unseen:
            self.buffer.append(data)

    def close(self):
        super().close()
        self.flush()


def sections_of_page(path, title, term_paragraph=None):
    page = Page(title, term_paragraph)
    page.feed(path.read_text(encoding="utf-8", errors="replace"))
    page.close()
    return page.sections


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


# --- Doc comments of Rust crates -------------------------------------------------------------------

ITEM = re.compile(r"(?P<indent>\s*)(?P<public>pub )?(?:default |const |async |unsafe |extern \"C\" )*"
                  r"(?P<kind>fn|struct|enum|trait|type|mod|macro_rules!|static|const) ?(?P<name>\w+)")
OWNER = re.compile(r"(?P<public>pub )?(?:unsafe )?(?P<kind>trait|impl|struct|enum)\b(?P<rest>[^{]*)")


def owner_of(rest, kind):
    if kind != "impl":
        return re.match(r"\s*(\w+)", rest).group(1) if re.match(r"\s*(\w+)", rest) else None
    rest = re.sub(r"^<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>", "", rest.strip()).strip()
    if " for " in rest:
        return None  # the trait's own documentation says it better
    name = re.match(r"(?:\w+::)*(\w+)", rest)
    return name.group(1) if name else None


def sections_of_source(path, module):
    """The documented public items of one source file, as sections."""
    header, comment, owner, owner_public, in_header, attribute = [], [], None, False, True, 0
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        bare = line.strip()
        if bare.startswith("//!") and in_header:
            header.append(bare[3:].removeprefix(" "))
            continue
        if bare.startswith("///") and not bare.startswith("////"):
            in_header = False
            comment.append(bare[3:].removeprefix(" "))
            continue
        if attribute or bare.startswith("#[") or bare.startswith("#!["):
            attribute += line.count("[") - line.count("]")
            continue
        if not bare or bare.startswith("//"):
            if not bare:
                comment = comment if comment else []
            continue
        in_header = False
        found = OWNER.match(line)
        if found:
            owner = owner_of(found["rest"], found["kind"])
            owner_public = found["kind"] == "trait" and bool(found["public"])
        item = ITEM.match(line)
        if comment and item and item["kind"] != "mod":
            nested = len(item["indent"]) == 4 and item["kind"] == "fn"
            public = item["public"] or (nested and owner_public) or item["kind"] == "macro_rules!"
            if public and (not item["indent"] or nested and owner):
                name = item["name"] + ("!" if item["kind"] == "macro_rules!" else "")
                full = f"{module}::{owner}::{name}" if nested else f"{module}::{name}"
                yield from sections_of_markdown(comment, [full], by_heading=False)
        comment = []
    yield from sections_of_markdown(header, [module], by_heading=True)


def sections_of_markdown(lines, titles, by_heading):
    section = Section(titles)
    text, code, fence = [], [], None

    def paragraph():
        plain = plain_text(" ".join(text))
        text.clear()
        if plain:
            section.paragraphs.append((plain, False))

    for line in lines:
        bare = line.strip()
        if fence:
            if bare.startswith(fence):
                fence = None
                if code:
                    section.paragraphs.append(("\n".join(code), True))
                code = []
            elif bare != "#" and not bare.startswith("# "):
                code.append(line.rstrip())
        elif bare.startswith("```") or bare.startswith("~~~"):
            paragraph()
            fence, code = bare[:3], []
        elif re.match(r"\[[^\]]+\]:", bare) or bare.startswith("<") or bare.startswith("|"):
            paragraph()
        elif bare.startswith("#"):
            paragraph()
            name = plain_text(bare.lstrip("# "))
            if by_heading:
                yield section
                section = Section(titles + [name])
            elif name.lower() not in ("example", "examples"):
                text.append(f"{name}:")
        elif not bare:
            paragraph()
        elif re.match(r"(?:[*+-]|\d+\.) ", bare):
            paragraph()
            text.append("- " + re.sub(r"^(?:[*+-]|\d+\.) ", "", bare))
        else:
            text.append(bare)
    paragraph()
    yield section


def plain_text(text):
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\[([^\]]+)\]\[[^\]]*\]", r"\1", text)
    text = re.sub(r"\[(`[^\]]+`)\]", r"\1", text)
    text = re.sub(r"</?(?:div|span|p|br|b|i|a|pre|code|details|summary|sup|em|strong|img)\b[^>]*>", "", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"\1", text)
    text = re.sub(r"(?<![\w*])[*_]([^*_`]+)[*_](?![\w*])", r"\1", text)
    return squeeze(text.replace("`", ""))


# --- Sources ---------------------------------------------------------------------------------------

def name_of(text):
    return re.sub(r"[^a-z0-9_]+", "-", text.lower()).strip("-")


def from_html(root, source, pages, title_of, term_paragraph=None):
    for page in pages:
        path = root / f"{page}.html"
        for section in sections_of_page(path, title_of(path), term_paragraph):
            yield f"{source}-{name_of(page)}", section


def from_crate(root, crate):
    folder = root / crate
    name = crate[: crate.rindex("-")].replace("-", "_")
    for path in sorted((folder / "src").rglob("*.rs")):
        parts = [part for part in path.relative_to(folder / "src").with_suffix("").parts]
        if any(part in ("tests", "test", "benches", "loom", "fuzz", "sys", "imp") for part in parts):
            continue
        if path.relative_to(root).as_posix().startswith(INTERNALS):
            continue
        module = "::".join([name] + [part for part in parts if part not in ("lib", "mod")])
        for section in sections_of_source(path, module):
            yield f"{name}-{name_of('-'.join(parts))}", section


# Documented for its own authors.
INTERNALS = tuple(f"{crate}/src/{path}" for crate, path in [
    ("tokio-1.54.1", "runtime/task"), ("tokio-1.54.1", "runtime/scheduler"), ("tokio-1.54.1", "runtime/io"),
    ("tokio-1.54.1", "util"), ("tokio-1.54.1", "process/unix"), ("tokio-1.54.1", "sync/batch_semaphore"),
    ("tokio-1.54.1", "runtime/time"), ("tokio-1.54.1", "runtime/metrics"), ("rayon-1.12.0", "iter/plumbing"),
])


def title_tag(suffix):
    def title(path):
        found = re.search(r"<title>(.*?)</title>", path.read_text(encoding="utf-8", errors="replace"), re.S)
        text = squeeze(html.unescape(found.group(1))) if found else path.stem
        text = re.sub(r"^(?:(?:Chapter|Appendix) )?[0-9A-Z]+(?:\.[0-9]+)*\.\s+", "", text)
        return text.split(suffix)[0].strip()
    return title


def passages(sections, prefix):
    for identifier, section in sections:
        title = ": ".join([prefix] + section.titles) if prefix else ": ".join(section.titles)
        for text in cut(section):
            yield identifier, title, text


def distinct(found, seen):
    for identifier, title, text in found:
        words = re.findall(r"\w+", text.lower())
        runs = {" ".join(words[at:at + 6]) for at in range(len(words) - 5)}
        if sum(run in seen for run in runs) > ALIKE * len(runs):
            continue
        seen |= runs
        yield identifier, title, text


def sample(found, limit):
    """At most `limit` of them, chosen by their hash, in their own order."""
    found = list(found)
    ranked = sorted(found, key=lambda one: hashlib.sha256("\n".join(one).encode()).digest())
    kept = set(ranked[:limit])
    return [one for one in found if one in kept]


SQLITE_PAGES = """
    about appfileformat atomiccommit autoinc backup carray cli compile csv datatype3 dbstat deterministic
    different eqp expridx faq fasterthanfs features fileformat2 flextypegood floatingpoint foreignkeys fts5
    gencol howtocorrupt inmemorydb intern-v-extern-blob isolation json1 lang_aggfunc lang_altertable
    lang_analyze lang_attach lang_conflict lang_corefunc lang_createindex lang_createtable
    lang_createtrigger lang_createview lang_datefunc lang_delete lang_expr lang_indexedby lang_insert
    lang_keywords lang_reindex lang_returning lang_savepoint lang_select lang_transaction lang_update
    lang_upsert lang_vacuum lang_with limits loadext lockingv3 malloc mmap np1queryprob nulls optoverview
    partialindex pragma printf queryplanner queryplanner-ng quirks rbu recovery rescode rowidtable rowvalue
    rtree schematab security selfcontained serverless sessionintro sharedcache sqlar stricttables tempfiles
    testing threadsafe unlock_notify uri useovernet vfs vtab wal whentouse windowfunctions withoutrowid
    zipfile c3ref/backup_finish c3ref/bind_blob c3ref/blob_open c3ref/busy_handler c3ref/busy_timeout
    c3ref/changes c3ref/close c3ref/column_blob c3ref/commit_hook c3ref/create_collation
    c3ref/create_function c3ref/deserialize c3ref/errcode c3ref/exec c3ref/get_autocommit c3ref/interrupt
    c3ref/last_insert_rowid c3ref/limit c3ref/open c3ref/prepare c3ref/progress_handler c3ref/serialize
    c3ref/set_authorizer c3ref/snapshot_open c3ref/step c3ref/trace_v2 c3ref/unlock_notify
    c3ref/update_hook c3ref/wal_checkpoint_v2 c3ref/wal_autocheckpoint c3ref/wal_hook
""".split()

POSTGRESQL_PAGES = """
    app-createdb app-initdb app-pg-ctl app-pgbasebackup app-pgdump app-pgrestore app-pgrewind app-psql
    app-vacuumdb arrays auth-ldap auth-password auth-peer auth-pg-hba-conf auth-trust auth-username-maps
    auto-explain backup-dump backup-file bloom brin-intro btree-implementation checksums citext
    client-authentication-problems collation config-setting continuous-archiving creating-cluster
    datatype-binary datatype-character datatype-datetime datatype-enum datatype-json datatype-money
    datatype-numeric datatype-uuid ddl-constraints ddl-depend ddl-generated-columns ddl-inherit
    ddl-partitioning ddl-priv ddl-rowsecurity ddl-schemas different-replication-solutions disk-full
    dml-returning domains encryption-options event-trigger-definition explicit-joins explicit-locking
    functions-formatting functions-matching gin-tips hot-standby how-parallel-query-works hstore
    indexes-bitmap-scans indexes-examine indexes-expressional indexes-index-only-scans
    indexes-multicolumn indexes-ordering indexes-partial indexes-types indexes-unique jit-decision
    jit-reason kernel-resources libpq-connect libpq-notify libpq-pgpass libpq-pgservice
    libpq-pipeline-mode libpq-ssl limits locale logfile-maintenance logical-replication-conflicts
    logical-replication-restrictions logical-replication-row-filter logical-replication-subscription
    ltree manage-ag-tablespaces manage-ag-templatedbs monitoring-ps monitoring-stats multibyte mvcc-caveats
    mvcc-intro mvcc-serialization-failure-handling non-durability parallel-safety pgbench pgcrypto
    pgprewarm pgstatstatements pgtrgm pgupgrade plpgsql-control-structures plpgsql-cursors
    plpgsql-errors-and-messages plpgsql-implementation plpgsql-statements plpgsql-trigger populate
    postgres-fdw predefined-roles queries-limit queries-table-expressions queries-union queries-with
    rangetypes role-attributes role-membership role-removal routine-reindex routine-vacuuming
    runtime-config-autovacuum runtime-config-client runtime-config-connection
    runtime-config-error-handling runtime-config-locks runtime-config-logging runtime-config-query
    runtime-config-replication runtime-config-resource runtime-config-statistics runtime-config-wal
    server-shutdown server-start sql-altertable sql-cluster sql-copy sql-createindex
    sql-creatematerializedview sql-createpolicy sql-createrole sql-createsequence sql-createtable
    sql-createtrigger sql-createview sql-delete sql-do sql-explain sql-grant sql-insert sql-listen
    sql-lock sql-merge sql-notify sql-prepare sql-prepare-transaction sql-refreshmaterializedview
    sql-reindex sql-savepoint sql-select sql-set sql-set-transaction sql-truncate sql-update sql-vacuum
    ssh-tunnels ssl-tcp storage-fsm storage-hot storage-toast storage-vm textsearch-configuration
    textsearch-controls textsearch-dictionaries textsearch-indexes textsearch-intro textsearch-limitations
    textsearch-tables transaction-iso trigger-datachanges trigger-definition unaccent upgrading
    using-explain wal-async-commit wal-configuration wal-intro wal-reliability warm-standby
    warm-standby-failover when-can-parallel-query-be-used xfunc-overload xfunc-volatility
""".split()

CRATES = {
    "anyhow-1.0.104": 12, "bytes-1.12.1": 20, "crossbeam-channel-0.5.15": 20, "http-1.5.0": 15,
    "hyper-1.12.0": 20, "ignore-0.4.34": 25, "indexmap-2.14.2": 20, "rand-0.10.3": 20, "rayon-1.12.0": 35,
    "regex-1.13.1": 35, "reqwest-0.13.5": 35, "rusqlite-0.41.1": 30, "rustls-0.23.46": 30,
    "serde_json-1.0.154": 20, "tempfile-3.27.0": 30, "tokio-1.54.1": 130, "tower-0.5.3": 20,
    "tracing-0.1.44": 25, "url-2.5.8": 12, "uuid-1.29.0": 12, "walkdir-2.5.0": 15,
}

PYTHON_PAGES = """
    faq/design faq/library faq/programming howto/argparse howto/descriptor howto/functional howto/logging
    howto/logging-cookbook howto/regex howto/sockets howto/sorting howto/unicode howto/urllib2
    library/asyncio-dev library/asyncio-queue library/asyncio-subprocess library/asyncio-task
    library/collections library/concurrent.futures library/contextlib library/copy library/csv
    library/dataclasses library/datetime library/decimal library/enum library/functools library/gc
    library/io library/json library/multiprocessing library/os.path library/pathlib library/pickle
    library/random library/secrets library/shutil library/signal library/subprocess library/tempfile
    library/threading library/unittest library/venv library/weakref library/zipfile
    tutorial/classes tutorial/controlflow tutorial/errors tutorial/floatingpoint tutorial/modules
""".split()

HOLDOUT_CRATES = {"clap_builder-4.6.7": 40, "jiff-0.2.39": 50, "petgraph-0.8.1": 30, "nom-8.0.0": 20}

MAIN_LIMITS = {"SQLite": 480, "PostgreSQL": 540}
PYTHON_LIMIT = 280


def collect(sources, which):
    seen = set()
    if which == "main":
        found = from_html(sources / "sqlite3-doc/usr/share/doc/sqlite3", "sqlite", SQLITE_PAGES,
                          title_tag("\0"), re.compile(r"SQLITE_[A-Z0-9_]+(?:=\S.*)?$|\(\d+\) .{9,120}\?$"))
        yield from sample(distinct(passages(found, "SQLite"), seen), MAIN_LIMITS["SQLite"])
        found = from_html(sources / "postgresql-doc-15/usr/share/doc/postgresql-doc-15/html", "postgresql",
                          POSTGRESQL_PAGES, title_tag("\0"))
        yield from sample(distinct(passages(found, "PostgreSQL"), seen), MAIN_LIMITS["PostgreSQL"])
        crates = CRATES
    else:
        found = from_html(sources / "python3.11-doc/usr/share/doc/python3.11/html", "python", PYTHON_PAGES,
                          title_tag("—"))
        yield from sample(distinct(passages(found, "Python"), seen), PYTHON_LIMIT)
        crates = HOLDOUT_CRATES
    for crate in sorted(crates):
        found = passages(from_crate(sources / "crates", crate), None)
        yield from sample(distinct(found, seen), crates[crate])


def main():
    if len(sys.argv) != 3 or sys.argv[2] not in ("main", "holdout"):
        sys.exit("usage: python3 make.py SOURCES main|holdout > corpus.jsonl")
    numbers = {}
    for identifier, title, text in collect(pathlib.Path(sys.argv[1]), sys.argv[2]):
        numbers[identifier] = numbers.get(identifier, 0) + 1
        record = {"_id": f"{identifier}-{numbers[identifier]:02}", "title": title, "text": text}
        print(json.dumps(record, ensure_ascii=False))


main()
