CREATE TABLE accounts (
    id {number},
    name TEXT NOT NULL UNIQUE,
    plan TEXT NOT NULL,
    balance BIGINT NOT NULL CHECK (balance >= 0),
    bonus BIGINT NOT NULL CHECK (bonus >= 0),
    held BIGINT NOT NULL CHECK (held >= 0),
    cycle TEXT NOT NULL,
    allowance BIGINT NOT NULL,
    granted BIGINT NOT NULL,
    used BIGINT NOT NULL,
    noticed INTEGER NOT NULL,
    created {real} NOT NULL,
    CHECK (balance >= bonus + held)
);

CREATE TABLE keys (
    id {number},
    account BIGINT NOT NULL REFERENCES accounts (id),
    digest {bytes} NOT NULL UNIQUE,
    prefix TEXT NOT NULL UNIQUE,
    operations TEXT,
    networks TEXT NOT NULL,
    expires {real},
    revoked {real},
    created {real} NOT NULL,
    last_used {real}
);

CREATE TABLE ledger (
    id {number},
    account BIGINT NOT NULL REFERENCES accounts (id),
    key BIGINT REFERENCES keys (id),
    kind TEXT NOT NULL,
    delta BIGINT NOT NULL,
    request_id TEXT,
    operation TEXT,
    at {real} NOT NULL,
    UNIQUE (request_id, kind)
);

-- sqlite
CREATE TRIGGER ledger_no_update BEFORE UPDATE ON ledger BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

-- sqlite
CREATE TRIGGER ledger_no_delete BEFORE DELETE ON ledger BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

-- postgresql
CREATE FUNCTION ledger_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$;

-- postgresql
CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse();

CREATE TABLE reservations (
    id {number},
    account BIGINT NOT NULL REFERENCES accounts (id),
    request_id TEXT NOT NULL,
    credits BIGINT NOT NULL CHECK (credits >= 0),
    bonus BIGINT NOT NULL CHECK (bonus >= 0),
    cycle TEXT NOT NULL,
    expires {real} NOT NULL
);

CREATE INDEX reservations_expires ON reservations (expires);

CREATE INDEX reservations_account ON reservations (account, expires);

CREATE TABLE idempotency (
    account BIGINT NOT NULL REFERENCES accounts (id),
    key TEXT NOT NULL,
    fingerprint {bytes} NOT NULL,
    reservation BIGINT,
    answer {bytes},
    expires {real} NOT NULL,
    PRIMARY KEY (account, key)
);

CREATE INDEX idempotency_expires ON idempotency (expires);

CREATE INDEX idempotency_reservation ON idempotency (reservation);
