/* Which matrix instructions and asynchronous copies the kernels of a plan contain, and which of them some
 * warp executed: a kernel that has them only in code that no input reaches does not use tensor cores.  On the machine's thread. */
#include "machine/state/execution.h"
#include "machine/decode/operands.h"

/* Found by the start of an opcode; longer starts come first. */
static const struct {
   const char *prefix, *name;
} families[] = {{"wgmma.mma_async", "wgmma.mma_async"},
                {"wmma.mma", "wmma.mma"},
                {"mma.", "mma.sync"},
                {"ldmatrix", "ldmatrix"},
                {"stmatrix", "stmatrix"},
                {"cp.async.bulk.tensor", "cp.async.bulk.tensor"},
                {"cp.async.bulk.", "cp.async.bulk"},
                {"cp.reduce.async.bulk.tensor", "cp.reduce.async.bulk.tensor"},
                {"cp.reduce.async.bulk.", "cp.reduce.async.bulk"},
                {"tensormap.replace", "tensormap.replace"},
                {"cp.async.", "cp.async"},
                {"st.async", "st.async"},
                {"red.async", "red.async"}};
#define FAMILIES (sizeof families / sizeof *families)

const char *rkb_machine_tensor_name(uint32_t family) {
   return family < FAMILIES ? families[family].name : NULL;
}

static uint32_t family_of(const char *opcode) {
   for (uint32_t n = 0; n < FAMILIES; n++)
      if (strncmp(opcode, families[n].prefix, strlen(families[n].prefix)) == 0)
         return 1u << n;
   return 0;
}

bool rkb_machine_contains(const rkb_machine_module_t *module, const char *entry, const char *name) {
   bool found = false;
   for (uint32_t n = 0; n < module->function_count; n++) {
      const ptx_function_t *function = &module->functions[n];
      const bool named = function->entry && function->defined && strcmp(function->name, entry) == 0;
      for (uint32_t s = 0; named && s < function->statement_count && !found; s++) {
         const uint32_t family = family_of(function->statements[s].opcode);
         found = family && strcmp(families[__builtin_ctz(family)].name, name) == 0;
      }
   }
   return found;
}

void machine_note_tensor_use(machine_run_t *run, const machine_program_t *program) {
   for (uint32_t n = 0; n < program->count; n++) {
      const machine_instruction_t *i = &program->code[n];
      if (i->kind != MACHINE_CUSTOM ||
          (i->class != RKB_CLASS_TENSOR && i->class != RKB_CLASS_SHARED && i->class != RKB_CLASS_GLOBAL))
         continue;
      const uint32_t family = family_of(machine_opcode_of(program, i));
      run->report.tensor_named |= family;
      run->report.tensor_executed |= run->counts.block_warps[i->block] ? family : 0;
   }
}
