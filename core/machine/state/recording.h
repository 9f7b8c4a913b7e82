/* A record of what a run does to values, block by block.  Runs on other inputs repeat it without addresses,
 * control flow or checks; joint_runs.c says when that is sound.  recording.c prepares the record and
 * lanes/record_steps.c writes it while a block is executed; lanes/replay_steps.c repeats it.  The machine
 * owns it; on its thread. */
#ifndef RKB_MACHINE_STATE_RECORDING_H
#define RKB_MACHINE_STATE_RECORDING_H

#include "machine/state/execution.h"
#include "machine/decode/operands.h"

/* A record is a row of 32-bit words.  The first word of an entry holds its kind (8 bits) and the number of an
 * instruction or a register. */
enum machine_entry {
   ENTRY_WARP,          /* the warp to which the next entries belong */
   ENTRY_VALUE,         /* instruction; lanes */
   ENTRY_VALUE_GUARDED, /* the same, in those of these lanes whose guard holds */
   ENTRY_CUSTOM,
   ENTRY_CUSTOM_GUARDED,
   ENTRY_LOAD,    /* instruction; lanes, place */
   ENTRY_STORE,   /* instruction; lanes, place */
   ENTRY_SET,     /* register; how (enum machine_set), values */
   ENTRY_SHADOWS, /* register; the lanes that have a shadow, 32 doubles */
};
enum machine_set { SET_PREDICATE, SET_WORD, SET_WORDS, SET_DOUBLE_WORD, SET_DOUBLE_WORDS };

/* A place is a word with its form (8 bits) and the memory that it lies in, followed by offsets in bytes. */
enum machine_place_form {
   PLACE_ONE, /* one offset for all lanes */
   PLACE_ROW, /* consecutive words from this offset on; all lanes */
   /* Four groups of eight lanes: which groups are one word and not consecutive words, then the first offset
    * of each group; all lanes. */
   PLACE_GROUPS,
   PLACE_ANY /* 32 offsets */
};
#define MAX_WARPS 32 /* of a block */
#define PLACE_SHARED 0xfffffeu
#define PLACE_LOCAL 0xffffffu

typedef struct machine_record {
   const machine_program_t *program; /* to which kinds belongs */
   uint8_t *kinds;                   /* by instruction: enum machine_record_kind */
   machine_operands_t *operands;     /* by instruction */
   size_t kinds_room, operands_room;
   uint32_t *words;
   size_t count, room;
   /* By warp, by register: no input reached the register, and no entry gives the value that it has now. */
   uint8_t *stale;
   size_t stale_room;
   /* By register: definedness while a record is repeated, when everything counts as defined. */
   uint32_t *ones;
   size_t ones_room;
   uint32_t warp; /* of the last entry */
   bool full;     /* there is no room for this block, so it has to be executed */
   /* the block did something that a repeated record cannot reproduce, so every run executes it */
   bool refused;
} machine_record_t;

/* Whether a program can be recorded: it has no atomics, no calls, and nothing that depends on the order of
 * threads. */
bool machine_recordable(const machine_program_t *program);
/* Before a launch. */
bool machine_record_begin(machine_record_t *record, const machine_program_t *program);
/* Before a block. */
void machine_record_block(machine_record_t *record, machine_block_t *block);
void machine_record_free(machine_record_t *record);
/* lanes/record_steps.c, one for each instruction set: records an instruction before it is executed in the
 * lanes of mask.  guarded: only in those of these lanes for which a predicate holds that an input reached. */
typedef void machine_recorder_t(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                                bool guarded);
machine_recorder_t machine_record_portable, machine_record_v3;
/* lanes/replay_steps.c, one for each instruction set: repeats the record on the memory to which the regions
 * point now. */
void machine_replay_portable(machine_record_t *record, machine_block_t *block);
void machine_replay_v3(machine_record_t *record, machine_block_t *block);

#endif
