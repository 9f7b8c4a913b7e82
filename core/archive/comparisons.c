/* The columns that `rkb diff` compares.  Pure data. */
#include "archive/comparisons.h"

const rkb_comparison_t rkb_comparisons[] = {
   {"fact",
    1,
    {"key", "value"},
    "SELECT key, value FROM fact WHERE key IN ('abi', 'task', 'task_hash', 'direction', 'target', 'seed', 'secret', 'objective', "
    "'pipeline_hash', 'library') ORDER BY key"},
   {"request",
    2,
    {"section", "number", "operator", "answer", "state", "promote group", "hints", "failure"},
    "SELECT section, number, operator, answer, state, promote_group, hints, failure FROM request "
    "ORDER BY section, number"},
   {"input of request",
    4,
    {"section", "number", "role", "position", "candidate"},
    "SELECT r.section, r.number, i.role, i.position, i.candidate FROM request_input i JOIN request r ON r.id = i.request "
    "ORDER BY 1, 2, 3, 4"},
   /* The hash covers the measurements that the strategy was told.  If they are times, the hash differs from run to run. */
   {"dialogue",
    1,
    {"sequence", "what", "request", "hash"},
    "SELECT sequence, what, request, CASE WHEN what = 'tell' AND EXISTS (SELECT 1 FROM candidate c JOIN measurement m "
    "ON m.candidate = coalesce(c.duplicate_of, c.id) WHERE c.request = d.request AND NOT m.reproducible) THEN NULL ELSE hash END "
    "FROM dialogue d ORDER BY sequence"},
   {"promote group",
    2,
    {"section", "group", "members", "passed"},
    "SELECT section, promote_group, members, passed FROM promotion ORDER BY 1, 2"},
   /* A timed objective differs from run to run, so it is compared only when its measurement is compared. */
   {"candidate",
    1,
    {"number", "request", "child", "hash", "source hash", "tune", "operator", "task", "direction", "note",
     "standing", "reason", "duplicate of", "promotion", "objective", "token hash", "PTX hash", "plan hash",
     "cubin hash"},
    "SELECT id, request, child, hash, source_hash, tune, operator, task, direction, note, standing, reason, duplicate_of, "
    "promotion, "
    "CASE WHEN EXISTS (SELECT 1 FROM measurement m WHERE m.candidate = candidate.id AND m.name = (SELECT value FROM fact "
    "WHERE key = 'objective') AND NOT m.reproducible) THEN NULL ELSE objective END, token_hash, ptx_hash, plan_hash, "
    "cubin_hash FROM candidate ORDER BY id"},
   {"parent of candidate",
    2,
    {"number", "position", "parent", "role"},
    "SELECT child, position, parent, role FROM parent ORDER BY child, position"},
   {"verdict on candidate",
    2,
    {"number", "stage", "standing", "reason", "message", "evidence", "certificate", "shadow", "executes"},
    "SELECT candidate, stage, standing, reason, message, evidence, certificate, shadow, executes FROM verdict "
    "WHERE reproducible ORDER BY candidate, stage"},
   {"measurement of candidate",
    3,
    {"number", "name", "case", "value", "unit", "better", "spread", "method", "detail", "shadow"},
    "SELECT candidate, name, task_case, value, unit, better, spread, method, detail, shadow FROM measurement "
    "WHERE reproducible ORDER BY candidate, name, task_case"},
};

const int rkb_comparison_count = sizeof rkb_comparisons / sizeof rkb_comparisons[0];

const char rkb_comparison_left_out[] = "SELECT (SELECT count(*) FROM verdict WHERE NOT reproducible) + "
                                       "(SELECT count(*) FROM measurement WHERE NOT reproducible)";

const char rkb_comparison_limited[] =
   "SELECT candidate FROM verdict WHERE stage = 'build' AND NOT reproducible AND "
   "reason GLOB 'limit.*' ORDER BY candidate";
