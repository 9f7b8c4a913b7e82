/* A module as the machine's users hold it: its text (ptx/) and its decoded kernels.  The kernels are kept for the machines that are opened on the
 * module, because a candidate's cases launch the same few kernels.  A program never changes once it is made.  Owned by the module; any thread. */
#include "machine/decode/decoded_program.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
   struct entry *next;
   machine_program_t *program;
   /* the part that decides where it stores; NULL: there is none, or nobody asked */
   machine_program_t *stores;
   bool asked;
   uint32_t function;
   machine_opcodes_t *opcodes;
   uint64_t variable_address[]; /* the addresses that were decoded into it */
} entry_t;

struct machine_programs {
   pthread_mutex_t lock;
   entry_t *entries; /* the newest first; none is freed before the module */
};

static machine_programs_t *programs_new(void) {
   machine_programs_t *programs = calloc(1, sizeof *programs);
   if (programs)
      pthread_mutex_init(&programs->lock, NULL);
   return programs;
}

static void free_entry(entry_t *entry) {
   if (entry) {
      machine_store_program_free(entry->stores);
      machine_program_free(entry->program);
   }
   free(entry);
}

static void programs_free(machine_programs_t *programs) {
   if (!programs)
      return;
   for (entry_t *entry = programs->entries, *next; entry; entry = next) {
      next = entry->next;
      free_entry(entry);
   }
   pthread_mutex_destroy(&programs->lock);
   free(programs);
}

/* The caller holds the lock. */
static const machine_program_t *find(const machine_programs_t *programs, const entry_t *like, size_t bytes) {
   const entry_t *entry = programs->entries;
   while (entry && (entry->function != like->function || entry->opcodes != like->opcodes ||
                    memcmp(entry->variable_address, like->variable_address, bytes) != 0))
      entry = entry->next;
   return entry ? entry->program : NULL;
}

const machine_program_t *machine_program_take(const ptx_module_t *module, uint32_t function,
                                              const uint64_t *variable_address, machine_opcodes_t *opcodes) {
   machine_programs_t *programs = module->programs;
   const size_t bytes = module->variable_count * sizeof *variable_address;
   entry_t *entry = malloc(sizeof *entry + bytes);
   if (!entry)
      return NULL;
   *entry = (entry_t){.function = function, .opcodes = opcodes};
   memcpy(entry->variable_address, variable_address, bytes);
   pthread_mutex_lock(&programs->lock);
   const machine_program_t *program = find(programs, entry, bytes);
   if (!program) { /* other threads that need it wait now, so that it is decoded once */
      program = entry->program = machine_program_make(module, function, variable_address, opcodes);
      if (program && !program->failed) {
         entry->next = programs->entries;
         programs->entries = entry;
         entry = NULL;
      } else {
         program = NULL;
      }
   }
   pthread_mutex_unlock(&programs->lock);
   free_entry(entry);
   return program;
}

const machine_program_t *machine_program_stores(const ptx_module_t *module,
                                                const machine_program_t *program) {
   machine_programs_t *programs = module->programs;
   const machine_program_t *stores = NULL;
   pthread_mutex_lock(&programs->lock);
   for (entry_t *entry = programs->entries; entry; entry = entry->next) {
      if (entry->program != program)
         continue;
      if (!entry->asked)
         entry->stores = machine_store_program_make(program);
      entry->asked = true;
      stores = entry->stores;
   }
   pthread_mutex_unlock(&programs->lock);
   return stores;
}

bool rkb_machine_may_wait(const rkb_machine_module_t *module, const char *name) {
   machine_programs_t *programs = module->programs;
   bool waits = false;
   pthread_mutex_lock(&programs->lock);
   for (const entry_t *entry = programs->entries; entry; entry = entry->next)
      waits |= entry->program->waits && strcmp(module->functions[entry->function].name, name) == 0;
   pthread_mutex_unlock(&programs->lock);
   return waits;
}

rkb_machine_module_t *rkb_machine_module_read(const char *text, size_t bytes) {
   machine_programs_t *programs = programs_new();
   ptx_module_t *module = programs ? ptx_module_read(text, bytes) : NULL;
   if (module)
      module->programs = programs;
   else
      programs_free(programs);
   return module;
}

void rkb_machine_module_free(rkb_machine_module_t *module) {
   if (!module)
      return;
   programs_free(module->programs);
   ptx_module_free(module);
}

const char *rkb_machine_module_error(const rkb_machine_module_t *module, uint32_t *line) {
   *line = module->error_line;
   return module->error_line ? module->error : NULL;
}
