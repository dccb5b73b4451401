"""Makes corpus.jsonl of the two retrieval collections from published documentation.

    python3 bench/retrieval/make.py SOURCES main    > bench/retrieval/corpus.jsonl
    python3 bench/retrieval/make.py SOURCES holdout > bench/retrieval-holdout/corpus.jsonl

SOURCES is a folder that holds the unpacked sources; README.md says which ones, in which versions, and
how to get them. The same sources give the same bytes. The questions and the judgements are not made
here: they are written one by one, against the ids that come out of this.
"""

import hashlib
import html
import json
import pathlib
import re
import sys

from doc_comments import sections_of_source
from pages import sections_of_page
from sections import cut, squeeze

ALIKE = 0.4  # share of word sequences that makes a passage a repetition of an earlier one

# Documented for its own authors.
INTERNALS = tuple(f"{crate}/src/{path}" for crate, path in [
    ("tokio-1.54.1", "runtime/task"), ("tokio-1.54.1", "runtime/scheduler"), ("tokio-1.54.1", "runtime/io"),
    ("tokio-1.54.1", "util"), ("tokio-1.54.1", "process/unix"), ("tokio-1.54.1", "sync/batch_semaphore"),
    ("tokio-1.54.1", "runtime/time"), ("tokio-1.54.1", "runtime/metrics"), ("rayon-1.12.0", "iter/plumbing"),
])


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
    functions-formatting gin-tips hot-standby how-parallel-query-works hstore
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
                          title_tag("\0"), re.compile(r"SQLITE_[A-Z0-9_]+(?:=\S.{0,40})?$|\(\d+\) [A-Z].{9,150}$"))
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
