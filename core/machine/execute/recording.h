/* What a run does to values, written down block by block, so that runs on other inputs follow it without addresses, control flow
 * or checks (joint_runs.c says when that is sound).  recording.c writes while a block is executed, lanes/replay_steps.c repeats.  Owned by the
 * machine; on its thread. */
#ifndef RKB_MACHINE_EXECUTE_RECORDING_H
#define RKB_MACHINE_EXECUTE_RECORDING_H

#include "machine/execute/execution.h"
#include "machine/decode/operands.h"

/* A record is a row of 32-bit words.  The first of an entry holds its kind (8 bits) and an instruction or a register number. */
enum machine_entry {
   ENTRY_WARP,          /* the warp that goes on */
   ENTRY_VALUE,         /* instruction; lanes */
   ENTRY_VALUE_GUARDED, /* the same, of these the lanes whose guard holds */
   ENTRY_CUSTOM,
   ENTRY_CUSTOM_GUARDED,
   ENTRY_LOAD,    /* instruction; lanes, place */
   ENTRY_STORE,   /* instruction; lanes, place */
   ENTRY_SET,     /* register; how (enum machine_set), values */
   ENTRY_SHADOWS, /* register; the lanes that have one, 32 doubles */
};
enum machine_set { SET_PREDICATE, SET_WORD, SET_WORDS, SET_DOUBLE_WORD, SET_DOUBLE_WORDS };

/* A place is a word with its form (8 bits) and what it lies in, then offsets in bytes. */
enum machine_place_form {
   PLACE_ONE,    /* one for all lanes */
   PLACE_ROW,    /* consecutive words, from this one on; all lanes */
   PLACE_GROUPS, /* four groups of eight lanes: which of them are one word, and not consecutive ones; the four first; all lanes */
   PLACE_ANY     /* 32 */
};
#define MAX_WARPS 32 /* of a block */
#define PLACE_SHARED 0xfffffeu
#define PLACE_LOCAL 0xffffffu

typedef struct machine_record {
   const machine_program_t *program; /* that kinds are of */
   uint8_t *kinds;                   /* by instruction: enum machine_record_kind */
   machine_operands_t *operands;     /* by instruction */
   size_t kinds_room, operands_room;
   uint32_t *words;
   size_t count, room;
   uint8_t *stale; /* by warp, by register: no input reached it, and no entry gives the value it has now */
   size_t stale_room;
   uint32_t *ones; /* by register: definedness while a record is repeated, all of it */
   size_t ones_room;
   uint32_t warp; /* of the last entry */
   bool full;     /* no room for this block: it has to be executed */
   bool refused;  /* something that only an execution gets right */
} machine_record_t;

/* Whether a program has nothing that keeps it from being recorded: atomics, calls, the order of threads. */
bool machine_recordable(const machine_program_t *program);
bool machine_record_begin(machine_record_t *record, const machine_program_t *program); /* a launch's */
void machine_record_block(machine_record_t *record, machine_block_t *block);           /* a block's */
void machine_record_free(machine_record_t *record);
/* lanes/record_steps.c, one an instruction set: before an instruction is executed in the lanes of mask; guard: of these, by a predicate
 * that an input reached. */
typedef void machine_recorder_t(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                                bool guarded);
machine_recorder_t machine_record_portable, machine_record_v3;
/* lanes/replay_steps.c, one an instruction set: repeats what was recorded on the memory that the regions point to now. */
void machine_replay_portable(machine_record_t *record, machine_block_t *block);
void machine_replay_v3(machine_record_t *record, machine_block_t *block);

#endif
