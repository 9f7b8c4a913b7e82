/* Words of global memory from which blocks draw numbers by atomic additions, in launches of which some blocks are not executed (ticket_words.c).  On the
 * machine's thread. */
#ifndef RKB_MACHINE_MEMORY_TICKET_WORDS_H
#define RKB_MACHINE_MEMORY_TICKET_WORDS_H

#include "machine/state/execution.h"

typedef struct machine_ticket_word {
   machine_region_t *region;
   rkb_machine_ticket_t known; /* step: what each block so far added */
   bool uneven;                /* the blocks did not all add as much, or something else changed the word too */
   bool drawn_from;            /* by the block that runs */
   uint64_t before, added;     /* by the block that runs: what it found, and what it added so far */
} machine_ticket_word_t;

/* Of one launch. */
typedef struct machine_tickets {
   machine_ticket_word_t words[RKB_MACHINE_TICKETS];
   uint32_t count;
   uint64_t blocks; /* that have ended */
   bool many;       /* there are more words */
} machine_tickets_t;

#endif
