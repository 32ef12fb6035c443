ALTER TABLE reservations ADD COLUMN process TEXT;

CREATE TABLE processes (name TEXT PRIMARY KEY, beats BIGINT NOT NULL);
