/* The archive's schema and its migrations.  docs/archive.md explains every column; tests/archive compares the two.
 * Never edit a released step; add a new step at the end. */
#include "archive/schema.h"

#include <string.h>

static const char version_1[] =
   "CREATE TABLE fact ("
   "  key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
   "CREATE TABLE plugin ("
   "  name TEXT NOT NULL, version TEXT NOT NULL, path TEXT NOT NULL, hash TEXT NOT NULL);"

   "CREATE TABLE request ("
   "  id INTEGER PRIMARY KEY,"
   "  section TEXT NOT NULL, number INTEGER NOT NULL,"
   "  operator TEXT NOT NULL, answer TEXT NOT NULL, state TEXT NOT NULL,"
   "  promote_group INTEGER, hints TEXT, failure TEXT);"
   "CREATE TABLE request_input ("
   "  request INTEGER NOT NULL REFERENCES request(id), role TEXT NOT NULL, position INTEGER NOT NULL,"
   "  candidate INTEGER NOT NULL, PRIMARY KEY (request, role, position)) WITHOUT ROWID;"
   "CREATE TABLE dialogue ("
   "  sequence INTEGER PRIMARY KEY, what TEXT NOT NULL, request INTEGER NOT NULL, hash TEXT NOT NULL);"
   "CREATE TABLE promotion ("
   "  section TEXT NOT NULL, promote_group INTEGER NOT NULL, members INTEGER NOT NULL, passed INTEGER NOT NULL,"
   "  PRIMARY KEY (section, promote_group)) WITHOUT ROWID;"

   "CREATE TABLE source ("
   "  id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, text TEXT NOT NULL);"
   "CREATE TABLE candidate ("
   "  id INTEGER PRIMARY KEY,"
   "  request INTEGER NOT NULL REFERENCES request(id), child INTEGER NOT NULL,"
   "  hash TEXT NOT NULL, source_hash TEXT NOT NULL REFERENCES source(hash), tune TEXT NOT NULL,"
   "  operator TEXT NOT NULL, task TEXT NOT NULL, direction TEXT NOT NULL,"
   "  standing TEXT NOT NULL, reason TEXT NOT NULL, duplicate_of INTEGER, promotion TEXT NOT NULL, objective REAL,"
   "  token_hash TEXT, ptx_hash TEXT, plan_hash TEXT, cubin_hash TEXT, note TEXT, archived_ms INTEGER NOT NULL);"
   "CREATE UNIQUE INDEX candidate_by_request ON candidate(request, child);"
   "CREATE INDEX candidate_by_source ON candidate(source_hash);"
   "CREATE TABLE parent ("
   "  child INTEGER NOT NULL REFERENCES candidate(id), position INTEGER NOT NULL, parent INTEGER NOT NULL,"
   "  role TEXT NOT NULL, PRIMARY KEY (child, position)) WITHOUT ROWID;"
   "CREATE TABLE verdict ("
   "  candidate INTEGER NOT NULL REFERENCES candidate(id), stage TEXT NOT NULL, position INTEGER NOT NULL,"
   "  standing TEXT NOT NULL, reason TEXT NOT NULL, message TEXT NOT NULL, evidence TEXT, certificate TEXT,"
   "  shadow INTEGER NOT NULL, executes INTEGER NOT NULL, reproducible INTEGER NOT NULL, attempts INTEGER NOT NULL,"
   "  seconds REAL, PRIMARY KEY (candidate, stage)) WITHOUT ROWID;"
   "CREATE TABLE measurement ("
   "  candidate INTEGER NOT NULL REFERENCES candidate(id), name TEXT NOT NULL, task_case TEXT NOT NULL,"
   "  value REAL NOT NULL, unit TEXT NOT NULL, better TEXT NOT NULL, spread REAL, method TEXT NOT NULL, detail TEXT,"
   "  shadow INTEGER NOT NULL, reproducible INTEGER NOT NULL, PRIMARY KEY (candidate, name, task_case)) WITHOUT ROWID;"

   "CREATE TABLE document ("
   "  hash TEXT PRIMARY KEY, text TEXT NOT NULL);"
   "CREATE TABLE call ("
   "  id INTEGER PRIMARY KEY, request INTEGER NOT NULL, child INTEGER NOT NULL, stage TEXT NOT NULL,"
   "  model TEXT NOT NULL, state TEXT NOT NULL, prompt_hash TEXT REFERENCES document(hash),"
   "  reply_hash TEXT REFERENCES document(hash), error TEXT, temperature REAL,"
   "  reserved_usd REAL NOT NULL, cost_usd REAL, input_tokens INTEGER, cached_tokens INTEGER, output_tokens INTEGER,"
   "  seconds REAL, started_ms INTEGER NOT NULL);"
   "CREATE INDEX call_by_request ON call(request, stage, child);"
   "CREATE TABLE event ("
   "  id INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL, level TEXT NOT NULL, who TEXT NOT NULL, kind TEXT NOT NULL,"
   "  candidate INTEGER, text TEXT NOT NULL, data TEXT);";

/* Adds the columns that identify a question to a language model, and the column for the worth of its reply.
 * */
static const char version_2[] = "ALTER TABLE call ADD COLUMN provider TEXT;"
                                "ALTER TABLE call ADD COLUMN key TEXT;"
                                "ALTER TABLE call ADD COLUMN draw INTEGER NOT NULL DEFAULT 0;"
                                "ALTER TABLE call ADD COLUMN attempt INTEGER NOT NULL DEFAULT 1;"
                                "ALTER TABLE call ADD COLUMN source TEXT NOT NULL DEFAULT 'bought';"
                                "ALTER TABLE call ADD COLUMN provenance_hash TEXT REFERENCES document(hash);"
                                "ALTER TABLE call ADD COLUMN outcome TEXT;"
                                "ALTER TABLE call ADD COLUMN reasoning_tokens INTEGER;"
                                "ALTER TABLE call ADD COLUMN estimated INTEGER NOT NULL DEFAULT 0;"
                                "ALTER TABLE call ADD COLUMN worth_usd REAL;"
                                "CREATE INDEX call_by_key ON call(key, draw);";

/* Records which hash function made the archive's identities.  Archives of versions 1 and 2 use XXH3-128 and
 * do not record it. */
static const char version_3[] = "INSERT INTO fact (key, value) VALUES ('hash_function', 'SHA-256');";

const char *const rkb_archive_steps[] = {version_1, version_2, version_3};
const int rkb_archive_version = sizeof rkb_archive_steps / sizeof rkb_archive_steps[0];

/* Versions 2 and 3 have the same tables and columns. */
enum { OLDEST_READ = 2, OLDEST_RESUMED = 3 };

static int read_pragma(rkb_connection_t *connection, const char *pragma, int64_t *value, rkb_error_t *err) {
   sqlite3_stmt *statement = NULL;
   int result = sqlite3_prepare_v2(connection->database, pragma, -1, &statement, NULL);
   if (result == SQLITE_OK)
      result = sqlite3_step(statement);
   if (result == SQLITE_ROW)
      *value = sqlite3_column_int64(statement, 0);
   sqlite3_finalize(statement);
   return result == SQLITE_ROW ? RKB_OK
                               : rkb_connection_fail(connection, "reading the archive's version", err);
}

/* Reads the version; 0 for an empty file. */
static int read_version(rkb_connection_t *connection, int64_t *version, rkb_error_t *err) {
   int64_t application = 0, tables = 0;
   int status = read_pragma(connection, "PRAGMA application_id", &application, err);
   if (status == RKB_OK)
      status = read_pragma(connection, "PRAGMA user_version", version, err);
   if (status == RKB_OK)
      status = read_pragma(connection, "SELECT count(*) FROM sqlite_master", &tables, err);
   if (status != RKB_OK)
      return status;
   if (application != RKB_ARCHIVE_APPLICATION_ID && (application != 0 || *version != 0 || tables != 0))
      return rkb_fail(err, RKB_ERR_INVALID, "the file is an SQLite database but no archive of rkb");
   return RKB_OK;
}

/* The schema of this program has only tables and indices, with plain columns.  A view, a trigger, a virtual table, a computed column, a check, a computed
 * default and an index over expressions could run any expression of its author's, without a time limit, so such a file is refused.  SQLite is asked
 * what it has read: the text of a schema can be written in many ways. */
static const char foreign_parts[] =
   "SELECT (SELECT count(*) FROM sqlite_master WHERE type NOT IN ('table', 'index') OR"
   "        sql LIKE '%check%(%' OR (type = 'index' AND sql LIKE '%where%'))"
   "     + (SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type <> 'table')"
   "     + (SELECT count(*) FROM sqlite_master AS item, pragma_table_xinfo(item.name) AS part WHERE item.type = 'table' AND"
   "        (part.hidden <> 0 OR part.dflt_value LIKE '%(%'))"
   "     + (SELECT count(*) FROM sqlite_master AS item, pragma_index_xinfo(item.name) AS part WHERE item.type = 'index' AND part.cid = -2)";

static int refuse_programs(rkb_connection_t *connection, rkb_error_t *err) {
   int64_t programs = 0;
   int status = read_pragma(connection, foreign_parts, &programs, err);
   if (status == RKB_OK && programs > 0)
      return rkb_fail(
         err, RKB_ERR_INVALID,
         "the archive holds views, triggers, virtual tables or expressions in its schema, which rkb never makes");
   return status;
}

static int refuse_newer(int64_t version, int known, rkb_error_t *err) {
   if (version <= known)
      return RKB_OK;
   return rkb_fail(
      err, RKB_ERR_INVALID,
      "the archive has schema version %lld, and this rkb knows versions up to %d: use a newer rkb",
      (long long)version, known);
}

int rkb_archive_check_version(rkb_connection_t *connection, rkb_error_t *err) {
   int64_t version = 0;
   int status = read_version(connection, &version, err);
   if (status != RKB_OK)
      return status;
   if (version == 0)
      return rkb_fail(err, RKB_ERR_INVALID, "the archive is empty: its run ended before anything was stored");
   status = refuse_programs(connection, err);
   if (status != RKB_OK)
      return status;
   if (version < OLDEST_READ)
      return rkb_fail(err, RKB_ERR_INVALID,
                      "the archive has schema version %lld, and this rkb reads versions %d to %d: use the rkb that made it",
                      (long long)version, OLDEST_READ, rkb_archive_version);
   return refuse_newer(version, rkb_archive_version, err);
}

int rkb_archive_check_resumable(rkb_connection_t *connection, rkb_error_t *err) {
   int64_t version = 0;
   int status = read_version(connection, &version, err);
   if (status == RKB_OK)
      status = refuse_programs(connection, err);
   if (status != RKB_OK || version == 0 || version >= OLDEST_RESUMED)
      return status;
   return rkb_fail(err, RKB_ERR_INVALID,
                   "cannot resume: the archive has schema version %lld, whose identities are XXH3-128, and this rkb compares "
                   "SHA-256; %sstart the run anew",
                   (long long)version, version < OLDEST_READ ? "" : "rkb report and rkb show read it as it is; ");
}

int rkb_archive_migrate(rkb_connection_t *connection, const char *const *steps, int count, rkb_error_t *err) {
   char stamp[96];
   int64_t version = 0;
   int status = rkb_connection_execute(connection, "BEGIN IMMEDIATE", err);
   if (status != RKB_OK)
      return status;
   status = read_version(connection, &version, err);
   if (status == RKB_OK)
      status = refuse_newer(version, count, err);
   for (int64_t i = version; status == RKB_OK && i < count; i++)
      status = rkb_connection_execute(connection, steps[i], err);
   if (status == RKB_OK && version < count) {
      snprintf(stamp, sizeof stamp, "PRAGMA application_id = %d; PRAGMA user_version = %d",
               RKB_ARCHIVE_APPLICATION_ID, count);
      status = rkb_connection_execute(connection, stamp, err);
   }
   if (status == RKB_OK)
      status = rkb_connection_execute(connection, "COMMIT", err);
   if (status != RKB_OK)
      sqlite3_exec(connection->database, "ROLLBACK", NULL, NULL, NULL);
   return status;
}
