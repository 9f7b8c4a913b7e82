/* Words of global memory from which blocks draw numbers by atomic operations, in launches of which some blocks are not executed (ticket_words.c).  On the
 * machine's thread. */
#ifndef RKB_MACHINE_MEMORY_TICKET_WORDS_H
#define RKB_MACHINE_MEMORY_TICKET_WORDS_H

#include "machine/state/execution.h"

typedef struct machine_ticket_word {
   machine_region_t *region;
   rkb_machine_ticket_t known;
   bool foreign;     /* something else changed the word too */
   uint64_t drawing; /* blocks that added something */
   uint64_t before;  /* what the block that runs found */
   int64_t added;    /* by the block that runs so far */
   int64_t each;     /* by the block before it */
   uint32_t looks;   /* loads by the block that runs since its last draw */
} machine_ticket_word_t;

/* Of one launch. */
typedef struct machine_tickets {
   machine_ticket_word_t words[RKB_MACHINE_TICKETS];
   uint32_t count;
   uint64_t blocks; /* that have ended */
   bool many;       /* there are more words */
} machine_tickets_t;

#endif
