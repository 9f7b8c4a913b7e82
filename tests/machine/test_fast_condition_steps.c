/* Steps of conditions in the form that is quickly computed give what the steps as they stand give: whether there is a result, the result, how a comparison comes out, and by
 * how much.  Every kind of step with drawn operands, and the steps of the kernels in kernels/ and ../fuzz/corpus/ptx, in the order of their text. */
#include "machine/decode/fast_condition_steps.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "machine/decode/condition_paths.h"
#include "check.h"

#define DRAWN 4000u /* results of a step */
#define ROUNDS 300u /* through a kernel's steps */
#define OPERATIONS (TANGENT + 1)

struct both {
   rkb_machine_conditions_t *conditions;
   const struct step *steps;
   struct plain_step *plain;
   uint64_t stream;
   uint32_t taken[OPERATIONS]; /* in the quick form */
   uint32_t compared;
};

static uint64_t draw(struct both *b) {
   b->stream += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
   uint64_t z = b->stream;
   z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
   z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
   return z ^ z >> 31;
}

/* Small numbers, ends of types, single bits, and any. */
static uint64_t draw_number(struct both *b) {
   static const uint64_t ends[] = {0,
                                   1,
                                   0x7f,
                                   0x80,
                                   0xff,
                                   0x7fff,
                                   0x8000,
                                   0xffff,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   0x100000000,
                                   0x7fffffffffffffff,
                                   0x8000000000000000,
                                   0xffffffffffffffff};
   switch (draw(b) % 5) {
   case 0:
      return draw(b) % 70;
   case 1:
      return 0 - draw(b) % 70;
   case 2:
      return ends[draw(b) % (sizeof ends / sizeof *ends)];
   case 3:
      return (UINT64_C(1) << draw(b) % 64) + draw(b) % 3 - 1;
   default:
      return draw(b);
   }
}

/* Gives a register a number, a range, or nothing that is known. */
static void draw_register(struct both *b, uint32_t number) {
   rkb_machine_conditions_t *c = b->conditions;
   const int64_t low = (int64_t)draw_number(b), high = (int64_t)draw_number(b);
   const uint64_t kind = draw(b) % 16;
   c->known[number] = kind > 0;
   c->values[number] = kind == 1 && low < high ? (struct range){low, high} : (struct range){low, low};
}

/* Takes a step in both forms, on the same registers; leaves what the step as it stands gave. */
static void take_both(struct both *b, uint32_t n) {
   rkb_machine_conditions_t *c = b->conditions;
   const struct step *step = &b->steps[n];
   const rkb_plan_launch_t launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
   const uint32_t to = c->function->operands[step->statement->operand].index;
   const struct range before = c->values[to];
   const bool known_before = c->known[to], least = step->operation == LEAST || step->operation == MOST;
   struct plain_result quick;
   struct range result;
   const bool plain = machine_plain_step(c, b->plain, n, &quick), known = c->known[to];
   const struct range value = c->values[to];
   if (!plain) {
      assert_int_equal(known, known_before);
      assert_memory_equal(&value, &before, sizeof before);
   }
   c->known[to] = known_before;
   c->values[to] = before;
   const double distance = machine_condition_distance(c, step, &launch);
   const bool first = least && machine_condition_is_first(c, step, &launch),
              gives = machine_condition_step(c, step, &launch, &result);
   if (!plain)
      return;
   b->taken[step->operation]++;
   b->compared++;
   if (gives != quick.known || gives != known)
      fail_msg("%s: %s", step->statement->opcode,
               gives ? "the quick form has no result" : "only the quick form has a result");
   if (!gives)
      return;
   if (value.low != result.low || value.high != result.high || c->values[to].low != result.low)
      fail_msg("%s: %lld, in the quick form %lld", step->statement->opcode, (long long)result.low,
               (long long)value.low);
   if (step->operation == COMPARE || least)
      assert_int_equal(quick.outcome, step->operation == COMPARE ? result.low & 1 : first);
   assert_true(isnan(distance) ? isnan(quick.distance) : distance == quick.distance);
}

static void close_both(struct both *b) {
   free(b->plain);
   b->plain = NULL;
}

/* Steps of every kind ----------------------------------------------------------------------------------------------------- */

/* Operations, with the types that each is written with.  r: result and operands; the first word of the form says how many. */
static const struct {
   const char *opcode, *types;
   enum operation operation;
   uint32_t operands;
} kinds[] = {{"mov.", "b16 b32 b64 u32 s32 u64 s64", COPY, 1},
             {"add.", "u16 s16 u32 s32 u64 s64", ADD, 2},
             {"sub.", "u16 s16 u32 s32 u64 s64", SUBTRACT, 2},
             {"mul.lo.", "u16 s16 u32 s32 u64 s64", MULTIPLY, 2},
             {"mul.wide.", "u32 s32", MULTIPLY, 2},
             {"mad.lo.", "u16 s16 u32 s32 u64 s64", MULTIPLY_ADD, 3},
             {"and.", "b16 b32 b64 pred", AND, 2},
             {"or.", "b16 b32 b64 pred", OR, 2},
             {"xor.", "b16 b32 b64 pred", XOR, 2},
             {"not.", "b16 b32 b64 pred", NOT, 1},
             {"neg.", "s16 s32 s64", MINUS, 1},
             {"shl.", "b16 b32 b64", LEFT, 2},
             {"shr.", "b16 b32 b64 u16 s16 u32 s32 u64 s64", RIGHT, 2},
             {"min.", "u16 s16 u32 s32 u64 s64", LEAST, 2},
             {"max.", "u16 s16 u32 s32 u64 s64", MOST, 2},
             {"selp.", "b16 b32 b64 u32 s32 u64 s64", CHOOSE, 3},
             {"setp.eq.", "b16 b32 b64 u32 s32 u64 s64", COMPARE, 2},
             {"setp.ne.", "b16 b32 b64 u32 s32 u64 s64", COMPARE, 2},
             {"setp.lt.", "u16 s16 u32 s32 u64 s64", COMPARE, 2},
             {"setp.le.", "u16 s16 u32 s32 u64 s64", COMPARE, 2},
             {"setp.gt.", "u16 s16 u32 s32 u64 s64", COMPARE, 2},
             {"setp.ge.", "u16 s16 u32 s32 u64 s64", COMPARE, 2},
             {"setp.lo.", "u16 u32 u64", COMPARE, 2},
             {"setp.ls.", "u16 u32 u64", COMPARE, 2},
             {"setp.hi.", "u16 u32 u64", COMPARE, 2},
             {"setp.hs.", "u16 u32 u64", COMPARE, 2},
             /* Not in the quick form: it must leave them. */
             {"setp.eq.and.", "u32", COMPARE, 3},
             {"setp.eq.", "f32", COMPARE, 2},
             {"rem.", "u32 s32", REMAINDER, 2},
             {"abs.", "s32", SIZE, 1}};

#define REGISTERS 24u /* of each class, and as many that are results */

/* A register of the operand's class, or a number. */
static int write_operand(struct both *b, char *text, size_t room, const char *kind, bool may_be_number) {
   if (may_be_number && draw(b) % 3 == 0)
      return snprintf(text, room, ", %lld", (long long)(draw(b) % 4 ? draw(b) % 70 : draw_number(b) >> 33));
   return snprintf(text, room, ", %s%s%llu", draw(b) % 3 == 0 && strcmp(kind, "%p") == 0 ? "!" : "", kind,
                   (unsigned long long)(draw(b) % REGISTERS));
}

static const char *class_of(const char *type) {
   return strcmp(type, "pred") == 0 ? "%p"
          : type[0] == 'f'          ? "%f"
          : strstr(type, "16")      ? "%h"
          : strstr(type, "64")      ? "%d"
                                    : "%r";
}

/* A kernel of one step of each kind and type, four times; what it reads is loaded, so that it is followed. */
static char *write_text(struct both *b) {
   const size_t room = 1 << 17;
   char *text = malloc(room);
   static const struct {
      const char *name, *type;
   } classes[] = {{"%h", "u16"}, {"%r", "u32"}, {"%d", "u64"}, {"%f", "f32"}};
   uint32_t results = 0;
   size_t used = (size_t)snprintf(
      text, room,
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry steps(.param .u64 n)\n{\n"
      ".reg .pred %%p<2000>;\n.reg .b16 %%h<2000>;\n.reg .b32 %%r<2000>;\n.reg .b64 %%d<2000>;\n.reg .f32 %%f<2000>;\n");
   for (uint32_t k = 0; k < sizeof classes / sizeof *classes; k++)
      for (uint32_t n = 0; n < REGISTERS; n++)
         used += (size_t)snprintf(text + used, room - used, "ld.param.%s %s%u, [n];\n", classes[k].type,
                                  classes[k].name, n);
   for (uint32_t n = 0; n < REGISTERS; n++)
      used += (size_t)snprintf(text + used, room - used, "setp.eq.u32 %%p%u, %%r%u, 0;\n", n, n);
   for (uint32_t k = 0; k < 4 * sizeof kinds / sizeof *kinds; k++) {
      char types[64], *rest = types;
      snprintf(types, sizeof types, "%s", kinds[k / 4].types);
      for (const char *type = strsep(&rest, " "); type; type = strsep(&rest, " ")) {
         const bool compares = kinds[k / 4].operation == COMPARE,
                    wide = strstr(kinds[k / 4].opcode, "wide") != NULL;
         const char *to = compares ? "%p" : wide ? "%d" : class_of(type);
         used += (size_t)snprintf(text + used, room - used, "%s%s %s%u", kinds[k / 4].opcode, type, to,
                                  REGISTERS + results++);
         for (uint32_t o = 0; o < kinds[k / 4].operands; o++) {
            const bool predicate = o == 2 && (compares || kinds[k / 4].operation == CHOOSE),
                       shift = o == 1 && (kinds[k / 4].operation == LEFT || kinds[k / 4].operation == RIGHT);
            const char *kind = predicate ? "%p" : shift ? "%r" : class_of(type);
            used +=
               (size_t)write_operand(b, text + used, room - used, kind, kind[1] != 'p' && kind[1] != 'f');
         }
         used += (size_t)snprintf(text + used, room - used, ";\n");
      }
   }
   assert_true(results + REGISTERS < 2000);
   snprintf(text + used, room - used, "ret;\n}\n");
   return text;
}

static void drawn_steps_of_every_kind(void **state) {
   (void)state;
   struct both b = {.stream = 20261130};
   uint32_t line;
   char *text = write_text(&b);
   rkb_machine_module_t *module = rkb_machine_module_read(text, strlen(text));
   assert_non_null(module);
   assert_null(rkb_machine_module_error(module, &line));
   b.conditions = rkb_machine_conditions_new(module, "steps");
   assert_non_null(b.conditions);
   b.steps = b.conditions->steps;
   b.plain = machine_plain_steps_new(b.conditions, b.steps, b.conditions->count);
   assert_non_null(b.plain);
   for (uint32_t n = 0; n < b.conditions->count; n++)
      for (uint32_t k = 0; k < DRAWN && b.steps[n].operation != PARAMETER; k++) {
         const ptx_statement_t *statement = b.steps[n].statement;
         for (uint32_t o = 0; o < statement->operand_count; o++)
            if (b.conditions->function->operands[statement->operand + o].kind == PTX_OPERAND_REGISTER)
               draw_register(&b, b.conditions->function->operands[statement->operand + o].index);
         take_both(&b, n);
      }
   for (uint32_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
      assert_int_equal(b.taken[kinds[k].operation] > 0,
                       kinds[k].operation != REMAINDER && kinds[k].operation != SIZE);
   printf("%u results of %u steps\n", b.compared, b.conditions->count);
   close_both(&b);
   rkb_machine_conditions_free(b.conditions);
   rkb_machine_module_free(module);
   free(text);
}

/* Steps of kernels -------------------------------------------------------------------------------------------------------- */

static char *read_file(const char *path) {
   FILE *file = fopen(path, "rb");
   char *text = calloc(1 << 20, 1);
   assert_non_null(file);
   assert_non_null(text);
   assert_in_range(fread(text, 1, (1 << 20) - 1, file), 1, (1 << 20) - 2);
   fclose(file);
   return text;
}

/* In the order of the text, as a way that takes no branch: a register that no plain step writes gets a number. */
static void take_steps(struct both *b, const struct step *steps, uint32_t count) {
   rkb_machine_conditions_t *c = b->conditions;
   b->steps = steps;
   b->plain = machine_plain_steps_new(c, steps, count);
   assert_non_null(b->plain);
   for (uint32_t round = 0; round < ROUNDS; round++) {
      for (uint32_t r = 0; r < c->function->register_count; r++)
         draw_register(b, r);
      for (uint32_t n = 0; n < count; n++) {
         const uint32_t compared = b->compared;
         if (steps[n].operation != PARAMETER && steps[n].operation != CONSTANT)
            take_both(b, n);
         if (compared == b->compared || draw(b) % 8 == 0)
            draw_register(b, c->function->operands[steps[n].statement->operand].index);
      }
   }
   close_both(b);
}

static void steps_of_kernels(void **state) {
   (void)state;
   struct both b = {.stream = 1};
   uint32_t kernels = 0, followed = 0;
   glob_t files;
   assert_int_equal(glob(KERNELS "/*.ptx", 0, NULL, &files), 0);
   assert_int_equal(glob(TEXTS "/*.ptx", GLOB_APPEND, NULL, &files), 0);
   for (size_t f = 0; f < files.gl_pathc; f++) {
      char *text = read_file(files.gl_pathv[f]);
      rkb_machine_module_t *module = rkb_machine_module_read(text, strlen(text));
      for (uint32_t n = 0; module && !module->error_line && n < module->function_count; n++) {
         uint64_t turns = 1000;
         b.conditions =
            module->functions[n].entry ? rkb_machine_conditions_new(module, module->functions[n].name) : NULL;
         if (!b.conditions)
            continue;
         kernels++;
         take_steps(&b, b.conditions->steps, b.conditions->count);
         if (rkb_machine_conditions_follow(b.conditions, &turns)) {
            followed++;
            take_steps(&b, b.conditions->paths->steps, b.conditions->paths->step_count);
         }
         rkb_machine_conditions_free(b.conditions);
      }
      rkb_machine_module_free(module);
      free(text);
   }
   globfree(&files);
   printf("%u results of %u kernels, %u of them with loops that are followed\n", b.compared, kernels,
          followed);
   assert_true(kernels > 5 && followed > 1 && b.compared > 10000);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(drawn_steps_of_every_kind),
                                      cmocka_unit_test(steps_of_kernels)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
