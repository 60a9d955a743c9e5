#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The work of the audit trail's index, done by ordered stores: SQLite, LMDB, RocksDB, and PostgreSQL where POSTGRESQL_URL
names a server.

Of each entry a store is asked whether the receipt is known, and for the newest entry of its original transaction, which
nine of ten have; then the entry's receipt, original transaction, transaction and customer are entered. 1,024 entries are
a batch, durable at its end. `audit-bench index` gives the trail's own index the same work.

usage: index_peers.py DIRECTORY ENTRIES [STORE…]
needs: pip install lmdb rocksdict psycopg2-binary
"""
import os
import random
import resource
import sqlite3
import struct
import sys
import time

BATCH = 1024
KINDS = ["receipt", "original", "transaction", "customer"]
CACHE = 24 << 20  # What the trail's index takes of memory.


class SQLite:
    def __init__(self, path):
        self.path = path
        self.database = sqlite3.connect(path, isolation_level=None)
        self.database.executescript(
            f"PRAGMA page_size=16384; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-{CACHE >> 10};"
        )
        for kind in KINDS:
            self.database.execute(
                f"CREATE TABLE of_{kind} (fingerprint INTEGER, entry INTEGER, PRIMARY KEY (fingerprint, entry)) WITHOUT ROWID"
            )

    def batch(self, first, records):
        execute = self.database.execute
        execute("BEGIN IMMEDIATE")
        for receipt, original, _, _ in records:
            execute("SELECT max(entry) FROM of_receipt WHERE fingerprint = ?", (receipt,)).fetchone()
            execute("SELECT max(entry) FROM of_original WHERE fingerprint = ?", (original,)).fetchone()
        for place, kind in enumerate(KINDS):
            rows = [(record[place], first + number) for number, record in enumerate(records)]
            self.database.executemany(f"INSERT INTO of_{kind} VALUES (?, ?)", rows)
        execute("COMMIT")

    def byte_count(self):
        return sum(os.path.getsize(self.path + suffix) for suffix in ["", "-wal"])


def key(place, fingerprint, entry):
    return struct.pack(">BQQ", place, fingerprint, entry)


class LMDB:
    def __init__(self, path):
        import lmdb

        self.path = path
        self.environment = lmdb.open(path, map_size=64 << 30)

    def batch(self, first, records):
        with self.environment.begin(write=True) as transaction:
            cursor = transaction.cursor()
            for record in records:
                for place in (0, 1):
                    # The newest is before what follows all of the fingerprint.
                    if cursor.set_range(key(place, record[place], (1 << 64) - 1)):
                        cursor.prev()
                    else:
                        cursor.last()
                    cursor.key()
            for number, record in enumerate(records):
                for place in range(4):
                    transaction.put(key(place, record[place], first + number), b"")

    def byte_count(self):
        return os.stat(os.path.join(self.path, "data.mdb")).st_blocks * 512


class RocksDB:
    def __init__(self, path):
        import rocksdict

        self.module = rocksdict
        self.path = path
        options = rocksdict.Options(raw_mode=True)
        options.create_if_missing(True)
        options.set_write_buffer_size(CACHE // 2)
        table = rocksdict.BlockBasedOptions()
        table.set_bloom_filter(10, False)
        table.set_block_cache(rocksdict.Cache(CACHE // 2))
        options.set_block_based_table_factory(table)
        self.database = rocksdict.Rdict(path, options)
        self.sync = rocksdict.WriteOptions()
        self.sync.sync = True

    def batch(self, first, records):
        iterator = self.database.iter()
        for record in records:
            for place in (0, 1):
                iterator.seek_for_prev(key(place, record[place], (1 << 64) - 1))
                if iterator.valid():
                    iterator.key()
        batch = self.module.WriteBatch(raw_mode=True)
        for number, record in enumerate(records):
            for place in range(4):
                batch.put(key(place, record[place], first + number), b"")
        self.database.write(batch, self.sync)

    def byte_count(self):
        return sum(file.stat().st_size for file in os.scandir(self.path))


class PostgreSQL:
    def __init__(self, _):
        import psycopg2

        self.connection = psycopg2.connect(os.environ["POSTGRESQL_URL"])
        with self.connection, self.connection.cursor() as cursor:
            for kind in KINDS:
                cursor.execute(f"CREATE TABLE peer_{kind} (fingerprint bigint, entry bigint)")
                cursor.execute(f"CREATE INDEX ON peer_{kind} (fingerprint, entry)")

    def batch(self, first, records):
        import io

        with self.connection, self.connection.cursor() as cursor:
            for place in (0, 1):
                cursor.execute(
                    f"SELECT f, (SELECT max(entry) FROM peer_{KINDS[place]} WHERE fingerprint = f) FROM unnest(%s::bigint[]) f",
                    ([record[place] for record in records],),
                )
                cursor.fetchall()
            for place, kind in enumerate(KINDS):
                text = "".join(f"{record[place]}\t{first + number}\n" for number, record in enumerate(records))
                cursor.copy_expert(f"COPY peer_{kind} FROM STDIN", io.StringIO(text))

    def byte_count(self):
        with self.connection, self.connection.cursor() as cursor:
            cursor.execute(
                "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relname LIKE 'peer\\_%'"
            )
            return int(cursor.fetchone()[0])


def written():
    with open("/proc/self/io", encoding="ascii") as file:
        return int(next(line for line in file if line.startswith("write_bytes")).split()[1])


def measure(store, entries):
    generator = random.Random(1)
    originals, seconds, before = [], 0.0, written()
    user = resource.getrusage(resource.RUSAGE_SELF)
    processor = user.ru_utime + user.ru_stime
    for first in range(0, entries, BATCH):
        records = []
        for _ in range(min(BATCH, entries - first)):
            if not originals or generator.random() < 0.1:
                originals.append(generator.getrandbits(48))
                original = originals[-1]
            else:
                original = originals[generator.randrange(len(originals))]
            records.append((generator.getrandbits(48), original, generator.getrandbits(48), generator.getrandbits(48)))
        start = time.monotonic()
        store.batch(first, records)
        seconds += time.monotonic() - start
    user = resource.getrusage(resource.RUSAGE_SELF)
    processor = user.ru_utime + user.ru_stime - processor
    print(
        f"{type(store).__name__:10}  {entries} entries: {seconds * 1e6 / entries:.1f} us an entry, "
        f"{processor * 1e6 / entries:.1f} us of processors, {store.byte_count() // entries} bytes stored, "
        f"{(written() - before) // entries} written",
        flush=True,
    )


def main():
    directory, entries = sys.argv[1], int(sys.argv[2])
    stores = {store.__name__.lower(): store for store in (SQLite, LMDB, RocksDB)}
    if "POSTGRESQL_URL" in os.environ:
        stores["postgresql"] = PostgreSQL
    for name in sys.argv[3:] or stores:
        measure(stores[name](os.path.join(directory, name)), entries)


if __name__ == "__main__":
    main()
