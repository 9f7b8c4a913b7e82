/* The archive: everything a run produced, in one SQLite file in the run's directory (docs/archive.md lists every table and column).
 * One process writes it; any number may read it, also while it is written.
 *
 * Threads.  Every function is [any]: writes of one archive are serialised inside; each read uses its own connection.
 * A write takes tens of microseconds.  rkb_archive_reserve_call waits for the disk (milliseconds), so never call it on the loop.
 *
 * Writes.  Each *_put_*, *_set_* and *_reserve_* is one transaction.  On RKB_OK its data survives any kill of this process.  On any
 * other return nothing of it is stored and the archive stays usable.  RKB_ERR_IO: the disk is full or broken; the message says
 * which.  RKB_ERR_INVALID: the record contradicts what is stored.  Texts are copied or bound before the call returns.  JSON is
 * stored as given: pass canonical JSON (base/json.h), or equal runs will not compare as equal.
 *
 * Order.  The caller assigns request keys and candidate numbers.  They must be unique, and must not depend on which worker was
 * faster. */
#ifndef RKB_ARCHIVE_ARCHIVE_H
#define RKB_ARCHIVE_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <rkb/ext/archive.h>
#include <rkb/plugin.h>

typedef struct rkb_archive rkb_archive_t;

#define RKB_ARCHIVE_MAX_TEXT                                                                                 \
   (256u << 10) /* bytes of one source, message or evidence; a longer text is cut and marked */
#define RKB_ARCHIVE_MAX_REPLY (4u << 20) /* bytes of one prompt or reply */
#define RKB_ARCHIVE_MOST_CANDIDATES (1 << 26) /* in an archive that is read; no run comes near it */

/* Run directory ------------------------------------------------------------------------------------------------- */

/* Makes <parent>/<name>-<UTC time>; adds "-2", "-3", ... when the name is taken.  *directory is malloc'd. */
int rkb_run_directory_make(const char *parent, const char *name, char **directory, rkb_error_t *err);
/* Paths in a run directory; malloc'd. */
char *rkb_run_path_archive(const char *directory);  /* run.sqlite */
char *rkb_run_path_pipeline(const char *directory); /* pipeline.yaml, as resolved */
char *rkb_run_path_log(const char *directory);      /* log.jsonl */
char *rkb_run_path_lock(const char *directory);     /* lock */

/* Opening --------------------------------------------------------------------------------------------------------- */

/* A run can be resumed only if these are equal. */
typedef struct rkb_run_plugin {
   const char *name, *version, *path, *hash; /* path: as loaded, not compared; hash: of the file's bytes */
} rkb_run_plugin_t;

typedef struct rkb_run_identity {
   const char *name; /* name of the pipeline */
   /* Hash of the resolved pipeline, without the parts that may change on resume. */
   const char *pipeline_hash;
   const char *task;          /* name */
   const char *task_hash, *direction, *target, *objective;
   uint64_t seed;
   /* As hex; not compared, because a resumed run continues with the archive's own secret.  NULL: none. */
   const char *secret;
   uint32_t abi_major, abi_minor;
   uint32_t plugin_count;
   const rkb_run_plugin_t *plugins; /* compared as a set by name, version and hash */
} rkb_run_identity_t;

/* Makes run.sqlite in an existing directory, takes the lock and stores the identity.  RKB_ERR_INVALID when the directory has a
 * run.sqlite already. */
int rkb_archive_create(const char *directory, const rkb_run_identity_t *identity, rkb_archive_t **archive,
                       rkb_error_t *err);
/* Opens an archive to continue its run.  Takes the lock, migrates an older schema if its identities can be
 * compared, and compares the identity when it is not NULL (RKB_ERR_INVALID names the first difference).
 * RKB_ERR_UNAVAILABLE: another process writes; the message names its pid. */
int rkb_archive_resume(const char *directory, const rkb_run_identity_t *identity, rkb_archive_t **archive,
                       rkb_error_t *err);
/* Opens an archive to read it.  Needs no lock and changes nothing.  directory may also be the path of a run.sqlite. */
int rkb_archive_open(const char *directory, rkb_archive_t **archive, rkb_error_t *err);
/* Commits what is pending, checkpoints and releases the lock.  NULL is accepted. */
void rkb_archive_close(rkb_archive_t *archive);
/* The pid of a writer that was killed before this archive was resumed; 0 when there was none. */
int64_t rkb_archive_previous_writer(const rkb_archive_t *archive);
const char *rkb_archive_directory(const rkb_archive_t *archive);

/* Facts about the run: "name", "task", "direction", "target", "objective", "seed", "secret", "created_ms",
 * and those that core/run adds ("ended": found | exhausted | interrupted | ...).  get: *value is malloc'd, or
 * NULL when the fact is absent. */
int rkb_archive_set_fact(rkb_archive_t *archive, const char *key, const char *value, rkb_error_t *err);
char *rkb_archive_get_fact(rkb_archive_t *archive, const char *key);

/* Stores a text of at most RKB_ARCHIVE_MAX_REPLY bytes under its SHA-256, and writes the SHA-256 to hash,
 * which has RKB_HASH_TEXT bytes. */
int rkb_archive_put_document(rkb_archive_t *archive, const char *text, char *hash, rkb_error_t *err);
/* *text is malloc'd.  RKB_ERR_INVALID: there is no such text, or the stored text has another hash. */
int rkb_archive_get_document(rkb_archive_t *archive, const char *hash, char **text, rkb_error_t *err);

/* Records: you store and load the same structs.  Optional texts may be NULL. ---------------------------------------- */

enum rkb_request_section { RKB_SECTION_PROPOSE = 1, RKB_SECTION_SEARCH };

/* How the request came about.  Mostly it is the strategy's answer to an ask.  RKB_ANSWER_LISTED: it comes from a propose entry, without an ask.
 * RKB_ANSWER_WAIT, RKB_ANSWER_DONE and RKB_ANSWER_FILL (which completes a group after DONE) are empty requests, finished at once. */
enum rkb_request_answer {
   RKB_ANSWER_LISTED = 1,
   RKB_ANSWER_OK,
   RKB_ANSWER_WAIT,
   RKB_ANSWER_DONE,
   RKB_ANSWER_FILL
};

enum rkb_request_state {
   RKB_REQUEST_OPEN = 1, /* has a number; on resume its work starts again */
   RKB_REQUEST_SCREENED, /* all its candidates are stored; promotion and evaluation remain */
   RKB_REQUEST_FINISHED  /* nothing more will be added */
};

typedef struct rkb_request_record {
   uint32_t section;        /* enum rkb_request_section */
   uint32_t answer;         /* enum rkb_request_answer */
   uint32_t state;          /* enum rkb_request_state */
   int64_t number;          /* within its section, from 0 */
   int64_t group;           /* promote group within its section, or -1 */
   const char *operator_id; /* "" for an empty request */
   const char *hints;       /* JSON object or NULL */
   const char *failure;     /* why its operator produced nothing ("tool.hang: ..."), or NULL */
   uint32_t parent_count, inspiration_count;
   const int64_t *parents, *inspirations; /* candidate numbers, in the strategy's order */
} rkb_request_record_t;

typedef struct rkb_verdict_record {
   const char *stage; /* id of the pipeline entry, or "build" */
   const char *standing, *reason, *message;
   const char *evidence, *certificate;  /* JSON or NULL */
   bool shadow, executes, reproducible; /* reproducible: from a stage that keeps the determinism promise */
   uint32_t attempts;                   /* number of tries, from 1 */
   double seconds;                      /* duration of the job; negative: not known */
} rkb_verdict_record_t;

typedef struct rkb_measurement_record {
   const char *name; /* "<entry id>.<name>" */
   double value;
   double spread; /* negative: none */
   const char *unit, *better, *method;
   const char *case_name; /* or NULL */
   const char *detail;    /* JSON or NULL */
   bool shadow, reproducible;
} rkb_measurement_record_t;

typedef struct rkb_parent_record {
   int64_t number;
   const char *role; /* "parent", "inspiration" */
} rkb_parent_record_t;

enum rkb_promotion { RKB_PROMOTION_OPEN = 0, RKB_PROMOTION_PASSED, RKB_PROMOTION_NOT, RKB_PROMOTION_NONE };

typedef struct rkb_candidate_record {
   int64_t number;          /* the candidate's id, from 1 */
   uint32_t section;        /* section of its request */
   uint32_t promotion;      /* enum rkb_promotion; NONE: there was no promotion */
   int64_t request;         /* its request's number within the section */
   uint32_t child;          /* index among its request's candidates */
   const char *source;      /* text; stored once, even if many candidates share it */
   const char *hash;        /* hash of source text and tune values together */
   const char *source_hash; /* hash of the source text alone */
   const char *token_hash;  /* hash of normalised tokens and assignment, or NULL */
   const char *ptx_hash;    /* hash of PTX without names and line info, or NULL */
   const char *plan_hash;   /* hash over the plans of every case, or NULL */
   const char *cubin_hash;  /* hash of the cubin, or NULL */
   const char *tune;        /* JSON object, canonical */
   const char *operator_id, *task, *direction;
   const char *note;     /* or NULL */
   const char *standing; /* the worst verdict so far; "none" before any verdict */
   const char *reason;   /* reason of the verdict that decided, or "" */
   int64_t duplicate_of; /* 0: none */
   bool has_objective;
   double objective;
   uint32_t parent_count, verdict_count, measurement_count;
   const rkb_parent_record_t *parents;
   const rkb_verdict_record_t *verdicts; /* in the order in which they were given */
   const rkb_measurement_record_t *measurements;
} rkb_candidate_record_t;

/* Requests and candidates ----------------------------------------------------------------------------------------- */

/* Stores a request when it is asked: state OPEN, or FINISHED for an empty request. */
int rkb_archive_put_request(rkb_archive_t *archive, const rkb_request_record_t *request, rkb_error_t *err);
/* Stores a screened request with all its candidates.  Replaces the open request, and any candidate that an earlier, unfinished
 * attempt left.  The new state is request->state. */
int rkb_archive_put_screened(rkb_archive_t *archive, const rkb_request_record_t *request,
                             const rkb_candidate_record_t *const *candidates, uint32_t count,
                             rkb_error_t *err);
/* Stores one finished candidate of a stored request, for callers that commit each candidate separately. */
int rkb_archive_put_candidate(rkb_archive_t *archive, const rkb_candidate_record_t *candidate,
                              rkb_error_t *err);
/* One finished result about a stored candidate: adds the verdicts and measurements, and updates standing, reason and objective. */
typedef struct rkb_result_record {
   int64_t candidate;
   /* The candidate's standing and reason after this result; NULL: no change. */
   const char *standing, *reason;
   bool has_objective;            /* false: the objective does not change */
   double objective;
   uint32_t verdict_count, measurement_count;
   const rkb_verdict_record_t *verdicts;
   const rkb_measurement_record_t *measurements;
} rkb_result_record_t;
int rkb_archive_put_result(rkb_archive_t *archive, const rkb_result_record_t *result, rkb_error_t *err);
int rkb_archive_set_request_state(rkb_archive_t *archive, uint32_t section, int64_t number, uint32_t state,
                                  rkb_error_t *err);
/* Closes a promote group.  Members listed in passed become RKB_PROMOTION_PASSED; the others become RKB_PROMOTION_NOT. */
int rkb_archive_put_group(rkb_archive_t *archive, uint32_t section, int64_t group, const int64_t *members,
                          uint32_t member_count, const int64_t *passed, uint32_t passed_count,
                          rkb_error_t *err);

/* The strategy's dialogue ------------------------------------------------------------------------------------------- */

/* Every ask and tell, in order.  hash covers its contents, so that a replay finds the first difference.  An ask is stored in one
 * transaction with the request that it made; a tell is stored when it happens. */
enum rkb_dialogue { RKB_DIALOGUE_ASK = 1, RKB_DIALOGUE_TELL };
typedef struct rkb_strategy_record_record {
   uint32_t what; /* enum rkb_dialogue */
   uint32_t section;
   int64_t request; /* number within the section */
   const char *hash;
} rkb_strategy_record_record_t;
/* Stores an ask and the request it made, in one transaction. */
int rkb_archive_put_ask(rkb_archive_t *archive, const rkb_request_record_t *request, const char *hash,
                        rkb_error_t *err);
/* Stores an ask as above, together with the tell before it (NULL: none).  In a search, each tell is followed by the next ask. */
int rkb_archive_put_turn(rkb_archive_t *archive, const rkb_strategy_record_record_t *told,
                         const rkb_request_record_t *request, const char *hash, rkb_error_t *err);
int rkb_archive_put_tell(rkb_archive_t *archive, uint32_t section, int64_t request, const char *hash,
                         rkb_error_t *err);
/* Calls visit for each ask and tell in order.  visit returns RKB_OK to continue; any other status ends the loop and is returned. */
int rkb_archive_each_dialogue(rkb_archive_t *archive,
                              int (*visit)(void *argument, const rkb_strategy_record_record_t *record),
                              void *argument, rkb_error_t *err);

/* Calls of language models, and events -------------------------------------------------------------------------------- */

typedef struct rkb_call_record {
   uint32_t section;
   int64_t request; /* the request it was made for */
   const char *stage, *model;
   const char *prompt;  /* text, stored once by hash */
   double reserved_usd; /* the most that the call can cost */
   /* Known when the call ended: */
   const char *state; /* "reserved", "finished", "failed" */
   const char *reply, *error;
   double cost_usd;
   int64_t input_tokens, cached_tokens, output_tokens; /* negative: not reported */
   double seconds;                                     /* negative: not known */
   double temperature;                                 /* NaN: not sent */
   int64_t child;                                      /* index among the request's calls, from 0 */
   /* Identify the question; texts may be NULL: */
   const char *provider;
   const char *key;        /* hash over provider, address, model and canonical body */
   int64_t draw;           /* how often the run asked the identical question before */
   int64_t attempt;        /* number of the attempt at this question, from 1 */
   const char *source;     /* "bought"; if replayed, "cache" or "cassette"; NULL: bought */
   const char *provenance; /* JSON about a filled prompt (file's hash, slots, cuts); stored once by hash */
   /* Known when the call ended: */
   const char *outcome;      /* "answered", "truncated", "broken", ... or NULL */
   int64_t reasoning_tokens; /* negative: not reported */
   bool estimated;           /* no usage was reported, so the cost is the whole reservation */
   double worth_usd;         /* the reply's cost at the model's price, whether paid now or not */
} rkb_call_record_t;
/* Reserves the cost before the call is sent.  On RKB_OK the reservation survives a power cut.  *id identifies the call. */
int rkb_archive_reserve_call(rkb_archive_t *archive, const rkb_call_record_t *call, int64_t *id,
                             rkb_error_t *err);
/* Stores how the call ended.  Does not read the members of rkb_call_record_t above the first "Known when the call
 * ended". */
int rkb_archive_finish_call(rkb_archive_t *archive, int64_t id, const rkb_call_record_t *call,
                            rkb_error_t *err);
/* Dollars spent so far: costs of ended calls, plus reservations of calls that never ended. */
int rkb_archive_cost(rkb_archive_t *archive, double *usd, rkb_error_t *err);
/* Of these, the dollars of ended calls whose servers reported no usable count of tokens. */
int rkb_archive_estimates(rkb_archive_t *archive, double *usd, rkb_error_t *err);
/* Counts the answered questions to models of all propose requests and of the search requests below this
 * number. */
int rkb_archive_count_answers(rkb_archive_t *archive, int64_t before, uint64_t *count, rkb_error_t *err);
/* Finds the finished call (section, request, stage, child) of an earlier attempt.  Its reply is then replayed, and not bought again.  *found says whether
 * there is one; *reply is malloc'd. */
int rkb_archive_find_reply(rkb_archive_t *archive, uint32_t section, int64_t request, const char *stage,
                           int64_t child, bool *found, char **reply, rkb_error_t *err);

/* The archive's record of a question, found by its asker (section, request, stage, child) and its key. */
typedef struct rkb_call_found {
   bool asked;                    /* this asker asked this question before; `draw` is the draw of that time */
   bool replied;                  /* there is a finished reply; the members below describe it */
   int64_t draw;                  /* if not asked: the next free draw of the key */
   int64_t attempts;              /* attempts of this asker so far, failed ones included */
   char *reply, *outcome, *error; /* owned: rkb_call_found_clear */
   int64_t input_tokens, cached_tokens, output_tokens, reasoning_tokens; /* negative: not reported */
   double worth_usd, cost_usd, seconds; /* cost: all attempts together; seconds: negative when not known */
   bool estimated;
} rkb_call_found_t;
int rkb_archive_find_call(rkb_archive_t *archive, uint32_t section, int64_t request, const char *stage,
                          int64_t child, const char *key, rkb_call_found_t *found, rkb_error_t *err);
void rkb_call_found_clear(rkb_call_found_t *found);
/* Charges the calls that an earlier process began and never ended, in full and marked as estimated.  *count:
 * how many. */
int rkb_archive_abandon_calls(rkb_archive_t *archive, int64_t *count, rkb_error_t *err);

/* Stores an event.  who: stage or part of the program; kind: a short code ("resumed", "tool.hang"); data: JSON or NULL; candidate 0:
 * none. */
int rkb_archive_put_event(rkb_archive_t *archive, int level, const char *who, const char *kind,
                          int64_t candidate, const char *text, const char *data, rkb_error_t *err);

/* Reading --------------------------------------------------------------------------------------------------------------- */

/* The query of <rkb/ext/archive.h>, limited to the rows that a request may see: all propose requests, and
 * search requests up to horizon (-1: none).  Only finished requests are visible. */
int rkb_archive_query(rkb_archive_t *archive, int64_t horizon, const rkb_archive_query_t *query,
                      rkb_archive_rows_t **rows, rkb_error_t *err);
uint32_t rkb_archive_rows_count(const rkb_archive_rows_t *rows);
const rkb_archive_row_t *rkb_archive_rows_at(const rkb_archive_rows_t *rows, uint32_t index);
void rkb_archive_rows_free(rkb_archive_rows_t *rows);
/* Finds a measurement.  *found is false when there is none within the horizon.  detail as in <rkb/ext/archive.h>. */
int rkb_archive_measurement(rkb_archive_t *archive, int64_t horizon, int64_t candidate, const char *name,
                            bool *found, double *value, char *detail, size_t detail_size, rkb_error_t *err);
/* The measurements of a candidate, as in <rkb/ext/archive.h>; an empty list when it is not within the horizon.  Owned. */
int rkb_archive_measured(rkb_archive_t *archive, int64_t horizon, int64_t candidate,
                         rkb_archive_measured_list_t **list, rkb_error_t *err);
uint32_t rkb_archive_measured_count(const rkb_archive_measured_list_t *list);
const rkb_archive_measured_t *rkb_archive_measured_at(const rkb_archive_measured_list_t *list, uint32_t index);
void rkb_archive_measured_free(rkb_archive_measured_list_t *list);

/* Calls visit for each request in order: propose first, then search, each by number.  Its arguments are valid until it returns. */
int rkb_archive_each_request(rkb_archive_t *archive,
                             int (*visit)(void *argument, const rkb_request_record_t *request),
                             void *argument, rkb_error_t *err);
/* Loads a candidate with all its records; free it with rkb_candidate_record_free.  RKB_ERR_INVALID: no such number. */
int rkb_archive_load_candidate(rkb_archive_t *archive, int64_t number, rkb_candidate_record_t **candidate,
                               rkb_error_t *err);
void rkb_candidate_record_free(rkb_candidate_record_t *candidate);
/* The numbers of a request's candidates, by child; with section 0, of all candidates, by number.  malloc'd. */
int rkb_archive_candidates(rkb_archive_t *archive, uint32_t section, int64_t request, int64_t **numbers,
                           uint32_t *count, rkb_error_t *err);
/* The highest candidate number; 0 when there is none.  RKB_ERR_INVALID: a number is below 1, or above what any run reaches. */
int rkb_archive_last_candidate(rkb_archive_t *archive, int64_t *number, rkb_error_t *err);

typedef struct rkb_archive_counts {
   int64_t requests, candidates, accepted, suspect, unknown, rejected, duplicates, promoted, calls;
} rkb_archive_counts_t;
int rkb_archive_count(rkb_archive_t *archive, rkb_archive_counts_t *counts, rkb_error_t *err);

/* Compares the judgements of a stage that asks models with the findings of other stages; verdicts of shadow
 * stages count too.  The judge's evidence names what it judges, and that decides the comparison.  "compile":
 * the build; "memory": rejections for memory, races and barriers; "numbers": all other rejections, if memory
 * was correct; anything else: rejections of any kind.  Visits each such stage by name. */
typedef struct rkb_judge_record {
   const char *stage;
   int64_t both_reject, only_judge_rejects, both_accept, only_machine_rejects;
   int64_t abstained; /* the judge gave no verdict although there is a finding to compare it with */
   int64_t missing;   /* there is no finding: not executed, or executed without a verdict */
   double worth_usd;  /* worth of all the stage's replies */
} rkb_judge_record_t;
int rkb_archive_each_judge(rkb_archive_t *archive,
                           int (*visit)(void *argument, const rkb_judge_record_t *judge), void *argument,
                           rkb_error_t *err);

/* Compares two archives: requests, candidates, parents, verdicts, measurements and dialogue, without times.  Rows of stages that do
 * not promise reproducible results are counted but not compared.  say receives one line of text for each difference. */
typedef struct rkb_archive_difference {
   int64_t differences; /* in all, also those past the limit */
   int64_t compared;    /* rows compared */
   int64_t left_out;    /* rows of stages that promise no reproducibility */
   int64_t limited;     /* first candidate whose build met a limit in one archive only; later rows follow from it; 0: none */
   uint32_t limited_side; /* the archive with the limited build; 0: the first, 1: the second */
} rkb_archive_difference_t;
int rkb_archive_compare(rkb_archive_t *left, rkb_archive_t *right, int64_t limit,
                        void (*say)(void *argument, const char *line), void *argument,
                        rkb_archive_difference_t *result, rkb_error_t *err);

#endif
