/* Findings: where something was found, in which thread and with which values.  Writes them as JSON and as text. */
#include "machine/state/execution.h"
#include "machine/decode/operands.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_FINDINGS 16

static void index_thread(const machine_launch_t *launch, uint32_t thread, uint32_t out[3]) {
   const uint32_t *size = launch->plan->block;
   thread %= launch->cluster.warps * LANES;
   out[0] = thread % size[0];
   out[1] = thread / size[0] % size[1];
   out[2] = thread / size[0] / size[1];
}

void machine_thread_index(const machine_block_t *block, uint32_t thread, uint32_t out[3]) {
   index_thread(block->launch, thread, out);
}

void machine_block_index(const machine_launch_t *launch, uint64_t serial, uint32_t thread, uint32_t out[3]) {
   const uint32_t *grid = launch->plan->grid, *dims = launch->cluster.dims;
   const uint32_t rank = thread / (launch->cluster.warps * LANES) % launch->cluster.blocks;
   uint64_t linear = serial >= launch->first_serial ? serial - launch->first_serial : 0;
   out[0] = (uint32_t)(linear % grid[0]) + rank % dims[0];
   out[1] = (uint32_t)(linear / grid[0] % grid[1]) + rank / dims[0] % dims[1];
   out[2] = (uint32_t)(linear / grid[0] / grid[1] % grid[2]) + rank / dims[0] / dims[1];
}

void machine_find_other_of(rkb_machine_finding_t *finding, const machine_launch_t *launch, uint64_t serial,
                           uint32_t thread) {
   if (!finding)
      return;
   finding->has_other = true;
   index_thread(launch, thread, finding->other_thread);
   machine_block_index(launch, serial, thread, finding->other_block);
}

void machine_find_other(rkb_machine_finding_t *finding, const machine_block_t *block, uint32_t thread) {
   machine_find_other_of(finding, block->launch, block->serial, thread);
}

void machine_find_within_block(rkb_machine_finding_t *finding) {
   if (finding)
      finding->within_block = true;
}

static const ptx_place_t *place_of(const machine_program_t *program, uint32_t pc) {
   const machine_instruction_t *i = &program->code[pc];
   return &program->module->functions[i->function].statements[i->statement].place;
}

void machine_find_other_line(rkb_machine_finding_t *finding, const machine_program_t *program, uint32_t pc) {
   if (!finding)
      return;
   finding->other_line = machine_source_line(program, pc);
   finding->other_ptx_line = place_of(program, pc)->ptx_line;
}

void machine_find_other_at(rkb_machine_finding_t *finding, const machine_block_t *block, uint32_t thread,
                           uint32_t pc, const char *order) {
   if (!finding)
      return;
   machine_find_other(finding, block, thread);
   machine_find_other_line(finding, block->launch->program, pc);
   finding->order = order;
}

uint32_t machine_end_of_thread(const machine_block_t *block, uint32_t thread) {
   const machine_warp_t *warp = &block->warps[thread / LANES];
   const machine_block_info_t *last = &warp->program->blocks[warp->left[thread % LANES]];
   return last->first + last->count - 1;
}

void machine_find_alone(rkb_machine_finding_t *finding, const char *why) {
   if (finding)
      finding->order = why;
}

uint32_t machine_source_line(const machine_program_t *program, uint32_t pc) {
   const ptx_place_t *place = place_of(program, pc);
   const bool outer = place->outer_line && place->outer_file != place->file;
   return outer ? place->outer_line : place->line ? place->line : place->ptx_line;
}

static const char *file_path(const ptx_module_t *module, uint32_t number) {
   for (uint32_t n = 0; n < module->file_count; n++)
      if (module->files[n].number == number)
         return module->files[n].path;
   return NULL;
}

static void name_place(const ptx_module_t *module, const ptx_place_t *place, rkb_machine_finding_t *finding) {
   /* For an inlined function the line that called it helps more, unless both are in one file. */
   const bool outer = place->outer_line && place->outer_file != place->file;
   finding->ptx_line = place->ptx_line;
   finding->file = file_path(module, outer ? place->outer_file : place->file);
   finding->line = outer ? place->outer_line : place->line;
}

void machine_name_line(const ptx_module_t *module, uint32_t ptx_line, rkb_machine_finding_t *finding) {
   finding->ptx_line = ptx_line;
   for (uint32_t f = 0; f < module->function_count; f++)
      for (uint32_t n = 0; n < module->functions[f].statement_count; n++)
         if (module->functions[f].statements[n].place.ptx_line == ptx_line) {
            name_place(module, &module->functions[f].statements[n].place, finding);
            return;
         }
}

/* Describes the registers that an instruction reads, with their values in that thread. */
static void describe_registers(const machine_warp_t *warp, const machine_instruction_t *i, uint32_t lane,
                               rkb_machine_finding_t *finding) {
   const machine_program_t *program = warp->program;
   const uint8_t kind = machine_operands_kind(program, i);
   uint16_t numbers[8] = {i->guard, i->ai, i->bi, i->ci}, count = 4;
   for (uint32_t e = 0; (i->kind == MACHINE_CUSTOM || i->kind == MACHINE_VALUE) && kind != RECORD_LOAD &&
                        kind != RECORD_UNPACK && e < i->extra_count && count < 8;
        e++)
      numbers[count++] = program->extras[i->extra + e].number;
   for (uint32_t n = 0; n < count && finding->register_count < RKB_MACHINE_REGISTERS; n++) {
      const machine_register_info_t *info = &program->registers[numbers[n]];
      if (numbers[n] < 2 || numbers[n] == i->di || (info->constant && info->special == PTX_NONE))
         continue;
      bool twice = false;
      for (uint32_t k = 0; k < n; k++)
         twice |= numbers[k] == numbers[n];
      if (twice)
         continue;
      rkb_machine_register_t *out = &finding->registers[finding->register_count++];
      snprintf(out->name, sizeof out->name, "%s", info->name);
      snprintf(out->type, sizeof out->type, "%s", ptx_type_name(info->type));
      const uint8_t *at = warp->registers + info->offset;
      out->bits = info->bytes == 8   ? ((const uint64_t *)(const void *)at)[lane]
                  : info->bytes == 4 ? ((const uint32_t *)(const void *)at)[lane]
                                     : *(const uint32_t *)(const void *)at >> lane & 1;
      out->defined = warp->defined[numbers[n]] >> lane & 1;
   }
}

void machine_describe(const machine_warp_t *warp, uint32_t lane, rkb_machine_finding_t *finding) {
   const machine_program_t *program = warp->program;
   const machine_instruction_t *i = &program->code[warp->pc];
   const ptx_function_t *function = &program->module->functions[i->function];
   finding->kernel = program->name;
   finding->launch = warp->block->launch->number;
   finding->buffer = UINT32_MAX;
   finding->occurrences = 1;
   machine_block_index(warp->block->launch, warp->block->serial, warp->first_thread, finding->block);
   if (i->statement < function->statement_count) {
      const ptx_statement_t *statement = &function->statements[i->statement];
      const ptx_place_t *place = &statement->place;
      snprintf(finding->opcode, sizeof finding->opcode, "%s", statement->opcode);
      name_place(program->module, place, finding);
      if (lane != PTX_NONE)
         describe_registers(warp, i, lane, finding);
   }
   if (lane != PTX_NONE) {
      finding->has_thread = true;
      machine_thread_index(warp->block, warp->first_thread + lane, finding->thread);
   }
}

static rkb_machine_finding_t *add(machine_run_t *run, const rkb_machine_finding_t *finding) {
   run->found[finding->launch]++;
   for (uint32_t n = 0; n < run->finding_count; n++) {
      rkb_machine_finding_t *known = &run->findings[n];
      if (known->launch == finding->launch && known->ptx_line == finding->ptx_line &&
          known->kernel == finding->kernel && known->standing == finding->standing &&
          strcmp(known->reason, finding->reason) == 0) {
         known->occurrences++;
         return NULL;
      }
   }
   if (run->finding_count == MAX_FINDINGS)
      return NULL;
   rkb_machine_finding_t *slot = &run->findings[run->finding_count++];
   *slot = *finding;
   return slot;
}

/* A rejection decides the verdict; later findings in the block would only be its consequences. */
static void consider_stopping(machine_run_t *run, uint32_t standing) {
   if (standing == RKB_MACHINE_REJECT)
      run->stop = true;
}

rkb_machine_finding_t *machine_find(machine_warp_t *warp, uint32_t standing, const char *reason,
                                    uint32_t lane, const char *fmt, ...) {
   rkb_machine_finding_t finding = {.standing = standing};
   machine_describe(warp, lane, &finding);
   snprintf(finding.reason, sizeof finding.reason, "%s", reason);
   va_list ap;
   va_start(ap, fmt);
   vsnprintf(finding.message, sizeof finding.message, fmt, ap);
   va_end(ap);
   consider_stopping(warp->run, standing);
   return add(warp->run, &finding);
}

rkb_machine_finding_t *machine_find_launch(machine_run_t *run, uint32_t standing, const char *reason,
                                           const char *fmt, ...) {
   rkb_machine_finding_t finding = {.standing = standing, .buffer = UINT32_MAX, .occurrences = 1};
   snprintf(finding.reason, sizeof finding.reason, "%s", reason);
   if (run->launch) {
      finding.launch = run->launch->number;
      finding.kernel = run->launch->plan->entry;
   }
   va_list ap;
   va_start(ap, fmt);
   vsnprintf(finding.message, sizeof finding.message, fmt, ap);
   va_end(ap);
   consider_stopping(run, standing);
   return add(run, &finding);
}

/* Text ---------------------------------------------------------------------------------------------------------- */

static void write_json_text(FILE *out, const char *text) {
   fputc('"', out);
   for (; *text; text++) {
      unsigned char c = (unsigned char)*text;
      if (c == '"' || c == '\\')
         fprintf(out, "\\%c", c);
      else if (c < 0x20 || c >= 0x7f)
         fprintf(out, "\\u%04x", c);
      else
         fputc(c, out);
   }
   fputc('"', out);
}

static void json_text(FILE *out, const char *key, const char *value) {
   if (!value || !*value)
      return;
   fprintf(out, ",\"%s\":", key);
   write_json_text(out, value);
}

static void json_triple(FILE *out, const char *key, const uint32_t value[3]) {
   fprintf(out, ",\"%s\":[%u,%u,%u]", key, value[0], value[1], value[2]);
}

static void format_value(const rkb_machine_register_t *r, char *out, size_t size) {
   double wide;
   float narrow;
   uint32_t low = (uint32_t)r->bits;
   if (!r->defined) {
      snprintf(out, size, "undefined");
   } else if (strcmp(r->type, "f32") == 0) {
      memcpy(&narrow, &low, sizeof narrow);
      snprintf(out, size, "%.9g", (double)narrow);
   } else if (strcmp(r->type, "f64") == 0) {
      memcpy(&wide, &r->bits, sizeof wide);
      snprintf(out, size, "%.17g", wide);
   } else if (strcmp(r->type, "pred") == 0) {
      snprintf(out, size, "%s", r->bits ? "true" : "false");
   } else if (strchr(r->type, '6') && strchr(r->type, '4')) {
      snprintf(out, size, "0x%llx", (unsigned long long)r->bits);
   } else {
      snprintf(out, size, "%d (0x%x)", (int32_t)low, low);
   }
}

char *rkb_machine_finding_json(const rkb_machine_finding_t *finding) {
   char *text = NULL;
   size_t length = 0;
   FILE *out = open_memstream(&text, &length);
   if (!out)
      return NULL;
   fputs("{\"reason\":", out);
   write_json_text(out, finding->reason);
   json_text(out, "message", finding->message);
   json_text(out, "kernel", finding->kernel);
   fprintf(out, ",\"launch\":%u", finding->launch);
   json_text(out, "opcode", finding->opcode);
   json_text(out, "file", finding->file);
   if (finding->line)
      fprintf(out, ",\"line\":%u", finding->line);
   if (finding->ptx_line)
      fprintf(out, ",\"ptx_line\":%u", finding->ptx_line);
   if (finding->has_thread) {
      json_triple(out, "block", finding->block);
      json_triple(out, "thread", finding->thread);
   }
   if (finding->has_other) {
      json_triple(out, "other_block", finding->other_block);
      json_triple(out, "other_thread", finding->other_thread);
   }
   if (finding->other_line)
      fprintf(out, ",\"other_line\":%u,\"other_ptx_line\":%u", finding->other_line, finding->other_ptx_line);
   json_text(out, "time_order", finding->order);
   json_text(out, "space", finding->space);
   if (finding->space[0]) {
      json_text(out, "buffer", finding->symbol);
      fprintf(out, ",\"offset\":%lld,\"bytes\":%u", (long long)finding->offset, finding->bytes);
   }
   if (finding->register_count) {
      fputs(",\"registers\":{", out);
      for (uint32_t n = 0; n < finding->register_count; n++) {
         char value[64];
         format_value(&finding->registers[n], value, sizeof value);
         if (n)
            fputc(',', out);
         write_json_text(out, finding->registers[n].name);
         fputc(':', out);
         write_json_text(out, value);
      }
      fputc('}', out);
   }
   fprintf(out, ",\"occurrences\":%llu}", (unsigned long long)finding->occurrences);
   if (fclose(out) != 0) {
      free(text);
      return NULL;
   }
   return text;
}

char *rkb_machine_finding_text(const rkb_machine_finding_t *finding) {
   char *text = NULL;
   size_t length = 0;
   FILE *out = open_memstream(&text, &length);
   if (!out)
      return NULL;
   fprintf(out, "%s: %s\n", finding->reason, finding->message);
   if (finding->kernel)
      fprintf(out, "  kernel   %s (launch %u)\n", finding->kernel, finding->launch);
   if (finding->line)
      fprintf(out, "  source   %s:%u\n", finding->file ? finding->file : "?", finding->line);
   if (finding->ptx_line)
      fprintf(out, "  PTX      line %u: %s\n", finding->ptx_line, finding->opcode);
   if (finding->has_thread)
      fprintf(out, "  block    (%u, %u, %u)  thread (%u, %u, %u)\n", finding->block[0], finding->block[1],
              finding->block[2], finding->thread[0], finding->thread[1], finding->thread[2]);
   if (finding->has_other)
      fprintf(out, "  other    block (%u, %u, %u)  thread (%u, %u, %u)", finding->other_block[0],
              finding->other_block[1], finding->other_block[2], finding->other_thread[0],
              finding->other_thread[1], finding->other_thread[2]);
   if (finding->has_other && finding->other_line)
      fprintf(out, "  line %u (PTX line %u)", finding->other_line, finding->other_ptx_line);
   if (finding->has_other)
      fputc('\n', out);
   if (finding->order)
      fprintf(out, "  order    %s\n", finding->order);
   if (finding->space[0])
      fprintf(out, "  memory   %s %s + %lld, %u bytes\n", finding->space, finding->symbol,
              (long long)finding->offset, finding->bytes);
   for (uint32_t n = 0; n < finding->register_count; n++) {
      char value[64];
      format_value(&finding->registers[n], value, sizeof value);
      fprintf(out, "  %-8s .%-4s %s\n", finding->registers[n].name, finding->registers[n].type, value);
   }
   if (finding->occurrences > 1)
      fprintf(out, "  seen %llu times\n", (unsigned long long)finding->occurrences);
   if (fclose(out) != 0) {
      free(text);
      return NULL;
   }
   return text;
}

bool rkb_machine_found(const rkb_machine_t *machine, uint32_t launch) {
   return machine->run.found[launch] != 0;
}
