/* Every prepared SQL statement, by name.  Parameters are bound in the order of the question marks. */
#ifndef RKB_ARCHIVE_STATEMENTS_H
#define RKB_ARCHIVE_STATEMENTS_H

/* The order of requests: propose first.  Their keys are negative, from -1 down. */
#define RKB_REQUEST_ORDER "(id >= 0), abs(id)"
#define RKB_CANDIDATE_COLUMNS                                                                                         \
   "c.id, c.request, c.child, c.hash, c.source_hash, c.tune, c.operator, c.task, c.direction, c.standing, c.reason, " \
   "c.duplicate_of, c.promotion, c.objective, c.token_hash, c.ptx_hash, c.plan_hash, c.cubin_hash, c.note"

#define RKB_SQL_MAP(XX)                                                                                                     \
   XX(BEGIN, "BEGIN IMMEDIATE")                                                                                             \
   XX(COMMIT, "COMMIT")                                                                                                     \
   XX(PUT_FACT, "INSERT INTO fact VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value")                     \
   XX(GET_FACT, "SELECT value FROM fact WHERE key = ?")                                                                     \
   XX(PUT_PLUGIN, "INSERT INTO plugin VALUES (?, ?, ?, ?)")                                                                 \
   XX(GET_PLUGINS, "SELECT name, version, hash FROM plugin ORDER BY name, version, hash")                                   \
                                                                                                                            \
   XX(PUT_REQUEST,                                                                                                          \
      "INSERT INTO request VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO UPDATE SET operator = "                    \
      "excluded.operator, answer = excluded.answer, state = excluded.state, promote_group = excluded.promote_group, "       \
      "hints = excluded.hints, failure = excluded.failure")                                                                 \
   XX(GET_REQUEST_STATE, "SELECT state FROM request WHERE id = ?")                                                          \
   XX(SET_REQUEST_STATE, "UPDATE request SET state = ? WHERE id = ?")                                                       \
   XX(GET_REQUESTS,                                                                                                         \
      "SELECT id, operator, answer, state, promote_group, hints, failure FROM request ORDER BY " RKB_REQUEST_ORDER)         \
   XX(CLEAR_REQUEST_INPUTS, "DELETE FROM request_input WHERE request = ?")                                                  \
   XX(PUT_REQUEST_INPUT, "INSERT INTO request_input VALUES (?, ?, ?, ?)")                                                   \
   XX(GET_REQUEST_INPUTS,                                                                                                   \
      "SELECT candidate FROM request_input WHERE request = ? AND role = ? ORDER BY position")                               \
   XX(PUT_DIALOGUE, "INSERT INTO dialogue(what, request, hash) VALUES (?, ?, ?)")                                           \
   XX(GET_DIALOGUE, "SELECT what, request, hash FROM dialogue ORDER BY sequence")                                           \
   XX(PUT_PROMOTION, "INSERT INTO promotion VALUES (?, ?, ?, ?)")                                                           \
   XX(SET_PROMOTION, "UPDATE candidate SET promotion = ? WHERE id = ?")                                                     \
                                                                                                                            \
   XX(PUT_SOURCE, "INSERT INTO source(hash, text) VALUES (?, ?) ON CONFLICT(hash) DO NOTHING")                              \
   XX(PUT_CANDIDATE,                                                                                                        \
      "INSERT INTO candidate VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")                          \
   XX(PUT_PARENT, "INSERT INTO parent VALUES (?, ?, ?, ?)")                                                                 \
   XX(PUT_VERDICT,                                                                                                          \
      "INSERT OR REPLACE INTO verdict VALUES (?1, ?2, (SELECT coalesce(max(position), 0) + 1 FROM verdict WHERE "           \
      "candidate = ?1), ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)")                                                        \
   XX(PUT_MEASUREMENT, "INSERT OR REPLACE INTO measurement VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")                       \
   XX(SET_CANDIDATE,                                                                                                        \
      "UPDATE candidate SET standing = coalesce(?, standing), reason = coalesce(?, reason), objective = coalesce(?, "       \
      "objective) WHERE id = ?")                                                                                            \
   XX(CLEAR_MEASUREMENTS,                                                                                                   \
      "DELETE FROM measurement WHERE candidate IN (SELECT id FROM candidate WHERE request = ?)")                            \
   XX(CLEAR_VERDICTS, "DELETE FROM verdict WHERE candidate IN (SELECT id FROM candidate WHERE request = ?)")                \
   XX(CLEAR_PARENTS, "DELETE FROM parent WHERE child IN (SELECT id FROM candidate WHERE request = ?)")                      \
   XX(CLEAR_CANDIDATES, "DELETE FROM candidate WHERE request = ?")                                                          \
                                                                                                                            \
   XX(GET_CANDIDATE, "SELECT " RKB_CANDIDATE_COLUMNS                                                                        \
                     ", s.text FROM candidate c JOIN source s ON s.hash = c.source_hash WHERE c.id "                        \
                     "= ?")                                                                                                 \
   XX(GET_PARENTS, "SELECT parent, role FROM parent WHERE child = ? ORDER BY position")                                     \
   XX(GET_VERDICTS,                                                                                                         \
      "SELECT stage, standing, reason, message, evidence, certificate, shadow, executes, reproducible, attempts, "          \
      "seconds FROM verdict WHERE candidate = ? ORDER BY position")                                                         \
   XX(GET_MEASUREMENTS,                                                                                                     \
      "SELECT name, task_case, value, unit, better, spread, method, detail, shadow, reproducible FROM measurement "         \
      "WHERE candidate = ? ORDER BY name, task_case")                                                                       \
   XX(GET_MEASUREMENT,                                                                                                      \
      "SELECT m.value, m.detail FROM measurement m JOIN candidate c ON c.id = m.candidate JOIN request r ON r.id = "        \
      "c.request WHERE m.candidate = ? AND m.name = ? AND m.task_case = '' AND c.request <= ? AND r.state = "               \
      "'finished'")                                                                                                         \
   XX(GET_MEASURED,                                                                                                         \
      "SELECT m.name, m.task_case, m.unit, m.better, m.method, m.detail, m.value FROM measurement m JOIN candidate c ON "   \
      "c.id = m.candidate JOIN request r ON r.id = c.request WHERE m.candidate = ? AND c.request <= ? AND r.state = "       \
      "'finished' AND NOT m.shadow ORDER BY m.name, m.task_case")                                                           \
   XX(GET_CANDIDATES, "SELECT id FROM candidate ORDER BY id")                                                               \
   XX(GET_REQUEST_CANDIDATES, "SELECT id FROM candidate WHERE request = ? ORDER BY child")                                  \
   XX(GET_LAST_CANDIDATE, "SELECT (SELECT coalesce(max(id), 0) FROM candidate), "                                           \
                          "(SELECT coalesce(min(id), 1) FROM candidate)")                                                   \
   XX(GET_ROWS_BY_NUMBER, RKB_ROWS_SQL RKB_ROWS_FILTER "ORDER BY c.id LIMIT ?5")                                            \
   XX(GET_ROWS_BY_OBJECTIVE, RKB_ROWS_SQL RKB_ROWS_FILTER                                                                   \
      "AND c.objective IS NOT NULL AND c.standing <> 'reject' ORDER BY CASE c.standing WHEN 'accept' "                      \
      "THEN 0 WHEN 'suspect' THEN 1 ELSE 2 END, c.objective, c.id LIMIT ?5")                                                \
   XX(GET_ROWS_BETWEEN, RKB_ROWS_SQL "AND c.request > ?2 ORDER BY c.id")                                                    \
   XX(GET_LAST_FINISHED,                                                                                                    \
      "SELECT coalesce((SELECT id - 1 FROM request WHERE id > ? AND state <> 'finished' ORDER BY id LIMIT 1), "             \
      "(SELECT max(id) FROM request))")                                                                                     \
                                                                                                                            \
   XX(PUT_DOCUMENT, "INSERT INTO document VALUES (?, ?) ON CONFLICT(hash) DO NOTHING")                                      \
   XX(GET_DOCUMENT, "SELECT text FROM document WHERE hash = ?")                                                             \
   XX(PUT_CALL,                                                                                                             \
      "INSERT INTO call(request, child, stage, model, state, prompt_hash, temperature, reserved_usd, started_ms, "          \
      "provider, key, draw, attempt, source, provenance_hash) "                                                             \
      "VALUES (?, ?, ?, ?, 'reserved', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")                                                      \
   XX(END_CALL,                                                                                                             \
      "UPDATE call SET state = ?, reply_hash = ?, error = ?, cost_usd = ?, input_tokens = ?, cached_tokens = ?, "           \
      "output_tokens = ?, seconds = ?, outcome = ?, reasoning_tokens = ?, estimated = ?, worth_usd = ? "                    \
      "WHERE id = ? AND state = 'reserved'")                                                                                \
   XX(FIND_CALL,                                                                                                            \
      "SELECT c.draw, c.state = 'finished', d.text, c.outcome, c.error, c.input_tokens, c.cached_tokens, c.output_tokens, " \
      "c.reasoning_tokens, c.worth_usd, c.seconds, "                                                                        \
      "count(*) OVER (), sum(coalesce(c.cost_usd, c.reserved_usd)) OVER (), max(c.estimated) OVER () "                      \
      "FROM call c LEFT JOIN document d ON d.hash = c.reply_hash WHERE c.request = ?1 AND c.stage = ?2 AND c.child = ?3 "   \
      "AND c.key = ?4 ORDER BY c.state = 'finished' DESC, c.id DESC LIMIT 1")                                               \
   XX(NEXT_DRAW, "SELECT coalesce(max(draw) + 1, 0) FROM call WHERE key = ?")                                               \
   XX(ABANDON_CALLS,                                                                                                        \
      "UPDATE call SET state = 'failed', cost_usd = reserved_usd, estimated = 1, outcome = 'abandoned', "                   \
      "error = 'the program ended before the reply came' WHERE state = 'reserved'")                                         \
   XX(GET_COST, "SELECT coalesce(sum(coalesce(cost_usd, reserved_usd)), 0) FROM call")                                      \
   XX(GET_ESTIMATES, "SELECT coalesce(sum(cost_usd), 0) FROM call WHERE estimated")                                         \
   XX(COUNT_ANSWERS, "SELECT count(*) FROM call WHERE state = 'finished' AND request < ?")                                  \
   XX(GET_HISTORY, "SELECT id, request, standing, duplicate_of, objective FROM candidate ORDER BY id")                      \
   XX(GET_COSTS,                                                                                                            \
      "SELECT request, sum(coalesce(cost_usd, reserved_usd)), sum(state = 'finished') FROM call GROUP BY request ORDER BY " \
      "(request >= 0), abs(request)")                                                                                       \
   XX(GET_CALLS,                                                                                                            \
      "SELECT c.id, c.request, c.child, c.stage, c.model, c.state, c.outcome, c.error, p.text, r.text, "                    \
      "coalesce(c.cost_usd, c.reserved_usd), c.input_tokens, c.output_tokens, c.seconds, c.attempt, c.source FROM call c "  \
      "LEFT JOIN document p ON p.hash = c.prompt_hash LEFT JOIN document r ON r.hash = c.reply_hash ORDER BY "              \
      "(c.request >= 0), abs(c.request), c.id")                                                                             \
   XX(GET_REPLY,                                                                                                            \
      "SELECT d.text FROM call c JOIN document d ON d.hash = c.reply_hash WHERE c.request = ? AND c.stage = ? AND "         \
      "c.child = ? AND c.state = 'finished' ORDER BY c.id LIMIT 1")                                                         \
   XX(PUT_EVENT,                                                                                                            \
      "INSERT INTO event(time_ms, level, who, kind, candidate, text, data) VALUES (?, ?, ?, ?, ?, ?, ?)")                   \
                                                                                                                            \
   XX(COUNT_ALL, "SELECT (SELECT count(*) FROM request), count(*), coalesce(sum(standing = 'accept'), 0), "                 \
                 "coalesce(sum(standing = 'suspect'), 0), coalesce(sum(standing = 'unknown'), 0), "                         \
                 "coalesce(sum(standing = 'reject'), 0), coalesce(sum(duplicate_of IS NOT NULL), 0), "                      \
                 "coalesce(sum(promotion = 'passed'), 0), (SELECT count(*) FROM call) FROM candidate")                      \
   XX(COMPARE_JUDGES,                                                                                                       \
      "WITH found AS (SELECT candidate, max(executes AND standing = 'accept') AS accepts, "                                 \
      "max(executes AND standing = 'reject') AS rejects, max(executes AND standing = 'reject' AND (reason LIKE "            \
      "'memory.%' OR reason LIKE 'race.%' OR reason LIKE 'sync.%')) AS of_memory, "                                         \
      "max(stage = 'build' AND standing = 'reject') AS unbuilt, max(stage = 'build' AND standing = 'accept') AS built "     \
      "FROM verdict GROUP BY candidate), "                                                                                  \
      "judged AS (SELECT j.stage, j.standing, CASE json_extract(j.evidence, '$.judge') "                                    \
      "WHEN 'compile' THEN CASE WHEN f.unbuilt THEN 1 WHEN f.built THEN 0 END "                                             \
      "WHEN 'memory' THEN CASE WHEN f.of_memory THEN 1 WHEN f.rejects OR f.accepts THEN 0 END "                             \
      "WHEN 'numbers' THEN CASE WHEN f.of_memory THEN NULL WHEN f.rejects THEN 1 WHEN f.accepts THEN 0 END "                \
      "ELSE CASE WHEN f.rejects THEN 1 WHEN f.accepts THEN 0 END END AS wrong "                                             \
      "FROM verdict j JOIN found f ON f.candidate = j.candidate WHERE j.executes = 0 AND "                                  \
      "j.stage IN (SELECT stage FROM call)) "                                                                               \
      "SELECT stage, total(standing = 'reject' AND wrong = 1), total(standing = 'reject' AND wrong = 0), "                  \
      "total(standing = 'accept' AND wrong = 0), total(standing = 'accept' AND wrong = 1), "                                \
      "total(standing = 'unknown' AND wrong IS NOT NULL), total(wrong IS NULL), "                                           \
      "(SELECT coalesce(sum(worth_usd), 0) FROM call c WHERE c.stage = judged.stage) "                                      \
      "FROM judged GROUP BY stage ORDER BY stage")

/* The query of <rkb/ext/archive.h>: ?1 horizon, ?2 source hash, ?3 operator, ?4 standing, ?5 limit, ?6 parent.  The deciding verdict is
 * the last one, shadow stages excluded, that has the candidate's standing and reason. */
#define RKB_ROWS_SQL                                                                                                 \
   "SELECT c.id, s.text, c.source_hash, c.tune, c.operator, c.note, c.standing, c.reason, v.message, v.evidence, "   \
   "c.objective, c.request FROM candidate c JOIN source s ON s.hash = c.source_hash JOIN request r ON r.id = "       \
   "c.request LEFT JOIN verdict v ON v.candidate = c.id AND v.stage = (SELECT w.stage FROM verdict w WHERE "         \
   "w.candidate = c.id AND NOT w.shadow AND w.standing = c.standing AND w.reason = c.reason ORDER BY w.position "    \
   "DESC LIMIT 1) WHERE c.request <= ?1 AND r.state = 'finished' "
#define RKB_ROWS_FILTER                                                                                              \
   "AND (?2 IS NULL OR c.source_hash = ?2) AND (?3 IS NULL OR c.operator = ?3) AND (?4 IS NULL OR c.standing = ?4) " \
   "AND (?6 = 0 OR EXISTS (SELECT 1 FROM parent p WHERE p.child = c.id AND p.parent = ?6)) "

enum rkb_sql {
#define RKB_X(name, sql) RKB_SQL_##name,
   RKB_SQL_MAP(RKB_X)
#undef RKB_X
      RKB_SQL_COUNT
};

#endif
