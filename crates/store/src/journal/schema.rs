//! Defines the journal's tables. Times are microseconds since the epoch.

use crate::{Migration, SchemaComponent};

pub(crate) const COMPONENT: SchemaComponent = SchemaComponent {
    name: "journal",
    migrations: &[
        Migration { version: 1, sqlite: SQLITE_1, postgres: POSTGRES_1 },
        Migration { version: 2, sqlite: APPROVALS, postgres: APPROVALS },
        Migration { version: 3, sqlite: REDACTED_EVENTS, postgres: REDACTED_EVENTS },
        Migration { version: 4, sqlite: SQLITE_4, postgres: POSTGRES_4 },
        Migration { version: 5, sqlite: CHECKSUMS, postgres: CHECKSUMS },
        Migration { version: 6, sqlite: LAST_USES, postgres: LAST_USES },
        Migration { version: 7, sqlite: WORK, postgres: WORK },
        Migration { version: 8, sqlite: ANNOUNCEMENTS, postgres: ANNOUNCEMENTS },
        Migration { version: 9, sqlite: REPLIES, postgres: REPLIES },
    ],
};

// The tables that every turn writes have one B-tree each, because each further one is another page
// to write with every commit. A turn has a row only while it is open: once it has ended, its events
// say everything. There are no foreign keys from the events: the lease that every append checks
// already implies the session. Outputs are bytes because they may contain NUL, which a text of
// PostgreSQL cannot.
const SQLITE_1: &str = "
CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    workspace TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    turns BIGINT NOT NULL
) WITHOUT ROWID;
CREATE TABLE open_turns (
    session TEXT NOT NULL PRIMARY KEY,
    id TEXT NOT NULL,
    first_seq BIGINT NOT NULL,
    started_at BIGINT NOT NULL
) WITHOUT ROWID;
CREATE TABLE events (
    session TEXT NOT NULL,
    seq BIGINT NOT NULL,
    id TEXT NOT NULL,
    turn TEXT NOT NULL,
    at BIGINT NOT NULL,
    author TEXT,
    branch TEXT,
    step BIGINT,
    type TEXT NOT NULL,
    payload TEXT NOT NULL,
    PRIMARY KEY (session, seq)
) WITHOUT ROWID;
CREATE TABLE leases (
    name TEXT NOT NULL PRIMARY KEY,
    token BIGINT NOT NULL,
    owner_pid BIGINT NOT NULL,
    owner_host TEXT NOT NULL,
    owner_start BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
) WITHOUT ROWID;
CREATE TABLE outputs (
    session TEXT NOT NULL,
    reference TEXT NOT NULL,
    text BLOB NOT NULL,
    PRIMARY KEY (session, reference)
);
";

const POSTGRES_1: &str = "
CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    workspace TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    turns BIGINT NOT NULL
);
CREATE TABLE open_turns (
    session TEXT NOT NULL PRIMARY KEY,
    id TEXT NOT NULL,
    first_seq BIGINT NOT NULL,
    started_at BIGINT NOT NULL
);
CREATE TABLE events (
    session TEXT NOT NULL,
    seq BIGINT NOT NULL,
    id TEXT NOT NULL,
    turn TEXT NOT NULL,
    at BIGINT NOT NULL,
    author TEXT,
    branch TEXT,
    step BIGINT,
    type TEXT NOT NULL,
    payload TEXT NOT NULL,
    PRIMARY KEY (session, seq)
);
CREATE TABLE leases (
    name TEXT NOT NULL PRIMARY KEY,
    token BIGINT NOT NULL,
    owner_pid BIGINT NOT NULL,
    owner_host TEXT NOT NULL,
    owner_start BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE TABLE outputs (
    session TEXT NOT NULL,
    reference TEXT NOT NULL,
    text BYTEA NOT NULL,
    PRIMARY KEY (session, reference)
);
";

// A row exists while a request is pending; its content is in the event at `seq`. The first answer
// is written to the row, and the turn that asked removes it.
const APPROVALS: &str = "
CREATE TABLE approvals (
    call TEXT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL,
    seq BIGINT NOT NULL,
    digest TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    decision TEXT,
    always BIGINT NOT NULL DEFAULT 0,
    answered_by TEXT
);
";

// What a call or an approval was before words of it were removed, as a digest: what happened can
// still be proven with the words at hand.
const REDACTED_EVENTS: &str = "
CREATE TABLE redacted_events (
    session TEXT NOT NULL,
    seq BIGINT NOT NULL,
    digest TEXT NOT NULL,
    redacted_at BIGINT NOT NULL,
    PRIMARY KEY (session, seq)
);
";

// A lease is measured with the clock of the database (`clock.rs`). A program that knows only the
// earlier table cannot write a row of this one. A queued turn was accepted and has not begun: its row
// goes in the commit that writes its first event. `promised` says that an open turn was queued, so
// that it is continued and not closed if its process dies.
const SQLITE_4: &str = "
DROP TABLE leases;
CREATE TABLE leases (
    name TEXT NOT NULL PRIMARY KEY,
    token BIGINT NOT NULL,
    incarnation TEXT NOT NULL,
    owner_pid BIGINT NOT NULL,
    owner_host TEXT NOT NULL,
    owner_start BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
) WITHOUT ROWID;
ALTER TABLE open_turns ADD COLUMN promised BIGINT NOT NULL DEFAULT 0;
CREATE TABLE queued_turns (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL,
    turn TEXT NOT NULL UNIQUE,
    request TEXT NOT NULL,
    accepted_at BIGINT NOT NULL
);
CREATE INDEX queued_turns_of_session ON queued_turns (session, position);
";

const POSTGRES_4: &str = "
DROP TABLE leases;
CREATE TABLE leases (
    name TEXT NOT NULL PRIMARY KEY,
    token BIGINT NOT NULL,
    incarnation TEXT NOT NULL,
    owner_pid BIGINT NOT NULL,
    owner_host TEXT NOT NULL,
    owner_start BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
ALTER TABLE open_turns ADD COLUMN promised BIGINT NOT NULL DEFAULT 0;
CREATE TABLE queued_turns (
    position BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    session TEXT NOT NULL,
    turn TEXT NOT NULL UNIQUE,
    request TEXT NOT NULL,
    accepted_at BIGINT NOT NULL
);
CREATE INDEX queued_turns_of_session ON queued_turns (session, position);
";

// The order in which sessions were used, which a wall clock that is set does not change.
const LAST_USES: &str = "
ALTER TABLE sessions ADD COLUMN last_use BIGINT NOT NULL DEFAULT 0;
UPDATE sessions SET last_use = ranked.place FROM
    (SELECT id, ROW_NUMBER() OVER (ORDER BY updated_at, id) AS place FROM sessions) AS ranked
    WHERE ranked.id = sessions.id;
CREATE INDEX sessions_by_last_use ON sessions (last_use);
";

// Rows from before have none.
const CHECKSUMS: &str = "
ALTER TABLE events ADD COLUMN checksum BIGINT;
ALTER TABLE outputs ADD COLUMN checksum BIGINT;
";

// Work that runs by itself, each as a promised turn. A row is written once for each id; `state` says
// how far it is.
const WORK: &str = "
CREATE TABLE work (
    id TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    parent TEXT NOT NULL,
    client TEXT NOT NULL,
    workspace TEXT NOT NULL,
    depth BIGINT NOT NULL,
    session TEXT NOT NULL,
    turn TEXT NOT NULL,
    request TEXT NOT NULL,
    title TEXT NOT NULL,
    state TEXT NOT NULL,
    due_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    ended_at BIGINT,
    result TEXT NOT NULL,
    reply_to TEXT NOT NULL,
    is_delivered BIGINT NOT NULL,
    is_cancelled BIGINT NOT NULL
);
CREATE INDEX work_by_state ON work (state, due_at);
CREATE INDEX work_of_parent ON work (parent, due_at);
CREATE INDEX work_of_session ON work (session);
CREATE INDEX work_undelivered ON work (client, ended_at) WHERE is_delivered = 0;
";

// Whether it was decided who is notified of the end of a piece of work. Of work from before, no user is.
const ANNOUNCEMENTS: &str = "
ALTER TABLE work ADD COLUMN is_announced BIGINT NOT NULL DEFAULT 1;
CREATE INDEX work_unannounced ON work (ended_at) WHERE is_announced = 0;
";

// The results of work are looked up with each turn of the conversation that asked for it.
const REPLIES: &str = "
CREATE INDEX work_of_reply ON work (reply_to, ended_at) WHERE reply_to <> '';
";
