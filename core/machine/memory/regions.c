/* The memory of a machine: a region for each buffer of the plan and for each variable of the module, the
 * records about its bytes, and its contents before a run.  On the machine's thread. */
#include "machine/memory/kept_memory.h"
#include "machine/state/environment.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define FORGOTTEN_LEAST (1u << 20) /* fewer bytes of records are not worth the page faults */
#define SPARSE_LEAST (1u << 20)    /* a variable of so many bytes without an initialiser is sparse */

/* Layout ----------------------------------------------------------------------------------------------------------- */

static size_t met_bytes(const machine_region_t *region) {
   return (region->bytes >> PIECE_SHIFT >> 3) + 1;
}

static size_t met_by_bytes(const machine_region_t *region) {
   return ((region->bytes >> MET_BY_SHIFT) + 1) * sizeof *region->met_by;
}

/* Zeros that take no memory until they are written.  They count as memory of machine_alloc() does, although a
 * sample touches few pages of a tensor of gigabytes. */
static void *counted_sparse(machine_run_t *run, size_t bytes) {
   void *memory = machine_account(run, 0, bytes) ? rkb_machine_sparse(bytes, &run->huge_left) : NULL;
   run->out_of_memory |= !memory;
   return memory;
}

/* The bytes that say which bytes of a region hold values; 0 everywhere. */
static uint8_t *new_defined(machine_run_t *run, uint64_t bytes) {
   if (!run->options.fetch)
      return machine_alloc(run, bytes + 1);
   uint8_t *kept = machine_kept_take(run->options.kept, bytes + 1);
   return kept ? kept : rkb_machine_sparse(bytes + 1, &run->huge_left);
}

/* Only pieces that were met have bytes that are not 0: no others were stored to. */
static void forget_met(const machine_region_t *region) {
   for (uint64_t piece = 0; (piece = machine_next_met(region, piece)) << PIECE_SHIFT < region->bytes;
        piece++) {
      const uint64_t first = piece << PIECE_SHIFT, left = region->bytes - first, whole = 1u << PIECE_SHIFT;
      memset(region->defined + first, 0, left < whole ? left : whole);
   }
}

static void free_defined(const machine_run_t *run, machine_region_t *region) {
   if (!run->options.fetch) {
      free(region->defined);
      return;
   }
   if (run->options.kept && region->blank)
      forget_met(region);
   if (!region->defined || !region->blank ||
       !machine_kept_give(run->options.kept, region->defined, region->bytes + 1))
      rkb_machine_sparse_free(region->defined, region->bytes + 1);
}

static bool add_region(machine_run_t *run, const char *name, uint64_t bytes, uint32_t alignment,
                       uint32_t buffer) {
   machine_region_t *region = &run->regions[run->region_count];
   *region = (machine_region_t){
      .name = name, .bytes = bytes, .alignment = alignment ? alignment : 256, .buffer = buffer, .variable = PTX_NONE};
   run->region_count++;
   return bytes < 1ull << (REGION_SHIFT - 1);
}

/* Makes the memory of a variable.  A module may have many large variables of which its kernels touch
 * little. */
static bool make_variable(machine_run_t *run, machine_region_t *region, const ptx_variable_t *variable) {
   region->sparse = !variable->initial && variable->bytes >= SPARSE_LEAST;
   if (region->sparse) {
      region->met = machine_alloc(run, met_bytes(region));
      region->data = region->met ? rkb_machine_sparse(variable->bytes + 1, &run->huge_left) : NULL;
   } else {
      region->data = machine_alloc(run, variable->bytes + 1);
   }
   if (region->data && variable->initial)
      memcpy(region->data, variable->initial, variable->bytes);
   return region->data != NULL;
}

/* What a driver gives a cooperative launch (cooperative_groups/details/driver_abi.h of CUDA 13): a word with
 * the number of bytes, and the word in which grid.sync() counts blocks.  The highest bit of that word flips
 * with each barrier, so the word need not begin at zero. */
#define WORKSPACE_BYTES 8u

static bool make_workspace(machine_run_t *run) {
   run->workspace = PTX_NONE;
   if (!run->module->grid_workspace)
      return true;
   if (!add_region(run, "the grid's workspace", WORKSPACE_BYTES, 256, UINT32_MAX))
      return false;
   run->workspace = run->region_count - 1;
   run->regions[run->workspace].data = machine_alloc(run, WORKSPACE_BYTES + 1);
   machine_workspace_renew(run);
   return run->regions[run->workspace].data != NULL;
}

void machine_workspace_renew(machine_run_t *run) {
   const uint32_t words[WORKSPACE_BYTES / 4] = {WORKSPACE_BYTES, run->options.environment & 1 ? 0x80000000u : 0};
   if (run->workspace != PTX_NONE && run->regions[run->workspace].data)
      memcpy(run->regions[run->workspace].data, words, sizeof words);
}

uint64_t machine_workspace_address(const machine_run_t *run) {
   return run->workspace == PTX_NONE ? 0 : run->regions[run->workspace].base;
}

/* Compilers leave variables behind that no kernel names: constants of a class, whose values are in the instructions already.  A run can neither
 * read nor change them.  But a plan may copy to one of them. */
static bool has_region(const machine_run_t *run, const ptx_variable_t *variable) {
   bool copied = false;
   for (uint32_t n = 0; n < run->plan->constant_count; n++)
      copied |= strcmp(run->plan->constants[n].symbol, variable->name) == 0;
   return (variable->space == PTX_GLOBAL || variable->space == PTX_CONST) && (variable->named || copied);
}

/* Sets which elements of inputs are asked for in the block that begins, for inputs whose elements have whole bytes that divide a piece. */
void machine_take_asked(machine_run_t *run) {
   const uint32_t count = run->plan->buffer_count,
                  group = (run->place & MOST_PLACES) % run->options.asked_groups;
   for (uint32_t n = 0; n < count; n++) {
      const rkb_plan_buffer_t *buffer = &run->plan->buffers[n];
      const rkb_machine_asked_t *asked = &run->options.asked[(size_t)group * count + n];
      const uint64_t width = buffer->elements ? buffer->bytes / buffer->elements : 0;
      machine_region_t *region = &run->regions[n];
      const bool divides =
         width && width <= 16 && (width & (width - 1)) == 0 && width * buffer->elements == buffer->bytes;
      region->asked = asked->runs && region->read_only && divides ? asked : NULL;
      region->asked_from = 0;
      region->element = (uint32_t)width;
   }
}

/* Lays out the regions: buffers first, so that a buffer's number in the plan is its region's; then the
 * module's variables; then the workspace of cooperative launches. */
bool machine_lay_out(machine_run_t *run) {
   const ptx_module_t *module = run->module;
   uint32_t count = run->plan->buffer_count + module->grid_workspace;
   for (uint32_t n = 0; n < module->variable_count; n++)
      count += has_region(run, &module->variables[n]);
   run->regions = machine_alloc(run, (count + 1) * sizeof *run->regions);
   run->variable_address = machine_alloc(run, (module->variable_count + 1) * sizeof *run->variable_address);
   if (!run->regions || !run->variable_address || count > MAX_REGIONS)
      return false;
   for (uint32_t n = 0; n < run->plan->buffer_count; n++) {
      const rkb_plan_buffer_t *buffer = &run->plan->buffers[n];
      if (!add_region(run, buffer->name, buffer->bytes, buffer->alignment, n))
         return false;
      machine_region_t *region = &run->regions[n];
      region->read_only = buffer->role == RKB_IN;
      region->taint = buffer->role == RKB_IN || buffer->role == RKB_INOUT ? machine_buffer_taint(n) : 0;
      if (run->options.fetch) {
         region->met = machine_alloc(run, met_bytes(region));
         region->met_by = counted_sparse(run, met_by_bytes(region));
         if (!region->met || !region->met_by)
            return false;
         region->fetched = buffer->role == RKB_IN || buffer->role == RKB_INOUT ||
                           buffer->fill == RKB_FILL_VALUE || (n < 64 && run->options.given >> n & 1);
         if (!machine_pack(run, region))
            return false;
      }
      if (!region->read_only && !run->options.counts_only) {
         region->defined = new_defined(run, buffer->bytes);
         if (!region->defined)
            return false;
      }
   }
   if (!machine_partial_lay_out(run))
      return false;
   for (uint32_t n = 0; n < module->variable_count; n++) {
      const ptx_variable_t *variable = &module->variables[n];
      if (!has_region(run, variable))
         continue;
      if (!add_region(run, variable->name, variable->bytes,
                      variable->alignment > 256 ? variable->alignment : 256, UINT32_MAX))
         return false;
      machine_region_t *region = &run->regions[run->region_count - 1];
      region->read_only = region->constant = variable->space == PTX_CONST;
      region->variable = n;
      if (!make_variable(run, region, variable))
         return false;
   }
   if (!make_workspace(run))
      return false;
   machine_environment_place(run, run->options.environment);
   for (uint32_t n = run->plan->buffer_count; n < run->region_count; n++)
      if (run->regions[n].variable != PTX_NONE)
         run->variable_address[run->regions[n].variable] = run->regions[n].base;
   for (uint32_t n = run->plan->buffer_count; n < run->region_count; n++) {
      const machine_region_t *region = &run->regions[n];
      for (uint32_t r = 0; region->variable != PTX_NONE && r < module->variables[region->variable].relocation_count; r++) {
         const ptx_relocation_t *relocation = &module->variables[region->variable].relocations[r];
         uint64_t address = run->variable_address[relocation->variable] + (uint64_t)relocation->addend;
         memcpy(region->data + relocation->offset, &address, sizeof address);
      }
   }
   return true;
}

static size_t shadow_words(const machine_region_t *region) {
   return region->bytes / 4 + 1;
}

void machine_regions_free(machine_run_t *run) {
   machine_partial_free(run);
   for (uint32_t n = 0; run->regions && n < run->region_count; n++)
      machine_kept_free(&run->regions[n]);
   for (uint32_t n = 0; run->regions && n < run->region_count; n++) {
      machine_region_t *region = &run->regions[n];
      free_defined(run, region);
      free(region->met);
      machine_pack_free(region);
      rkb_machine_sparse_free(region->met_by, met_by_bytes(region));
      if (region->sparse) {
         rkb_machine_sparse_free(region->data, region->bytes + 1);
         rkb_machine_sparse_free(region->shadow, shadow_words(region) * sizeof *region->shadow);
         continue;
      }
      free(region->shadow);
      if (region->buffer == UINT32_MAX)
         free(region->data);
   }
   free(run->regions);
   free(run->variable_address);
}

/* Records of races --------------------------------------------------------------------------------------------------- */

static size_t granules_of(const machine_run_t *run, const machine_region_t *region) {
   return (region->bytes >> run->record_shift) + 2;
}

/* Tensors of a bench shape are large, and a sample of blocks touches little of them. */
static bool has_sparse_records(const machine_run_t *run, const machine_region_t *region) {
   return region->sparse || (run->options.fetch && region->met);
}

void *machine_records(machine_run_t *run, const machine_region_t *region, uint64_t bytes) {
   void *records = has_sparse_records(run, region) ? rkb_machine_sparse(bytes, &run->huge_left)
                                                   : machine_alloc(run, bytes);
   if (!records)
      run->out_of_memory = run->stop = true;
   return records;
}

static void drop_records(machine_run_t *run, const machine_region_t *region, void *records, size_t bytes) {
   if (has_sparse_records(run, region))
      rkb_machine_sparse_free(records, bytes);
   else
      machine_release(run, records, bytes);
}

void machine_drop_records(machine_run_t *run) {
   for (uint32_t n = 0; run->regions && n < run->region_count; n++) {
      machine_region_t *region = &run->regions[n];
      const size_t granules = granules_of(run, region);
      drop_records(run, region, region->writers, granules * sizeof *region->writers);
      drop_records(run, region, region->readers, granules * sizeof *region->readers);
      drop_records(run, region, region->read_only_path, granules * sizeof *region->read_only_path);
      region->writers = region->readers = NULL;
      region->read_only_path = NULL;
      region->read_only_launch = 0;
   }
}

/* Gives the whole pages of this memory back to the system.  The few records outside whole pages stay. */
static void give_back_pages(void *memory, size_t bytes) {
   const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
   const uintptr_t first = ((uintptr_t)memory + page - 1) & ~(page - 1);
   const uintptr_t end = ((uintptr_t)memory + bytes) & ~(page - 1);
   if (end > first)
      madvise((void *)first, end - first, MADV_DONTNEED);
}

static bool takes(const rkb_plan_launch_t *launch, uint32_t buffer) {
   for (uint32_t a = 0; a < launch->argument_count; a++)
      if (launch->arguments[a].buffer == buffer)
         return true;
   return false;
}

void machine_forget_records(machine_run_t *run, const rkb_plan_launch_t *next) {
   for (uint32_t n = 0; n < run->region_count; n++) {
      machine_region_t *region = &run->regions[n];
      const size_t bytes = granules_of(run, region) * sizeof(uint64_t);
      if (!region->writers || bytes < FORGOTTEN_LEAST || takes(next, n))
         continue;
      give_back_pages(region->writers, bytes);
      give_back_pages(region->readers, bytes);
   }
}

/* Before a run, and after it --------------------------------------------------------------------------------------------- */

/* Marks a variable's words as having no shadow: of a sparse variable, in the pieces that were met; the others
 * are marked when they are met. */
static bool shadow_variable(machine_run_t *run, machine_region_t *region) {
   const size_t words = shadow_words(region), bytes = words * sizeof *region->shadow;
   region->shadow = machine_records(run, region, bytes);
   for (uint64_t piece = 0; region->shadow && piece << PIECE_SHIFT <= region->bytes; piece++)
      if (!region->sparse || machine_is_met(region, piece))
         machine_shadow_piece(region, piece);
   return region->shadow != NULL;
}

bool machine_begin_buffers(machine_run_t *run, const rkb_machine_buffer_t *buffers) {
   for (uint32_t n = 0; n < run->plan->buffer_count; n++) {
      machine_region_t *region = &run->regions[n];
      const rkb_plan_buffer_t *buffer = &run->plan->buffers[n];
      region->data = buffers[n].data;
      region->undefined_store = 0;
      if (!region->defined)
         continue;
      region->blank = region->met && !region->fetched && !buffers[n].defined;
      if (buffers[n].defined || !run->options.fetch)
         memset(region->defined, buffers[n].defined, region->bytes);
      region->taint = buffer->role == RKB_INOUT ? machine_buffer_taint(n) : 0;
      size_t words = region->bytes / 4 + 1;
      if (run->shadow && !region->shadow) {
         region->shadow = machine_alloc(run, words * sizeof *region->shadow);
         if (!region->shadow)
            return false;
      }
      for (size_t w = 0; region->shadow && w < words; w++)
         region->shadow[w] = machine_no_shadow();
   }
   for (uint32_t n = run->plan->buffer_count; run->shadow && n < run->region_count; n++)
      if (!run->regions[n].constant && !run->regions[n].shadow && !shadow_variable(run, &run->regions[n]))
         return false;
   return true;
}

static machine_region_t *variable_region(machine_run_t *run, const char *name) {
   for (uint32_t n = run->plan->buffer_count; n < run->region_count; n++)
      if (strcmp(run->regions[n].name, name) == 0)
         return &run->regions[n];
   return NULL;
}

bool machine_copy_constants(machine_run_t *run) {
   for (uint32_t n = 0; n < run->plan->constant_count; n++) {
      const rkb_plan_constant_t *constant = &run->plan->constants[n];
      machine_region_t *to = variable_region(run, constant->symbol);
      const machine_region_t *from = &run->regions[constant->buffer];
      if (!to || constant->buffer >= run->plan->buffer_count || constant->bytes > to->bytes ||
          constant->bytes > from->bytes) {
         machine_find_launch(run, RKB_MACHINE_REJECT, "plan.constant",
                             "'%s' is not a variable of the module of at least %llu bytes", constant->symbol,
                             (unsigned long long)constant->bytes);
         return false;
      }
      if (from->met && constant->bytes)
         machine_meet(run, &run->regions[constant->buffer], 0, constant->bytes, false);
      if (to->met && constant->bytes)
         machine_meet(run, to, 0, constant->bytes, true);
      machine_read_bytes(from, 0, constant->bytes, to->data);
      if (to->renewed && constant->bytes)
         machine_kept_write(to, 0, constant->bytes, true);
      to->taint |= from->taint;
   }
   return true;
}

static uint64_t digest_bytes(const machine_region_t *region, uint64_t name, uint64_t from, uint64_t end) {
   uint64_t digest = 0;
   for (uint64_t at = from; at < end; at += 8) {
      uint64_t word = 0;
      memcpy(&word, region->data + at, end - at < 8 ? end - at : 8);
      if (word) {
         word = (word ^ (name << REGION_SHIFT) ^ at) * 0xff51afd7ed558ccd;
         word = (word ^ word >> 32) * 0xc4ceb9fe1a85ec53;
         digest += word ^ word >> 29;
      }
   }
   return digest;
}

/* A zero adds nothing to the digest, so pieces that were never met can be skipped. */
uint64_t machine_variables_digest(const machine_run_t *run) {
   uint64_t digest = 0;
   for (uint32_t n = run->plan->buffer_count; n < run->region_count; n++) {
      const machine_region_t *region = &run->regions[n];
      if (region->constant)
         continue;
      for (uint64_t at = 0; region->sparse && at < region->bytes; at += 1u << PIECE_SHIFT)
         if (machine_is_met(region, at >> PIECE_SHIFT))
            digest += digest_bytes(region, n + 1, at,
                                   region->bytes - at < 1u << PIECE_SHIFT ? region->bytes : at + (1u << PIECE_SHIFT));
      if (!region->sparse)
         digest += digest_bytes(region, n + 1, 0, region->bytes);
   }
   return digest;
}

bool machine_has_sparse(const machine_run_t *run) {
   bool any = false;
   for (uint32_t n = run->plan->buffer_count; n < run->region_count; n++)
      any |= run->regions[n].sparse;
   return any;
}

bool machine_variables_reached(const machine_run_t *run) {
   bool reached = false;
   for (uint32_t n = run->plan->buffer_count; n < run->region_count; n++)
      reached |= !run->regions[n].constant && run->regions[n].taint;
   return reached;
}

bool machine_global_records(machine_run_t *run, machine_region_t *region) {
   if (region->writers && region->readers)
      return true;
   const size_t bytes = granules_of(run, region) * sizeof *region->writers;
   uint64_t *writers = machine_records(run, region, bytes), *readers = machine_records(run, region, bytes);
   if (!writers || !readers) { /* a region with only one of the two would look as if it had both */
      drop_records(run, region, writers, bytes);
      drop_records(run, region, readers, bytes);
      return false;
   }
   region->writers = writers;
   region->readers = readers;
   return true;
}
