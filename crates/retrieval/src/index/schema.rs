//! Defines the tables. Times are microseconds since the epoch; numbers come from `ids.rs`.

use lango_store::{Migration, SchemaComponent};

pub(crate) const COMPONENT: SchemaComponent = SchemaComponent {
    name: "retrieval",
    migrations: &[
        Migration { version: 1, sqlite: SQLITE_1, postgres: POSTGRES_1 },
        Migration { version: 2, sqlite: CLIENTS, postgres: CLIENTS },
    ],
};

// The full-text index stores no copy of the texts. `secure-delete` removes the words of a deleted
// passage from it, instead of marking them as deleted. A passage has one vector: a search reads
// them all, in the order of their table.
const SQLITE_1: &str = "
CREATE TABLE retrieval_entries (
    id INTEGER NOT NULL PRIMARY KEY,
    scope BIGINT NOT NULL,
    space TEXT NOT NULL,
    collection TEXT NOT NULL,
    key TEXT NOT NULL,
    title TEXT NOT NULL,
    source TEXT NOT NULL,
    digest TEXT NOT NULL,
    passages BIGINT NOT NULL,
    at BIGINT NOT NULL,
    UNIQUE (scope, key)
);
CREATE INDEX retrieval_entries_by_space ON retrieval_entries (space, collection);
CREATE TABLE retrieval_passages (
    id INTEGER NOT NULL PRIMARY KEY,
    entry BIGINT NOT NULL,
    scope BIGINT NOT NULL,
    scope_word TEXT NOT NULL,
    number BIGINT NOT NULL,
    heading TEXT NOT NULL,
    body TEXT NOT NULL,
    extra TEXT NOT NULL,
    position TEXT NOT NULL
);
CREATE INDEX retrieval_passages_by_entry ON retrieval_passages (entry, number);
CREATE VIRTUAL TABLE retrieval_words USING fts5 (
    scope_word, heading, body, extra,
    content = 'retrieval_passages', content_rowid = 'id',
    tokenize = 'porter unicode61 remove_diacritics 2'
);
INSERT INTO retrieval_words (retrieval_words, rank) VALUES ('secure-delete', 1);
CREATE TABLE retrieval_models (
    id BIGINT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL
);
CREATE TABLE retrieval_vectors (
    passage INTEGER NOT NULL PRIMARY KEY,
    model BIGINT NOT NULL,
    scope BIGINT NOT NULL,
    vector BLOB NOT NULL
);
CREATE INDEX retrieval_vectors_by_scope ON retrieval_vectors (model, scope);
";

// Invisible characters, such as those that change the direction of writing, would be read as a part
// of the word beside them.
const POSTGRES_1: &str = r"
CREATE FUNCTION lango_words(heading TEXT, body TEXT, extra TEXT) RETURNS TSVECTOR
LANGUAGE SQL IMMUTABLE AS $$
    SELECT setweight(to_tsvector('english',
        regexp_replace(heading, '[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]', ' ', 'g')), 'A')
    || setweight(to_tsvector('english',
        regexp_replace(body || ' ' || extra,
            '[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]', ' ', 'g')), 'D')
$$;
CREATE TABLE retrieval_entries (
    id BIGINT NOT NULL PRIMARY KEY,
    scope BIGINT NOT NULL,
    space TEXT NOT NULL,
    collection TEXT NOT NULL,
    key TEXT NOT NULL,
    title TEXT NOT NULL,
    source TEXT NOT NULL,
    digest TEXT NOT NULL,
    passages BIGINT NOT NULL,
    at BIGINT NOT NULL,
    UNIQUE (scope, key)
);
CREATE INDEX retrieval_entries_by_space ON retrieval_entries (space, collection);
CREATE TABLE retrieval_passages (
    id BIGINT NOT NULL PRIMARY KEY,
    entry BIGINT NOT NULL,
    scope BIGINT NOT NULL,
    scope_word TEXT NOT NULL,
    number BIGINT NOT NULL,
    heading TEXT NOT NULL,
    body TEXT NOT NULL,
    extra TEXT NOT NULL,
    position TEXT NOT NULL,
    words TSVECTOR NOT NULL
);
CREATE INDEX retrieval_passages_by_entry ON retrieval_passages (entry, number);
CREATE INDEX retrieval_passages_by_words ON retrieval_passages USING GIN (words);
CREATE TABLE retrieval_models (
    id BIGINT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL
);
CREATE TABLE retrieval_vectors (
    passage BIGINT NOT NULL PRIMARY KEY,
    model BIGINT NOT NULL,
    scope BIGINT NOT NULL,
    vector BYTEA NOT NULL
);
CREATE INDEX retrieval_vectors_by_scope ON retrieval_vectors (model, scope);
";

// The API client that an entry belongs to; empty for the owner. The scopes of the owner's entries
// stay as they are, so nothing else has to change.
const CLIENTS: &str = "
ALTER TABLE retrieval_entries ADD COLUMN client TEXT NOT NULL DEFAULT '';
DROP INDEX retrieval_entries_by_space;
CREATE INDEX retrieval_entries_by_space ON retrieval_entries (client, space, collection);
";
