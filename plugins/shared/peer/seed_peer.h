/* A kernel of other structure that does the same task: the seed of the task that has least in common with the
 * candidate, or, where the task has no seed, a kernel written from its reference graph.  At shapes that are
 * too large to evaluate whole, both outputs are compared whole, and where they differ most the reference
 * decides.  So a wrong peer rejects nothing, and a right peer shows a wrong block that no sample hits.  Runs
 * on a worker; whoever opens one owns it. */
#ifndef SEED_PEER_H
#define SEED_PEER_H

#include <rkb/ext/device.h>
#include <rkb/ext/task.h>

/* output_differences.c: where two outputs differ most, measured in three ways: absolutely, relatively, and compared with the
 * differences of neighbours. */
enum { DIFFERENCES_KEPT = 16, DIFFERENCES_WAYS = 3, DIFFERENCES_MOST = DIFFERENCES_KEPT * DIFFERENCES_WAYS };
typedef struct difference {
   double score;
   uint64_t element;
   uint64_t bits; /* the bits of the first output there */
} difference_t;
typedef struct differences {
   difference_t kept[DIFFERENCES_WAYS][DIFFERENCES_KEPT];
   uint32_t count[DIFFERENCES_WAYS];
   double least[DIFFERENCES_WAYS]; /* the score that a difference must exceed to be kept; 0 until the list is full */
} differences_t;
/* Adds the elements from number first on; both have the type (enum rkb_dtype).  Pieces must come in order, so
 * that the result is always the same. */
void differences_add(differences_t *differences, uint32_t dtype, uint64_t first, uint64_t count, const void *one,
                     const void *other);
/* Lists all that were kept, each once, by element; out has room for DIFFERENCES_MOST.  Returns how many. */
uint32_t differences_sorted(const differences_t *differences, difference_t *out);

/* peer_choice.c: the path of the kernel file to compare a text with, malloc'd as *text is; NULL, with the reason in none, where there is none. */
char *peer_choose(const char *directory, const char *source, char **text, char *none, size_t none_size);
/* The same for kernels that are written from the graph; their name is no path. */
char *peer_write(const rkb_host_t *host, const char *source, char **text, char *none, size_t none_size);

/* What a peer needs: the stage's extensions, its job, the session, and numbers in the session that nothing
 * else uses. */
typedef struct peer_place {
   const rkb_host_t *host;
   const rkb_task_api_t *task;
   const rkb_kernel_api_t *kernel;
   const rkb_device_api_t *device;
   rkb_job_t job;
   rkb_session_t *session; /* set when the session begins */
   uint32_t module, instance, deadline_ms;
} peer_place_t;

typedef struct peer {
   /* The name of its file, or the schedule it was written from; "" where there is no peer. */
   char name[128];
   char none[192]; /* why there is no peer */
   rkb_item_t *item;
   rkb_build_t *build;
   rkb_plan_t *plan; /* the plan of `planned` */
   const rkb_case_t *planned;
   bool loaded, open; /* whether its module is loaded, and its instance open */
   bool ran;          /* on `set`; the instance holds the outputs */
   uint32_t set;
   uint64_t compared;  /* output elements that were compared with the candidate's */
   uint64_t judged;    /* those of them that the reference judged, because they differ most */
   uint32_t undecided; /* outputs whose reference takes too much work there */
} peer_t;

/* Chooses and builds the peer; RKB_OK with no build where there is none.  Close it whatever is returned. */
int peer_open(const peer_place_t *place, const rkb_item_t *candidate, peer_t *peer, rkb_error_t *err);
void peer_close(const peer_place_t *place, peer_t *peer);
/* Forgets what the worker held: it is a new one. */
void peer_forget(const peer_place_t *place, peer_t *peer);
/* Gives back the peer's buffers after the last values of a case. */
void peer_leave_case(const peer_place_t *place, peer_t *peer);

/* Runs the peer on values that are staged as a set.  *there false: it has no plan for the case, or the device
 * has no room for both. */
int peer_run(const peer_place_t *place, peer_t *peer, const rkb_case_t *the_case, uint32_t set, bool *there, rkb_error_t *err);

/* Elements of an output where it differs most from the peer's, with the reference's values. */
typedef struct peer_points {
   uint32_t count; /* 0: the outputs are equal, or the reference takes too much work there */
   uint64_t elements[DIFFERENCES_MOST];
   char data[DIFFERENCES_MOST * sizeof(uint64_t)]; /* of the instance's output, in the output's type */
   double value[DIFFERENCES_MOST], hard[DIFFERENCES_MOST], stat[DIFFERENCES_MOST];
   uint8_t flags[DIFFERENCES_MOST];
   rkb_points_t points; /* views the arrays above */
} peer_points_t;
/* Reads both outputs whole, after peer_run on the same set. */
int peer_points(const peer_place_t *place, peer_t *peer, const rkb_case_t *the_case, const rkb_inputs_t *inputs, uint32_t tensor,
                uint32_t instance, peer_points_t *out, rkb_error_t *err);

#endif
