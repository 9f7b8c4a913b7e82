/* rkb/ext/device.h - run and time plans on a GPU, in a process that holds nothing of the candidate but its machine code.
 * Extension "rkb.device/2"; absent where no GPU was found.
 *
 * A session is the sole use of one device: by this program (one session at a time a device) and, through a lock file,
 * between programs.  Behind it is an rkb-worker process.  A kernel that faults or hangs costs that process: the session
 * says so, and begin starts over with a fresh one.  All functions block and are [worker].
 *
 * Numbers for modules, instances and sets are the caller's, from 0.  Status RKB_ERR_UNAVAILABLE means the worker is gone
 * (or the device is), RKB_ERR_LIMIT that the device's memory is full.  Findings are about the candidate. */
#ifndef RKB_EXT_DEVICE_H
#define RKB_EXT_DEVICE_H

#include <rkb/ext/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RKB_EXT_DEVICE "rkb.device/2"

typedef struct rkb_session rkb_session_t;

/* Where buffers lie: plain; each starting behind an unmapped page; each ending at an unmapped page, rounded down to its
 * alignment with a canary behind it. */
enum rkb_placement {
   RKB_PLAIN = 0,
   RKB_GUARD_LOW = 1,
   RKB_GUARD_HIGH = 2,
   RKB_UNTOUCHED = 3 /* plain, and outputs and scratch are not poisoned, for tools that look for uninitialised values */
};

enum rkb_ran { RKB_RAN_WELL = 0, RKB_RAN_INTO_FAULT = 1, RKB_RAN_TOO_LONG = 2, RKB_RAN_OVER_CANARY = 3 };

typedef struct rkb_run_outcome {
   uint32_t outcome;    /* enum rkb_ran */
   int32_t driver_error;
   char error_name[48]; /* "CUDA_ERROR_ILLEGAL_ADDRESS", or "" */
   uint32_t buffer;     /* of the canary: index into the plan's buffers */
   uint32_t before;     /* 1: damage before the buffer's start, 0: behind its end */
   uint64_t distance;   /* bytes from that edge */
} rkb_run_outcome_t;

#define RKB_NO_INSTANCE UINT32_MAX           /* nothing between the events: the floor of the method */
/* Fixed work of the worker's own, the same in every sitting: a copy of 64 MiB, and a chain of dependent additions. */
#define RKB_ANCHOR_COPY_INSTANCE (UINT32_MAX - 1)
#define RKB_ANCHOR_CHAIN_INSTANCE (UINT32_MAX - 2)

/* In place of a module's number: the worker's own, for plans that launch its copy.  Entry "rkb_copy"; parameters, each of 8
 * bytes: from, to, 16-byte vectors to read, 16-byte vectors to write; any grid will do. */
#define RKB_OWN_MODULE UINT32_MAX
#define RKB_OWN_COPY_ENTRY "rkb_copy"

typedef struct rkb_turn {
   uint32_t instance; /* or one of the above */
   uint32_t set;
   uint32_t warm;     /* the plan runs once, untimed, just before; otherwise the second-level cache is emptied */
   uint32_t reserved; /* 0, or RKB_FRESH_INPUTS and the bits below */
} rkb_turn_t;

/* Every run of the turn has inputs that no other run has: mixtures of the set with another staged set, place by place.  Bit number t
 * mixes tensor t half and half; of an input without its bit a few elements alone come from the other set, and none of a small one.
 * Inputs of int32 and int64 stay as they are.  For an instance whose inputs are staged in two sets. */
#define RKB_FRESH_INPUTS (1u << 31)
/* Beside it: the timed run has the set's own values, so that its outputs can be judged. */
#define RKB_CHECKED_RUN (1u << 30)
#define RKB_MIXED_BITS 30 /* the bits below */

typedef struct rkb_range {
   uint32_t buffer; /* index into the plan's buffers */
   uint32_t reserved;
   uint64_t offset, bytes;
} rkb_range_t;

/* What CUPTI saw of one run of a plan. */
enum rkb_observed {
   RKB_OBSERVED = 0,
   RKB_OBSERVED_FORBIDDEN = 1, /* the driver shows counters to administrators alone (ERR_NVGPUCTRPERM) */
   RKB_OBSERVED_MISSING = 2,   /* the worker's machine has no CUPTI, or its CUPTI cannot profile this device */
   RKB_OBSERVED_FAILED = 3
};

typedef struct rkb_observation {
   uint32_t observed; /* enum rkb_observed */
   uint32_t passes;   /* runs that it took */
   char message[240]; /* why there is nothing; "" for RKB_OBSERVED */
} rkb_observation_t;

/* The values of a launch where no metrics are named. */
enum rkb_activity {
   RKB_ACTIVITY_TIME,           /* nanoseconds */
   RKB_ACTIVITY_THREAD_REGISTERS,
   RKB_ACTIVITY_BLOCK_STATIC,   /* bytes of shared memory */
   RKB_ACTIVITY_BLOCK_DYNAMIC,
   RKB_ACTIVITY_THREAD_LOCAL,   /* bytes */
   RKB_ACTIVITY_COUNT
};

/* How the device's energy is counted.  In every turn the inputs are copied in, the plan runs, or both. */
typedef struct rkb_energy_rounds {
   bool prepare, run;
   uint32_t rounds;      /* 1 to 64 */
   uint32_t least_ms;    /* of a round */
   uint32_t deadline_ms; /* of one run */
} rkb_energy_rounds_t;

typedef struct rkb_energy_spent {
   uint64_t millijoules, nanoseconds, runs;
} rkb_energy_spent_t;

typedef struct rkb_device_api {
   uint32_t size;
   uint32_t reserved;

   /* Waits for a device until the job's deadline or cancellation. */
   int (*begin)(const rkb_host_t *host, rkb_job_t job, rkb_session_t **session, rkb_error_t *err);
   void (*end)(rkb_session_t *session); /* NULL is accepted */

   /* "name=value" lines: device, driver_api, memory_bytes, layers of the sandbox; state: clocks, temperature, throttling. */
   const char *(*describe)(const rkb_session_t *session); /* until end */
   int (*state)(rkb_session_t *session, char *out, size_t size, rkb_error_t *err);

   int (*module)(rkb_session_t *session, uint32_t module, const void *cubin, size_t bytes, rkb_finding_t *finding, rkb_error_t *err);
   /* Keeps count bytes of a tensor's values at offset of its total bytes, under a set's number. */
   int (*stage)(rkb_session_t *session, uint32_t set, uint32_t tensor, uint64_t total, uint64_t offset, const void *data,
                size_t count, rkb_error_t *err);
   int (*instance)(rkb_session_t *session, uint32_t instance, uint32_t module, uint32_t placement, const rkb_plan_t *plan,
                   rkb_finding_t *finding, rkb_error_t *err);
   /* Copies the set in, poisons outputs, runs, waits, inspects canaries. */
   int (*run)(rkb_session_t *session, uint32_t instance, uint32_t set, uint32_t deadline_ms, rkb_run_outcome_t *outcome, rkb_error_t *err);
   int (*read)(rkb_session_t *session, uint32_t instance, uint32_t buffer, uint64_t offset, uint64_t bytes, void *out, rkb_error_t *err);
   /* milliseconds has one entry a turn. */
   int (*time)(rkb_session_t *session, const rkb_turn_t *turns, uint32_t count, uint32_t deadline_ms, float *milliseconds, rkb_error_t *err);
   /* Replaces the worker by a fresh process; everything loaded and staged is gone.  RKB_OK also after a fault ended it. */
   int (*restart)(rkb_session_t *session, rkb_error_t *err);
   int (*drop_instance)(rkb_session_t *session, uint32_t instance, rkb_error_t *err);
   int (*drop_module)(rkb_session_t *session, uint32_t module, rkb_error_t *err);
   int (*drop_set)(rkb_session_t *session, uint32_t set, rkb_error_t *err);

   /* Of count buffers of an instance: the sum, modulo 2^64, over the 32-bit words of each (little-endian, zeros behind the last byte) of
    *    mix((number of the word << 32 | word) ^ key),  mix(x): x ^= x >> 32; x *= 0xd6e8feb86659fd93; x ^= x >> 32;
    *    x *= 0xd6e8feb86659fd93; x ^= x >> 32
    * made on the device.  A kernel that does not know the key cannot change bytes and keep the sum. */
   int (*sums)(rkb_session_t *session, uint32_t instance, uint32_t count, const uint32_t *buffers, const uint64_t *keys,
               uint64_t *sums, rkb_error_t *err);
   /* Values that are the same in many sessions need to be sent only once.  keep: the staged values stay on the device after the
    * session, under a name, as long as there is room and the worker lives.  take: gives them to this session; *there false: they are
    * gone and must be staged.  The sum is of their present bytes, after everything that ran since. */
   int (*keep)(rkb_session_t *session, uint32_t set, uint32_t tensor, const uint64_t name[2], rkb_error_t *err);
   int (*take)(rkb_session_t *session, uint32_t set, uint32_t tensor, const uint64_t name[2], uint64_t bytes, uint64_t key,
               bool *there, uint64_t *sum, rkb_error_t *err);

   /* Reads many ranges in one request: out gets their bytes one after the other. */
   int (*pick)(rkb_session_t *session, uint32_t instance, const rkb_range_t *ranges, uint32_t count, void *out, rkb_error_t *err);

   /* From here on: check RKB_HAS first, because older programs end before.
    *
    * One run of a plan, launch by launch, under CUPTI in the worker: the named metrics of each launch, or, where count is 0,
    * enum rkb_activity, which needs no permission.  values has room for a double for each metric of each of the plan's
    * launches; one that the device has not is NaN, and all are unless seen->observed is RKB_OBSERVED.  At most 128 metrics.
    * Afterwards the session's worker is good for nothing that is timed; end replaces it. */
   int (*observe)(rkb_session_t *session, uint32_t instance, uint32_t set, const char *const *metrics, uint32_t count,
                  uint32_t deadline_ms, rkb_observation_t *seen, double *values, rkb_error_t *err);

   /* Runs a plan back to back while NVML counts energy; spent has one entry a round.  *counted false: the device has no such
    * counter, and err says so; the status is RKB_OK. */
   int (*energy)(rkb_session_t *session, uint32_t instance, uint32_t set, const rkb_energy_rounds_t *rounds,
                 rkb_energy_spent_t *spent, bool *counted, rkb_error_t *err);

   /* A session with a worker of its own that a tool has started: words, NULL-terminated, stand before rkb-worker's own in the
    * command ("ncu", "--csv", ...), on the worker's machine.  The device is held as in begin.  Nothing is timed there. */
   int (*begin_under)(const rkb_host_t *host, rkb_job_t job, const char *const *words, rkb_session_t **session,
                      rkb_error_t *err);
   /* Ends the worker of such a session and waits for the tool.  *report is the tool's standard error, at most 8 MiB; the caller
    * releases it with free().  Only end may follow. */
   int (*report)(rkb_session_t *session, char **report, size_t *bytes, rkb_error_t *err);
} rkb_device_api_t;

#ifdef __cplusplus
}
#endif
#endif
