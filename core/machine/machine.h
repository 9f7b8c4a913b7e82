/* machine.h - a checking machine for PTX: executes a launch plan on the CPU and says what is wrong with it.
 *
 *    rkb_machine_module_read      PTX text -> module
 *    rkb_machine_open             module + plan + the buffers' bytes -> a machine
 *    rkb_machine_run              executes the plan once, with the checks asked for
 *    rkb_machine_report           what was found, counted and proved so far
 *
 * A plan is executed launch by launch and block by block, 32 lanes at a time.  Registers, shared and global memory carry definedness.  On demand
 * they also carry readers and writers (races), a double-precision shadow of each f32, and the inputs that values depend on (taint).  Modules are
 * immutable and may be shared by threads; a machine belongs to one thread at a time.  Results never depend on time, addresses or the number of
 * threads.
 */
#ifndef RKB_MACHINE_MACHINE_H
#define RKB_MACHINE_MACHINE_H

#include <rkb/ext/counters.h>
#include <rkb/ext/kernel.h>
#include <rkb/plugin.h>

typedef struct rkb_machine_module rkb_machine_module_t;
typedef struct rkb_machine rkb_machine_t;

/* Reads a text.  NULL only when memory runs out; a text that cannot be read gives a module with an error. */
rkb_machine_module_t *rkb_machine_module_read(const char *text, size_t bytes);
void rkb_machine_module_free(rkb_machine_module_t *module);
/* Returns why the text cannot be read, with the line; NULL when it was read. */
const char *rkb_machine_module_error(const rkb_machine_module_t *module, uint32_t *line);
/* Lists words of 32 bits that the text contains as numbers and as initial values, at most `room` of them.  The words with which the text compares
 * come first, and several times each.  Returns how many words it listed. */
uint32_t rkb_machine_words(const rkb_machine_module_t *module, uint32_t *words, uint32_t room);

enum rkb_machine_checks {
   RKB_MACHINE_RACES = 1u << 0,  /* races in shared and global memory, within and between blocks */
   RKB_MACHINE_SHADOW = 1u << 1, /* a double-precision shadow for every f32 */
   RKB_MACHINE_TAINT = 1u << 2   /* which inputs reach data, control and addresses */
};

/* Blocks of one launch in the order of execution, each once.  Their numbers are below the number of the grid's blocks. */
typedef struct rkb_machine_blocks {
   const uint64_t *numbers; /* x runs fastest, then y */
   uint32_t count;          /* 0: all of the grid */
   uint32_t least;          /* at least so many are executed, whatever they cost */
   bool none;               /* count is 0, and no block is executed */
   /* Where blocks are of several kinds: the kind of each counted block, and how many blocks of the grid are of each kind.  The counts of a
    * kind then stand for that many blocks.  kind_count 0: each counted block stands for equally many. */
   const uint8_t *kinds;
   const uint64_t *kind_blocks;
   uint32_t kind_count;
} rkb_machine_blocks_t;

/* Elements of an input, in runs.  A run goes from its first number up to, but not including, its second number.  Runs are ascending, and none
 * touches the next. */
typedef struct rkb_machine_asked {
   const uint64_t (*runs)[2]; /* NULL: all elements */
   uint64_t count;
} rkb_machine_asked_t;

/* Memory that runs of one plan leave to later runs, with the pages that they wrote: page faults cost more than clearing what was written. */
typedef struct rkb_machine_kept rkb_machine_kept_t;
/* NULL: no memory; runs then do without. */
rkb_machine_kept_t *rkb_machine_kept_new(void);
/* After the last machine that has it in its options was closed; NULL is accepted. */
void rkb_machine_kept_free(rkb_machine_kept_t *kept);

/* A word of global memory from which blocks of a launch draw numbers, by atomic additions whose results they use, or by compare-and-swap. */
#define RKB_MACHINE_TICKETS 16u
typedef struct rkb_machine_ticket {
   uint32_t region, bytes; /* region: a number that all machines of a plan have in common */
   uint64_t offset;
   int64_t once;    /* what each compare-and-swap adds; 0: blocks add to the word by atomic additions */
   int64_t added;   /* by all blocks that were executed */
   uint64_t blocks; /* how many these are */
   uint64_t limit;  /* with wraps: behind this number comes 0 */
   bool wraps;
   bool even; /* each of these blocks added as much */
} rkb_machine_ticket_t;

/* A launch whose words are moved on before each block of its sample, for blocks that are not executed. */
typedef struct rkb_machine_moved {
   const rkb_machine_ticket_t *words;
   uint32_t count;         /* 0: nothing is moved */
   const uint64_t *places; /* by place in the sample, ascending: how many of the launch's blocks run before */
} rkb_machine_moved_t;

typedef struct rkb_machine_options {
   /* enum rkb_machine_checks; bounds, alignment, definedness and barriers are always checked */
   uint32_t checks;
   const rkb_machine_blocks_t *sample; /* by launch of the plan; NULL: all blocks of all */
   /* when a launch has executed this many instructions, it begins no further block of its sample; 0: no limit */
   uint64_t sample_instructions;
   /* With requests, by launch of the plan: requests are counted in this many blocks at the beginning of its sample, and report.counted has
    * the counts of those.  After counted_instructions of a launch, the rest of these blocks is left out, and the next block is
    * executed after all; no clusters.  NULL: in all. */
   const uint32_t *counted;
   uint64_t counted_instructions;
   /* For a machine that fetches: after this much work each block of a sample ends, without a finding, and the next block begins
    * (rkb_machine_ended).  When a block has ended, the bytes that it stored hold no value again, so that each block finds the memory that the
    * first block found.  Budgets are not compared.  0: no limit. */
   uint64_t block_work;
   uint64_t thread_instructions; /* budget of one run, of work as the report has it; 0: 4e9 */
   /* Runs of whole grids: the run ends as if its budget were used up when some first blocks and some drawn ones show that the launch would take more than
    * so many times the budget; 0: it goes on.  foresee_seed draws these blocks. */
   uint32_t foresee;
   uint64_t foresee_seed;
   uint64_t memory_bytes;        /* for everything the machine allocates; 0: 1 GiB */
   uint64_t hang_limit;          /* instructions of one warp after which the kernel counts as hung; 0: none */
   bool portable;                /* use the code for plain x86-64 even where the processor can do more */
   /* no definedness and no races: blocks run for their counters, on memory that may be sparse */
   bool counts_only;
   bool requests; /* count sectors and bank conflicts, which costs more than executing what makes them */
   /* The caller wants to know what the kernels do, but not with which values: inputs are not fetched,
    * matrices that depend on them are not multiplied.  Needs RKB_MACHINE_TAINT; a run ends where an input reaches control or an
    * address.  A run that reached its end did what a run with values would have done. */
   bool no_values;
   /* With no_values: inputs that have their values nevertheless, and may reach control and addresses; a bit each as in the report's taint.  Values
    * that depend only on these inputs are computed. */
   uint64_t valued;
   bool
      charged; /* with no_values: products of warpgroups that are not computed count as work, as they would with values */
   /* The caller wants to know which bytes of buffers blocks store, and nothing else.  Instructions that decide values alone are not
    * executed, and zeros are stored.  rkb_machine_open returns RKB_ERR_INVALID where the stored bytes depend on memory.  If nothing was found, the
    * run stored to the bytes to which a whole run would have stored, provided that the whole run ends. */
   bool stores_alone;
   bool decisions; /* note what blocks decide: decisions.h */
   bool loops;     /* count turns of loops, in runs with RKB_MACHINE_RACES: loop_turns.h */
   /* For blocks sampled at a true shape.  When the machine first reads elements of a plan's inputs, it asks for their values (whole elements; into
    * out).  It also keeps the definedness of what is written on sparse memory, and runs once.  NULL: the buffers hold everything. */
   int (*fetch)(void *argument, uint32_t buffer, uint64_t first_byte, uint64_t bytes, void *out);
   void *fetch_argument;
   /* For such a machine: the elements of inputs whose effect the caller needs.  The blocks of a sample belong to asked_groups groups: the group of
    * a block is its place in the list modulo asked_groups.  `asked` has an entry for each group and buffer of the plan, the buffers of the first
    * group first.  Tensor copies and loads may leave undefined what the block's group does not ask for; the values that depend on it are then
    * undefined too.  The machine computes no products of undefined values and does not write them; where such a value decides something, that is a
    * finding.  The run counts as much work as one that computes all.  NULL: the caller needs all elements. */
   const rkb_machine_asked_t *asked;
   uint32_t asked_groups;
   bool stored_runs; /* for such a machine: the caller will call rkb_machine_may_have_stored */
   /* For such a machine, by launch of the plan: the plan's buffers, a bit each, that the launch's blocks are
    * known to write (rkb_machine_stored of whole runs).  The previous content of such a buffer is not final where no executed block of the
    * launch wrote it.  NULL: only what this run sees counts. */
   const uint64_t *stores;
   /* By buffer, a bit for each word of 4 bytes: the sample contains every block whose atomic operations
    * change the word.  NULL: there is no such word. */
   const uint64_t *const *settled;
   /* For such a machine: the plan's buffers, a bit each, that hold values from the start although the plan
    * does not say so. */
   uint64_t given;
   /* For such a machine: the module's variables that kernels may write hold unknown values, which an earlier launch of the plan left there.
    * A load that reads such a word before the run has written it sets past_read; with RKB_MACHINE_TAINT, what depends on it is a finding.
    * Atomic operations count only with atomics_past: where check cases use them on variables, they may count to a fixed number. */
   bool past, atomics_past;
   /* number of the environment: where memory lies, special registers, last bits (environment.h); 0: the plainest */
   uint64_t environment;
   /* For such a machine, by launch of the plan, with stores: what is moved on.  All else that the launch's blocks may have changed holds no value, unless executed
    * blocks stored it.  If a block adds another number to an even word, or changes a word otherwise, no later block of the launch is executed.  NULL: nothing. */
   const rkb_machine_moved_t *moved;
   uint64_t
      path_key; /* for such a machine: what rkb_machine_path goes by, which nobody should be able to predict */
   const uint32_t *resident; /* by launch: blocks that the target holds at once; NULL: any number */
   /* For such a machine: where a kernel may wait for other blocks, the blocks of its launch's sample run side by side, `resident` of them at once.  They
    * begin in the order of the sample, in which each block may be once.  If all that the target holds wait, or all of the grid, that is sync.deadlock.  As soon
    * as other blocks could begin, the run ends without a finding; without `resident`, when each block has had its turn.  rkb_machine_waited tells which
    * blocks waited.  No later launch is executed.  Not for clusters. */
   bool beside;
   /* For a machine that fetches: where memory is taken from and left.  Runs give the same results with it and without.  NULL: each run asks the system. */
   rkb_machine_kept_t *kept;
} rkb_machine_options_t;

/* The bytes of one plan buffer.  data belongs to the caller, has plan.buffers[i].bytes, and is read and
 * written in place. */
typedef struct rkb_machine_buffer {
   void *data;
   /* the bytes hold values; false: they are poisoned until written (outputs, scratch without a fill), or
    * until fetched */
   bool defined;
} rkb_machine_buffer_t;

enum rkb_machine_standing { RKB_MACHINE_SUSPECT = 1, RKB_MACHINE_UNKNOWN, RKB_MACHINE_REJECT };

#define RKB_MACHINE_REGISTERS 12
#define RKB_MACHINE_BUFFER_BITS 56u

typedef struct rkb_machine_register {
   char name[24];
   char type[8];
   uint64_t bits;
   bool defined;
} rkb_machine_register_t;

typedef struct rkb_machine_finding {
   uint32_t standing;  /* enum rkb_machine_standing */
   char reason[48];    /* a reason of the verdict vocabulary */
   char message[400];  /* one sentence */
   char opcode[64];    /* "" when it belongs to no instruction */
   const char *kernel; /* entry name, until the module is freed; NULL when it belongs to no launch */
   uint32_t launch;    /* index in the plan */
   uint32_t ptx_line;
   const char *file; /* source, from line info; NULL when unknown */
   uint32_t line;
   uint32_t block[3], thread[3];
   bool has_thread;
   uint32_t buffer;                          /* plan buffer; UINT32_MAX: none, or another space */
   char space[16];                           /* "global", "shared", "local", ... or "" */
   char symbol[64];                          /* buffer or variable */
   int64_t offset;                           /* bytes into it */
   uint32_t bytes;                           /* of the access */
   uint32_t other_thread[3],
      other_block[3];                   /* the other side: of a race, of an operation in flight, of a wait */
   uint32_t other_line, other_ptx_line; /* of what that thread did; 0: not known */
   bool has_other;
   const char *
      order; /* static text: which of the two came first, and what orders them or does not; NULL: nothing is said */
   uint32_t register_count;
   rkb_machine_register_t registers[RKB_MACHINE_REGISTERS]; /* operands of the instruction, in that thread */
   bool
      within_block; /* of a wait without end: only threads of its block or cluster could end it, and all of them wait or have ended */
   /* How often the same reason was found at the same instruction. */
   uint64_t occurrences;
} rkb_machine_finding_t;

typedef struct rkb_machine_report {
   uint32_t finding_count;
   const rkb_machine_finding_t *findings; /* the first finding decides; valid until the next run or close */
   uint64_t thread_instructions;          /* of the last run */
   /* the work of the last run: its thread-instructions and, in the same unit, costs that these do not cover: idle lanes, accesses that are
    * examined one by one, turns of waiting blocks.  Budgets are compared with it.  It depends on nothing but the run's input. */
   uint64_t work;
   uint32_t launch_count;
   /* of the last run, one for each launch of the plan; valid until the next run or close */
   const rkb_launch_counters_t *launches;
   /* With options.counted: the counts and the work of the counted blocks alone; NULL for a launch whose counted blocks were not all executed to
    * their ends */
   const rkb_launch_counters_t *counted;
   uint64_t counted_work;
   /* With options.foresee: the budget was used up, though the drawn blocks of a launch told that it suffices for all blocks. */
   bool uneven;
   bool complete; /* every launch ran to its end on all of its blocks */
   bool sampled;
   /* With RKB_MACHINE_TAINT.  Bit b stands for plan buffer b (RKB_MACHINE_BUFFER_BITS - 1 for all further
    * ones).  Higher bits stand for registers that tell where or when a thread runs; each is a finding where
    * it is used. */
   uint64_t control_taint; /* reached a branch, a predicate of a memory access or a shuffle's lane */
   uint64_t address_taint; /* reached an address */
   uint64_t used_taint;    /* reached an output, or either of the above */
   bool waits;             /* blocks were executed side by side, because they may wait for each other */
   /* Families of matrix instructions and asynchronous copies, a bit each (rkb_machine_tensor_name): those
    * that launched kernels contain, and those that warps executed. */
   uint32_t tensor_named, tensor_executed;
   bool relaxed_acquire;   /* a race verdict relies on reading an atomic's value as an acquire */
   bool
      copies_assumed; /* bulk copies of global memory are in an order that was not looked at closely: see unfenced_writes.c, copy_sources.c */
   bool
      relaxed_arrival; /* some arrival was relaxed: it is taken to pass on all ends of copies that its thread knows of */
   /* whether reads by several blocks came before a write, across grid-wide synchronisation, is not known */
   bool order_unknown;
   /* there are atomics, volatile accesses, clocks, the number of a processor, or answers of mbarriers that decide more than whether a thread waits
    * again, so another order of the threads may do other things */
   bool one_schedule;
   /* module variables hold other values than before the run, or values that an input reached, so the next run
    * may take another path */
   bool leaves_state;
   /* the module has variables that kernels may write */
   bool may_keep_state;
   bool past_read;        /* with options.past */
   bool variable_atomics; /* atomic operations gave variables of the module other values */
   /* floating-point atomics that several threads apply to one address: order changes the result */
   bool float_atomics;
   char float_atomic_symbol[64];
   /* some launch has atomic operations, and not all of the launch's blocks were executed */
   bool atomics_unfinished;
   bool
      /* Some launch of which not all blocks were executed wrote to a module variable, and a later launch read the variable by an atomic operation
       * or a copy.  A load from such a variable reads an undefined value. */
      variables_unfinished;
   /* In machines that fetch, for launches of which all blocks were executed: how many words a block stored that an earlier block had stored, as in
    * an extent's `again`.  Blocks that run side by side count as one block. */
   uint64_t stored_again;
   uint64_t memory_peak; /* the most bytes that the machine had allocated */
} rkb_machine_report_t;

/* module and plan must outlive the machine.  RKB_OK even when the plan cannot be executed: then the report
 * says why. */
int rkb_machine_open(const rkb_machine_module_t *module, const rkb_plan_t *plan,
                     const rkb_machine_options_t *options, rkb_machine_t **machine, rkb_error_t *err);
void rkb_machine_close(rkb_machine_t *machine);

/* Executes the plan once.  buffers has plan.buffer_count entries.  Module variables hold their initialisers
 * in the first run; later runs find what the kernels left there, and also the definedness of scratch without
 * a fill.  A false return never means that the kernel is wrong: look at the report. */
int rkb_machine_run(rkb_machine_t *machine, const rkb_machine_buffer_t *buffers, rkb_error_t *err);
/* Executes the plan on the first set as rkb_machine_run does, and gives the other sets what runs of their own would leave there.  Launches whose
 * control and addresses no input reaches are executed and checked on the first set, and the other sets repeat its operations on their values.  The
 * other launches are executed on every set.  Nothing passes from set to set.  *followed: the other sets hold what runs of their own would have
 * left, in which nothing would have been found.  Where it is false, the first set's run counts alone. */
int rkb_machine_run_together(rkb_machine_t *machine, const rkb_machine_buffer_t *const *sets, uint32_t count,
                             bool *followed, rkb_error_t *err);
/* Makes rkb_machine_shadow return the values of one of the sets that were executed jointly.  Returns that set's thread-instructions, and in *work
 * the set's work, which the report gives only for the first set. */
uint64_t rkb_machine_take(rkb_machine_t *machine, uint32_t set, uint64_t *work);
/* Changes the checks of later runs. */
void rkb_machine_set_checks(rkb_machine_t *machine, uint32_t checks);
/* The order in which later runs execute the blocks of a launch, and the warps of a block; ascending by
 * default.  Each number past descending is another shuffled order.  Blocks of a sample keep their order. */
enum { RKB_MACHINE_ASCENDING, RKB_MACHINE_DESCENDING, RKB_MACHINE_SHUFFLED };
void rkb_machine_set_order(rkb_machine_t *machine, uint64_t order);
/* Changes how many thread-instructions later runs may execute. */
void rkb_machine_set_budget(rkb_machine_t *machine, uint64_t thread_instructions);
void rkb_machine_report(const rkb_machine_t *machine, rkb_machine_report_t *report);

#define RKB_MACHINE_MET_BYTES 1024u

/* "wgmma.mma_async", "ldmatrix" ...; NULL from the last on. */
const char *rkb_machine_tensor_name(uint32_t family);
/* Whether the text of a kernel has an instruction of the family of that name. */
bool rkb_machine_contains(const rkb_machine_module_t *module, const char *entry, const char *name);

/* Finds elements of an output, of `bytes` bytes each, that were never written or hold undefined bits after a run.  Returns their number.  *first
 * is the first such element, and *written tells whether it was written at all. */
uint64_t rkb_machine_undefined(const rkb_machine_t *machine, uint32_t buffer, uint32_t bytes, uint64_t *first,
                               bool *written);
/* Returns how many elements, of so many bytes each, no store reached, whatever it stored. */
uint64_t rkb_machine_unwritten(const rkb_machine_t *machine, uint32_t buffer, uint32_t bytes);
/* Adds the finding for such an element: output.unwritten, or memory.uninitialised at the store that wrote it. */
void rkb_machine_find_undefined(rkb_machine_t *machine, uint32_t buffer, uint64_t element, uint32_t bytes,
                                bool written, uint64_t count);
/* The double-precision shadow of a float32 buffer, one number for each element (the plain value where there
 * is no shadow); out has bytes / 4 entries. */
void rkb_machine_shadow(const rkb_machine_t *machine, uint32_t buffer, double *out);
/* Which blocks wrote, for sampled runs: calls visit for each maximal range of written bytes. */
void rkb_machine_written(const rkb_machine_t *machine, uint32_t buffer,
                         void (*visit)(void *argument, uint64_t first, uint64_t bytes), void *argument);

/* Whether so many bytes of a buffer hold values, from first on. */
bool rkb_machine_holds(const rkb_machine_t *machine, uint32_t buffer, uint64_t first, uint64_t bytes);

/* For a run that fetched: which block first read or wrote the bytes around this byte (RKB_MACHINE_MET_BYTES, from a multiple of
 * RKB_MACHINE_MET_BYTES on).  Gives the launch of this block and its place in the launch's sample; false where no block did. */
bool rkb_machine_met_by(const rkb_machine_t *machine, uint32_t buffer, uint64_t byte, uint32_t *launch,
                        uint32_t *place);

/* Whether the last run found anything in the launch.  The report cannot tell: it lists only the first findings of a run, and a network has
 * hundreds of launches. */
bool rkb_machine_found(const rkb_machine_t *machine, uint32_t launch);

/* For a run that fetched: finds the bytes of a buffer that a block wrote, from low up to high, and how many words of 4 bytes it wrote.  place: the
 * block's number in the launch's sample.  False where it wrote nothing. */
typedef struct rkb_machine_extent {
   uint64_t low, high, words;
   uint64_t bytes; /* bytes stored; bytes that it stored twice count twice */
   uint64_t once;  /* stored, each byte counted once */
   /* Of these, the whole words that executed blocks of the launch had stored before this block, not by atomic operations. */
   uint64_t again;
} rkb_machine_extent_t;
bool rkb_machine_extent(const rkb_machine_t *machine, uint32_t launch, uint32_t place, uint32_t buffer,
                        rkb_machine_extent_t *extent);
/* For a run that fetched: the words from which at least one executed block of eight drew numbers and which they did not change otherwise, if not all of a
 * launch's blocks were executed.  Returns how many there are.  *others: there are others from which blocks drew numbers. */
uint32_t rkb_machine_tickets(const rkb_machine_t *machine, uint32_t launch,
                             rkb_machine_ticket_t words[RKB_MACHINE_TICKETS], bool *others);
/* With options.stored_runs: whether a block of a launch's sample stored the byte; true also where that is not known. */
bool rkb_machine_may_have_stored(const rkb_machine_t *machine, uint32_t launch, uint32_t place,
                                 uint32_t buffer, uint64_t byte);
/* With options.stored_runs: lets the bytes hold no value that blocks of a launch's sample stored from this place on, whoever stored them too.
 * False where that is not known; then nothing has changed.  Extents stay as they are. */
bool rkb_machine_forget_stores(rkb_machine_t *machine, uint32_t launch, uint32_t place);
/* With options.block_work: whether the block came to its end before. place: its number in the sample. */
bool rkb_machine_ended(const rkb_machine_t *machine, uint32_t launch, uint32_t place);
/* With options.beside: whether the block polled memory in vain. */
bool rkb_machine_waited(const rkb_machine_t *machine, uint32_t launch, uint32_t place);
/* Takes the block of the launch that wrote most and calls visit for what this block wrote to a buffer, in the order of its stores.  place: the
 * block's number in the sample. */
bool rkb_machine_pattern(const rkb_machine_t *machine, uint32_t launch, uint32_t buffer, uint32_t *place,
                         void (*visit)(void *argument, uint64_t first, uint64_t bytes), void *argument);
/* Calls visit for each run of words whose values lack the work of unexecuted blocks: an executed block read the words too early, or only some of
 * the atomic operations that change them were executed. */
void rkb_machine_wanted(const rkb_machine_t *machine, uint32_t buffer,
                        void (*visit)(void *argument, uint64_t first, uint64_t bytes), void *argument);
/* The plan's buffers, a bit each (the last bit for all from number 63 on), that executed blocks of a launch
 * wrote in any run. */
uint64_t rkb_machine_stored(const rkb_machine_t *machine, uint32_t launch);

/* Lets the next runs watch for stores to bytes of a buffer, until rkb_machine_unwatch.  rkb_machine_watched
 * describes the last such store (place, thread, registers) as a finding without reason or message; false when
 * there was none. */
int rkb_machine_watch(rkb_machine_t *machine, uint32_t buffer, uint64_t offset, uint32_t bytes,
                      rkb_error_t *err);
void rkb_machine_unwatch(rkb_machine_t *machine);
bool rkb_machine_watched(const rkb_machine_t *machine, rkb_machine_finding_t *writer);

/* Whether the last run was rejected for a race in shared memory and does not know the line of the other thread's access.  Then the next run, and
 * no later one, also keeps the lines, which takes more time.  On the same buffers it finds the same race, with that line. */
bool rkb_machine_seek_second_access(rkb_machine_t *machine);

/* Whether some access names a cache policy that may keep lines in the cache beyond its launch: one that is made by createpolicy or computed, or a
 * number that is not known to be harmless.  The line of the PTX, and the opcode, which lives as long as the module. */
bool rkb_machine_lasting_policy(const rkb_machine_module_t *module, uint32_t *line, const char **opcode);

/* The conditions of a kernel that a launch decides by its parameters and sizes alone.  visit is called for
 * each, in the order of the text, with its number in the kernel.  NULL: the module has no such kernel, or
 * memory ran out.  The module must outlive the list; one thread uses the list at a time. */
typedef struct rkb_machine_conditions rkb_machine_conditions_t;
rkb_machine_conditions_t *rkb_machine_conditions_new(const rkb_machine_module_t *module, const char *entry);
void rkb_machine_conditions_free(rkb_machine_conditions_t *conditions);
void rkb_machine_conditions_decide(rkb_machine_conditions_t *conditions, const rkb_plan_launch_t *launch,
                                   void (*visit)(void *argument, uint32_t number, bool outcome), void *argument);

/* Adds the conditions that a launch decides by registers with several writers: what a loop counts, what a branch chooses.  Each of them then costs
 * as much as following the loop.  turns: how many blocks and statements may still be followed, over all launches.  It must outlive the list, and
 * several lists may share it.  When it is zero, none of these conditions is visited.  False: there are none. */
bool rkb_machine_conditions_follow(rkb_machine_conditions_t *conditions, uint64_t *turns);
/* Whether this is one of those. */
bool rkb_machine_conditions_followed(const rkb_machine_conditions_t *conditions, uint32_t number);

/* For callers that look for a shape at which a condition has another outcome.  Returns a number above the numbers of all conditions. */
uint32_t rkb_machine_conditions_numbers(const rkb_machine_conditions_t *conditions);
/* Does what rkb_machine_conditions_decide does, for the conditions whose numbers are set in `wanted`.  distance: how far the sides of a comparison
 * are from equal; NAN: the condition compares no numbers. */
void rkb_machine_conditions_measure(
   rkb_machine_conditions_t *conditions, const rkb_plan_launch_t *launch, const uint8_t *wanted,
   void (*visit)(void *argument, uint32_t number, bool outcome, double distance), void *argument);
/* Whether something is computed from an argument or a size whose value differs between the two launches of the kernel.  If not, all conditions have equal outcomes. */
bool rkb_machine_conditions_tell(const rkb_machine_conditions_t *conditions, const rkb_plan_launch_t *launch,
                                 const rkb_plan_launch_t *other);
/* The list was followed at `launch`, and until the next call it is followed at launches that differ from it only in arguments and sizes in which `other`
 * differs too: numbers that do not depend on these are not computed again.  other: NULL, to compute all numbers again. */
void rkb_machine_conditions_hold(rkb_machine_conditions_t *conditions, const rkb_plan_launch_t *launch,
                                 const rkb_plan_launch_t *other);
/* Whether the sides of a condition are the same polynomials of the sizes everywhere: only sums and products, of numbers so small that they do not
 * wrap. */
bool rkb_machine_conditions_smooth(const rkb_machine_conditions_t *conditions, uint32_t number);
/* Drops all steps that these conditions do not need. */
void rkb_machine_conditions_keep(rkb_machine_conditions_t *conditions, const uint8_t *wanted);

/* Lists what one thread of a launch computes from parameters, sizes and its place, for callers that look for shapes (condition_results.c).  The
 * list has the thread's comparisons that depend on the place and have equal outcomes at both places.  It also has the numbers that the thread uses
 * together with values from memory, and says whether each of them is what it was at the first launch that was looked at.  like: such a list of the
 * same kernel; the new list begins as its copy.  places: any two numbers.  NULL: there is none.  Free it like the others. */
rkb_machine_conditions_t *rkb_machine_results_new(const rkb_machine_module_t *module, const char *entry,
                                                  const uint64_t places[2],
                                                  const rkb_machine_conditions_t *like);
/* Whether this is one of them in all launches that were looked at so far. */
bool rkb_machine_results_count(const rkb_machine_conditions_t *conditions, uint32_t number);

/* Lists these conditions and also those that blocks decide by their places in the grid and by the indices of their threads. NULL: there is none.
 * Free it like the other. */
rkb_machine_conditions_t *rkb_machine_block_conditions_new(const rkb_machine_module_t *module, const char *entry);
/* Call it before the outcomes of a launch's blocks, with the same of_threads: false for what all threads of a
 * block decide alike, true for the rest.  Returns how many instructions a block's outcomes cost; 0: there are
 * no such conditions. */
uint32_t rkb_machine_block_conditions_launch(rkb_machine_conditions_t *conditions, const rkb_plan_launch_t *launch, bool of_threads);
/* Returns a number that is equal for blocks in which every condition comes out alike: as true, as false, or as true in some threads. */
uint64_t rkb_machine_block_outcomes(rkb_machine_conditions_t *conditions, const rkb_plan_launch_t *launch, const uint32_t block[3], bool of_threads);
/* Finds the n-th number that these instructions contain; false: there are fewer. */
bool rkb_machine_block_conditions_number(const rkb_machine_conditions_t *conditions, uint32_t n, uint64_t *number);
/* Finds the block near which the sides of the n-th comparison are equal, if they were linear in its place;
 * false: there are fewer. */
bool rkb_machine_block_conditions_meet(rkb_machine_conditions_t *conditions, const rkb_plan_launch_t *launch, uint32_t n, uint32_t block[3]);

/* Gives zeros for a buffer of which a run may write little.  The parts that are not written take no memory, unless the buffer is small.  NULL when
 * there is no room.  huge_left: how many bytes may still be given in huge pages; what is given is taken from it. */
uint8_t *rkb_machine_sparse(uint64_t bytes, uint64_t *huge_left);
/* What to begin with, for a run's buffers together. */
#define RKB_MACHINE_HUGE_BYTES (UINT64_C(16) << 20)
uint64_t rkb_machine_huge_bytes(const rkb_plan_t *plan);
/* Releases what rkb_machine_sparse gave for so many bytes; NULL is accepted. */
void rkb_machine_sparse_free(void *memory, uint64_t bytes);
/* Says that this memory will be written from its first byte on without gaps, so that the system gives large pages where it has them. */
void rkb_machine_dense(void *memory, uint64_t bytes, uint64_t *huge_left);

/* Whether a kernel that was executed may wait for what another block of its launch does. */
bool rkb_machine_may_wait(const rkb_machine_module_t *module, const char *entry);

/* Finds what the kernels of a module need that the machine lacks.  visit is called for each instruction that the machine does not execute, with
 * the opcode or feature.  A function that several kernels call is visited once for each of these kernels. */
int rkb_machine_unsupported(const rkb_machine_module_t *module,
                            void (*visit)(void *argument, const char *kernel, const char *what,
                                          uint32_t line),
                            void *argument, rkb_error_t *err);
/* Returns a finding as a JSON object (evidence of a verdict); malloc'd, NULL when memory runs out. */
char *rkb_machine_finding_json(const rkb_machine_finding_t *finding);
/* Returns the same for a person to read: instruction, source line, block, thread, registers.  malloc'd. */
char *rkb_machine_finding_text(const rkb_machine_finding_t *finding);

#endif
