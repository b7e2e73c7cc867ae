"""Tuned modules in the file of `hone tune --store`: a table of their own beside the tuner's.

A row is what came of trying a plan in JAX: for one module, one version of jaxlib, one kind of
processor. A module that has no row is compiled as JAX does it.
"""

import contextlib
import json
import os
import sqlite3
import time

_TABLE = """
CREATE TABLE IF NOT EXISTS jax_modules (
  key TEXT NOT NULL, versions TEXT NOT NULL, machine TEXT NOT NULL, at INTEGER NOT NULL,
  name TEXT NOT NULL, program TEXT NOT NULL, kept INTEGER NOT NULL, reason TEXT NOT NULL,
  how TEXT NOT NULL, body BLOB NOT NULL, flags TEXT NOT NULL, stock_seconds REAL NOT NULL,
  tuned_seconds REAL NOT NULL, speedup REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
  PRIMARY KEY (key, versions, machine)) WITHOUT ROWID
"""
# Of modules that call kernels of hone-loops: machine code, good for the row's machine alone.
_KERNELS_TABLE = """
CREATE TABLE IF NOT EXISTS jax_kernels (
  key TEXT NOT NULL, versions TEXT NOT NULL, machine TEXT NOT NULL, kernels BLOB NOT NULL,
  PRIMARY KEY (key, versions, machine)) WITHOUT ROWID
"""


class ShelfError(ValueError):
    """A file that is no store: what, and what to do."""


def machine():
    """The processor and its cores, as hone's store names them."""
    cpu = "unknown processor"
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name") and ": " in line:
                cpu = line.split(": ", 1)[1].rstrip("\n")
                break
    return f"{cpu} x{os.cpu_count()}"


def put(store, key, versions, name, verdict):
    """Adds what is known of a module, in the place of what was known. `verdict` is of _improve."""
    race = verdict.race
    figures = ((race.stock_seconds, race.tuned_seconds, race.speedup, race.low, race.high)
               if race is not None else (0.0, 0.0, 1.0, 1.0, 1.0))
    with _open(store, "rwc") as db:
        db.execute(_TABLE)
        db.execute(_KERNELS_TABLE)
        db.execute(
            "INSERT OR REPLACE INTO jax_modules VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (key, versions, machine(), int(time.time()), name, "", int(verdict.kept), verdict.reason,
             verdict.how, verdict.tuned.body if verdict.kept else b"",
             json.dumps(verdict.tuned.flags if verdict.kept else {}), *figures))
        place = (key, versions, machine())
        db.execute("DELETE FROM jax_kernels WHERE key = ? AND versions = ? AND machine = ?", place)
        if verdict.kept and verdict.tuned.kernels:
            db.execute("INSERT INTO jax_kernels VALUES (?,?,?,?)", (*place, verdict.tuned.kernels))


def load(store, versions):
    """{key: (name, body, flags, kernels)} of the modules that are faster here, with these versions.

    Raises:
      ShelfError: the file is not there, or is no store.
    """
    with _open(store, "ro") as db:
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'jax_modules'").fetchone():
            return {}
        rows = db.execute(
            "SELECT key, name, body, flags FROM jax_modules "
            "WHERE kept AND versions = ? AND machine = ?", (versions, machine()))
        kernels = {}
        if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'jax_kernels'").fetchone():
            kernels = dict(db.execute(
                "SELECT key, kernels FROM jax_kernels WHERE versions = ? AND machine = ?",
                (versions, machine())))
        return {key: (name, body, json.loads(flags), kernels.get(key, b""))
                for key, name, body, flags in rows}


@contextlib.contextmanager
def _open(store, mode):
    try:
        db = sqlite3.connect(f"file:{_quoted(store)}?mode={mode}", uri=True, timeout=10)
        try:
            with db:
                yield db
        finally:
            db.close()
    except sqlite3.Error as error:
        raise ShelfError(f"{store}: {error}; give a file that `hone tune --store` wrote") from error


def _quoted(path):
    from urllib.parse import quote

    return quote(os.path.abspath(path))
