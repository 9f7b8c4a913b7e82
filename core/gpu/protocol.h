/* The protocol between rkb-worker and the program that started it, over the worker's standard input and output.
 *
 * Each message is a head and `length` bytes of body.  Every request gets exactly one reply, with the same type and number, in order.
 * Both ends are little-endian (x86-64 or arm64) and must be of one version of rkb; the first message checks the version.  A reply
 * with status != 0 has one sentence of text as its body. */
#ifndef RKB_GPU_PROTOCOL_H
#define RKB_GPU_PROTOCOL_H

#include <stdint.h>

#define RKB_WORKER_MAGIC 0x57424b52u /* "RKBW" */
#define RKB_WORKER_VERSION 7
#define RKB_WORKER_UNDER_TOOL "under-tool" /* a word behind the device's number: a profiler or sanitizer started the worker */
#define RKB_WORKER_MAX_BODY (256u << 20) /* longer data is sent in pieces */
#define RKB_WORKER_MAX_INSTANCES 128
#define RKB_WORKER_OWN_MODULE UINT32_MAX /* a module number: the worker's own kernels (worker_kernels.h) */
#define RKB_WORKER_MAX_STAGED 64         /* sets x tensors */
#define RKB_WORKER_MAX_SUMS 64           /* sums in one request */
#define RKB_WORKER_MAX_RANGES 4096       /* ranges in one request */
#define RKB_WORKER_MAX_METRICS 128       /* metrics in one request */
#define RKB_WORKER_MAX_ROUNDS 64         /* rounds of one request for energy */

typedef struct rkb_worker_head {
   uint32_t magic;
   uint16_t version;
   uint16_t type;   /* enum rkb_worker_message */
   uint32_t number; /* counts requests from 1 */
   int32_t status;  /* requests: 0.  Replies: 0, or enum rkb_worker_status */
   uint64_t length; /* bytes of the body */
} rkb_worker_head_t;

enum rkb_worker_status {
   RKB_WORKER_OK = 0,
   RKB_WORKER_BAD_REQUEST = 1, /* the message is malformed */
   RKB_WORKER_NO_DEVICE = 2,
   RKB_WORKER_NO_MEMORY = 3,  /* the device's memory is full */
   RKB_WORKER_BAD_MODULE = 4, /* the driver refuses the cubin or has no such kernel */
   RKB_WORKER_DRIVER = 5      /* any other error of the driver */
};

enum rkb_worker_message {
   RKB_WORKER_HELLO = 1, /* no body.  Reply: text, "name=value" a line: device, devices (how many there are), memory, layers, ... */
   RKB_WORKER_MODULE,    /* rkb_worker_module_t, then the cubin */
   RKB_WORKER_STAGE,     /* rkb_worker_stage_t, then bytes: input values to keep on the device */
   RKB_WORKER_INSTANCE,  /* rkb_worker_instance_t, then a plan (docs/plan-format.md) */
   RKB_WORKER_RUN,       /* rkb_worker_run_t.  Reply: rkb_worker_ran_t */
   RKB_WORKER_READ,      /* rkb_worker_read_t.  Reply: the bytes */
   /* rkb_worker_time_t, then rkb_worker_turn_t each.  Reply: one float of milliseconds a turn */
   RKB_WORKER_TIME,
   RKB_WORKER_DROP,  /* rkb_worker_drop_t: frees an instance, a module, a staged set or everything */
   RKB_WORKER_STATE, /* no body.  Reply: text: clocks, temperature, throttle reasons */
   /* rkb_worker_sum_t each, at most RKB_WORKER_MAX_SUMS.  Reply: for each a uint64_t, the sum of a buffer's bytes (rkb/ext/device.h) */
   RKB_WORKER_SUM,
   RKB_WORKER_KEEP, /* rkb_worker_keep_t: keep the staged values after the session */
   RKB_WORKER_TAKE, /* rkb_worker_take_t.  Reply: rkb_worker_taken_t */
   RKB_WORKER_PICK, /* rkb_worker_pick_t, then rkb_worker_range_t each.  Reply: their bytes, one after the other */
   RKB_WORKER_QUIT, /* no body, no reply */
   /* rkb_worker_observe_t, then the metrics' names, each with a zero byte behind it.  Reply: rkb_worker_observed_t, then a double for
    * each metric of each launch */
   RKB_WORKER_OBSERVE,
   RKB_WORKER_ENERGY /* rkb_worker_energy_t.  Reply: rkb_worker_spent_t a round */
};

typedef struct rkb_worker_module {
   uint32_t module; /* number chosen by the caller, below RKB_WORKER_MAX_INSTANCES */
   uint32_t reserved;
} rkb_worker_module_t;

typedef struct rkb_worker_stage {
   uint32_t set;    /* several sets of input values can be kept side by side */
   uint32_t tensor; /* index of the case's tensor; the plan's buffer has the same index */
   uint64_t bytes;  /* size of the whole tensor */
   uint64_t offset; /* where the bytes in this message begin */
} rkb_worker_stage_t;

/* Where an instance's buffers lie.  GUARD_LOW: each buffer starts on a page boundary after an unmapped page.  GUARD_HIGH: each buffer
 * ends at an unmapped page, except for alignment; the gap is filled with a canary. */
enum rkb_worker_placement {
   RKB_PLACE_PLAIN = 0,
   RKB_PLACE_GUARD_LOW = 1,
   RKB_PLACE_GUARD_HIGH = 2,
   RKB_PLACE_UNTOUCHED = 3 /* plain memory, and no byte is poisoned */
};

typedef struct rkb_worker_instance {
   uint32_t instance;  /* number that the caller chose */
   uint32_t module;    /* or RKB_WORKER_OWN_MODULE */
   uint32_t placement; /* enum rkb_worker_placement */
   uint32_t reserved;
} rkb_worker_instance_t;

typedef struct rkb_worker_run {
   uint32_t instance;
   uint32_t set; /* the set of inputs to copy in first */
   uint32_t deadline_ms;
   uint32_t reserved;
} rkb_worker_run_t;

enum rkb_worker_outcome {
   RKB_RAN = 0,
   /* the kernel faulted; driver_error has the driver's code, and the worker must be replaced */
   RKB_RAN_FAULT = 1,
   RKB_RAN_LATE = 2,  /* still running at the deadline; the worker must be replaced */
   RKB_RAN_CANARY = 3 /* bytes beside a buffer were overwritten */
};

typedef struct rkb_worker_ran {
   uint32_t outcome;     /* enum rkb_worker_outcome */
   int32_t driver_error; /* CUresult */
   uint32_t buffer;      /* the buffer whose canary was damaged */
   uint32_t before;      /* 1: damage before the buffer's start; 0: after its end */
   uint64_t distance;    /* bytes from that edge */
} rkb_worker_ran_t;

typedef struct rkb_worker_read {
   uint32_t instance;
   uint32_t buffer;
   uint64_t offset;
   uint64_t bytes; /* at most RKB_WORKER_MAX_BODY */
} rkb_worker_read_t;

typedef struct rkb_worker_pick {
   uint32_t instance;
   uint32_t ranges;
} rkb_worker_pick_t;

typedef struct rkb_worker_range {
   uint32_t buffer;
   uint32_t reserved;
   uint64_t offset;
   uint64_t bytes; /* the sum over a request is at most RKB_WORKER_MAX_BODY */
} rkb_worker_range_t;

typedef struct rkb_worker_time {
   uint32_t turns;
   uint32_t deadline_ms; /* deadline of one turn */
} rkb_worker_time_t;

#define RKB_TURN_FLOOR UINT32_MAX
/* Anchors: fixed work of the worker's own that is the same in every sitting.  Memory limits one anchor, and
 * the clock limits the other. */
#define RKB_TURN_ANCHOR_COPY (UINT32_MAX - 1)
#define RKB_TURN_ANCHOR_CHAIN (UINT32_MAX - 2)

/* One timed run.  Turns run in the given order, which the caller has drawn at random. */
typedef struct rkb_worker_turn {
   /* or RKB_TURN_FLOOR (nothing between the events), or an anchor */
   uint32_t instance;
   uint32_t set;  /* for an anchor: any number; it selects the allocations */
   uint32_t warm; /* 1: the same plan runs once, untimed, just before */
   uint32_t fresh; /* 0, or RKB_TURN_FRESH and the bits below */
} rkb_worker_turn_t;

/* Every run of the turn has inputs of its own: mixtures of the set with another staged set (docs/timing.md).  Inputs of 32-bit and 64-bit
 * integers stay as they are.  Bit number t: the mixture of tensor t takes half of its pieces from each set.  Without its bit it takes
 * RKB_TURN_FEW pieces from the other set, or none if it has fewer than RKB_TURN_LEAST_PIECES. */
#define RKB_TURN_FRESH (1u << 31)
/* The timed run, which is not the untimed one before it, has the set's own values. */
#define RKB_TURN_CHECKED (1u << 30)
#define RKB_TURN_MIXED 30 /* number of the lower bits */
#define RKB_TURN_FEW 4
#define RKB_TURN_LEAST_PIECES 64

#define RKB_SUM_STAGED UINT32_MAX /* instead of an instance: the tensor staged in a set */

typedef struct rkb_worker_sum {
   uint32_t instance; /* number of an instance, or RKB_SUM_STAGED */
   uint32_t set;      /* used with RKB_SUM_STAGED */
   uint32_t buffer;   /* index of the buffer or tensor */
   uint32_t reserved;
   uint64_t key;
} rkb_worker_sum_t;

/* Staged values that are the same in every session stay on the device under a name, and later sessions take
 * them instead of sending them again.  A kernel may have damaged them in between, so their sum is returned
 * for the caller to check. */
typedef struct rkb_worker_keep {
   uint32_t set, tensor;
   uint64_t name[2];
} rkb_worker_keep_t;

typedef struct rkb_worker_take {
   uint32_t set, tensor;
   uint64_t name[2];
   uint64_t bytes; /* size of the whole tensor */
   uint64_t key;
} rkb_worker_take_t;

typedef struct rkb_worker_taken {
   uint64_t there; /* 0: there are no values of that name and size, and nothing was done */
   uint64_t sum;
} rkb_worker_taken_t;

/* One run of a plan under CUPTI, with its launches one after another instead of in a graph.  COUNTERS: the
 * hardware's counters of each launch (range profiler); the run is repeated until every counter was read.
 * ACTIVITY: times and resources of each launch as the driver records them, which needs no permission.  An
 * ACTIVITY request sends no names, and its values are those of enum rkb_worker_activity. */
enum rkb_worker_observation { RKB_OBSERVE_COUNTERS = 1, RKB_OBSERVE_ACTIVITY = 2 };
enum rkb_worker_activity {
   RKB_ACTIVITY_NS,
   RKB_ACTIVITY_REGISTERS,      /* per thread */
   RKB_ACTIVITY_STATIC_SHARED,  /* bytes per block */
   RKB_ACTIVITY_DYNAMIC_SHARED, /* bytes per block */
   RKB_ACTIVITY_LOCAL,          /* bytes per thread */
   RKB_ACTIVITY_VALUES
};

typedef struct rkb_worker_observe {
   uint32_t instance, set;
   uint32_t what;        /* enum rkb_worker_observation */
   uint32_t deadline_ms; /* deadline of one run */
   uint32_t metrics;     /* how many names follow */
   uint32_t reserved;
} rkb_worker_observe_t;

enum rkb_worker_seen {
   RKB_SEEN = 0,
   RKB_SEEN_FORBIDDEN = 1, /* the driver shows counters only to administrators (ERR_NVGPUCTRPERM) */
   RKB_SEEN_MISSING = 2,   /* no CUPTI, or one that cannot profile this device */
   RKB_SEEN_FAILED = 3     /* CUPTI or the driver failed during the observation */
};

/* A metric that the device does not have is NaN. */
typedef struct rkb_worker_observed {
   uint32_t seen; /* enum rkb_worker_seen; values follow only for RKB_SEEN */
   uint32_t launches, metrics;
   uint32_t passes;   /* number of runs needed to read every counter */
   char message[240]; /* one sentence; "" for RKB_SEEN */
} rkb_worker_observed_t;

/* Runs a plan back to back while NVML counts the device's energy.  The counter advances in steps of some tens
 * of milliseconds, so a round begins and ends at a step. */
/* The work of a turn: copies the inputs in, runs the plan, or both. */
enum { RKB_ENERGY_PREPARE = 1, RKB_ENERGY_RUN = 2 };
typedef struct rkb_worker_energy {
   uint32_t instance, set;
   uint32_t does; /* RKB_ENERGY_* */
   uint32_t rounds;
   uint32_t least_ms;    /* least duration of a round */
   uint32_t deadline_ms; /* deadline of one run */
} rkb_worker_energy_t;

typedef struct rkb_worker_spent {
   uint64_t millijoules, nanoseconds, runs;
} rkb_worker_spent_t;

/* RKB_DROP_ALL drops everything of the session; kept values stay. */
enum rkb_worker_thing { RKB_DROP_INSTANCE = 1, RKB_DROP_MODULE = 2, RKB_DROP_SET = 3, RKB_DROP_ALL = 4 };

typedef struct rkb_worker_drop {
   uint32_t thing; /* enum rkb_worker_thing */
   uint32_t number;
} rkb_worker_drop_t;

#endif
