"""Reads the archive of a run: tables as pandas frames, or as lists of dictionaries where pandas is not installed.

The archive may be from anybody, and a run may still write it: it is opened read-only, and what rkb never makes is refused."""
import json
import os
import sqlite3
from pathlib import Path

APPLICATION_ID = 0x726B6261  # core/archive/schema.h
OLDEST = 2  # a later version only adds: what is read here stays
PROGRAMS = """SELECT (SELECT count(*) FROM sqlite_master WHERE type NOT IN ('table', 'index'))
  + (SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type <> 'table')
  + (SELECT count(*) FROM sqlite_master AS item, pragma_table_xinfo(item.name) AS part WHERE item.type = 'table' AND part.hidden <> 0)"""

CANDIDATES = """SELECT candidate.id AS number, request.section, request.number AS request, candidate.operator, candidate.standing, candidate.reason,
  candidate.objective, candidate.tune, candidate.note, candidate.duplicate_of, candidate.promotion, candidate.source_hash, candidate.archived_ms
  FROM candidate JOIN request ON request.id = candidate.request ORDER BY candidate.id"""
VERDICTS = """SELECT candidate, stage, standing, reason, message, evidence, certificate, shadow, executes, attempts, seconds
  FROM verdict ORDER BY candidate, position"""
MEASUREMENTS = """SELECT candidate, name, task_case AS "case", value, spread, unit, better, method, detail, shadow
  FROM measurement ORDER BY candidate, name, task_case"""
LINEAGE = 'SELECT child AS candidate, parent, role, position FROM parent ORDER BY child, position'
REQUESTS = "SELECT id, section, number, operator, answer, state, hints, failure FROM request ORDER BY id"
JSON_COLUMNS = {"tune", "evidence", "certificate", "detail", "hints"}
TRUTHS = {"shadow", "executes"}


def _frame(rows):
    try:
        import pandas  # pylint: disable=import-outside-toplevel
    except ImportError:
        return rows
    return pandas.DataFrame(rows)


def _value(name, value):
    if name in JSON_COLUMNS and value is not None:
        return json.loads(value)
    return bool(value) if name in TRUTHS and value is not None else value


class Run:
    """A run's archive.  Use it with `with`, or call close."""

    def __init__(self, path, frames=True):
        path = Path(path)
        file = path / "run.sqlite" if path.is_dir() else path
        if not file.is_file():
            raise FileNotFoundError(f"{path} holds no run: there is no run.sqlite in it")
        self.path, self._frames = path, frames
        self._database = sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)
        try:
            self._check(file)
        except (ValueError, sqlite3.Error):
            self._database.close()
            raise

    def _check(self, file):
        self._database.execute("PRAGMA trusted_schema = OFF")
        application = self._database.execute("PRAGMA application_id").fetchone()[0]
        version = self._database.execute("PRAGMA user_version").fetchone()[0]
        if application != APPLICATION_ID:
            raise ValueError(f"{file} is an SQLite database but no archive of rkb")
        if version < OLDEST:
            raise ValueError(f"{file} has schema version {version}; this module reads {OLDEST} and later")
        if self._database.execute(PROGRAMS).fetchone()[0]:
            raise ValueError(f"{file} holds views, triggers, virtual tables or computed columns, which rkb never makes")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._database.close()

    def rows(self, query, values=()):
        """Any query, as a list of dictionaries; docs/archive.md has every table."""
        cursor = self._database.execute(query, values)
        names = [column[0] for column in cursor.description]
        return [{name: _value(name, value) for name, value in zip(names, row)} for row in cursor]

    def _table(self, query):
        rows = self.rows(query)
        return _frame(rows) if self._frames else rows

    @property
    def facts(self):
        """The facts of the run: a dictionary of texts."""
        return dict(self._database.execute("SELECT key, value FROM fact"))

    @property
    def candidates(self):
        return self._table(CANDIDATES)

    @property
    def verdicts(self):
        return self._table(VERDICTS)

    @property
    def measurements(self):
        return self._table(MEASUREMENTS)

    @property
    def lineage(self):
        """The parents of candidates: candidate, parent, role, position."""
        return self._table(LINEAGE)

    @property
    def requests(self):
        return self._table(REQUESTS)

    def source(self, number):
        """The kernel's text."""
        row = self._database.execute("SELECT text FROM source JOIN candidate ON candidate.source_hash = source.hash WHERE candidate.id = ?",
                                     (number,)).fetchone()
        if row is None:
            raise KeyError(f"there is no candidate {number}")
        return row[0]

    def best(self):
        """The number of the accepted candidate with the least objective, or None."""
        row = self._database.execute("SELECT id FROM candidate WHERE standing = 'accept' AND objective IS NOT NULL AND duplicate_of IS NULL "
                                     "ORDER BY objective, id LIMIT 1").fetchone()
        return row and row[0]


def open_run(path, frames=True):
    """Opens a run's directory or its run.sqlite.  frames=False: lists of dictionaries even where pandas is installed."""
    return Run(os.fspath(path), frames)
