/* Executes a launch, thread by thread, with the checks that plain_interpreter.h names. */
#include "bench/plain_interpreter_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Checks -------------------------------------------------------------------------------------------------------- */

static inline bool shared_race(plain_interpreter_t *s, uint32_t word, uint32_t thread, bool store) {
   uint32_t record = s->shared_records[word], me = thread + 1;
   if (record >> 24 != s->epoch)
      record = s->epoch << 24;
   const uint32_t writer = record >> 12 & 0xfff, reader = record & 0xfff;
   if ((writer && writer != me) || (store && reader && reader != me))
      return true;
   s->shared_records[word] = store
                                ? (record & 0xff000fffu) | me << 12
                                : (record & ~0xfffu) | (reader == 0 || reader == me ? me : SEVERAL_READERS);
   return false;
}

static inline bool global_race(plain_interpreter_t *s, buffer_t *b, uint64_t word, uint32_t thread,
                               bool store) {
   const uint64_t me = (s->block + 1) << 32 | (uint64_t)s->time << 12 | (thread + 1);
   const uint64_t writer = b->writers[word], reader = b->readers[word];
#define UNORDERED(name)                                                                                      \
   ((name) && ((name) >> 32 != s->block + 1 || (((name) >> 12 & 0xfffff) == s->time && (name) != me)))
   if (UNORDERED(writer) || (store && UNORDERED(reader)))
      return true;
#undef UNORDERED
   if (store)
      b->writers[word] = me;
   else
      b->readers[word] = reader && reader != me && reader >> 12 == me >> 12 ? me | 0xfff : me;
   return false;
}

static inline uint8_t *global_place(plain_interpreter_t *s, uint64_t address, bool store, buffer_t **buffer) {
   const uint64_t number = (address >> REGION_BITS) - 1;
   if (number >= s->harness->plan.buffer_count)
      return NULL;
   buffer_t *b = *buffer = &s->buffers[number];
   const uint64_t offset = address - b->base;
   return offset + 4 > b->bytes || (offset & 3) || (store && b->read_only) ? NULL : b->data + offset;
}

static inline __attribute__((always_inline)) bool
access_memory(plain_interpreter_t *s, thread_t *t, const instruction_t *i, bool shared, bool store) {
   const uint32_t address_slot = i->slot[store ? 0 : 1], value_slot = i->slot[store ? 1 : 0];
   uint8_t *data, *defined;
   if (!t->defined[address_slot]) {
      s->found = "an undefined address";
      return false;
   }
   if (shared) {
      const uint64_t offset = (uint32_t)(t->slots[address_slot] + (uint64_t)i->offset);
      if (offset + 4 > s->shared_bytes || (offset & 3)) {
         s->found = "an access outside shared memory";
         return false;
      }
      if (shared_race(s, (uint32_t)offset >> 2, t->number, store)) {
         s->found = "a race in shared memory";
         return false;
      }
      data = s->shared + offset;
      defined = s->shared_defined + offset;
   } else {
      buffer_t *b = NULL;
      data = global_place(s, t->slots[address_slot] + (uint64_t)i->offset, store, &b);
      if (!data) {
         s->found = "an access outside its buffer";
         return false;
      }
      defined = b->defined ? b->defined + (data - b->data) : NULL;
      if (!b->read_only && global_race(s, b, (uint64_t)(data - b->data) >> 2, t->number, store)) {
         s->found = "a race in global memory";
         return false;
      }
   }
   uint32_t value, known = 0x01010101;
   if (store) {
      value = (uint32_t)t->slots[value_slot];
      memcpy(data, &value, 4);
      memset(defined, t->defined[value_slot], 4);
   } else {
      memcpy(&value, data, 4);
      if (defined)
         memcpy(&known, defined, 4);
      t->slots[value_slot] = value;
      t->defined[value_slot] = known == 0x01010101;
   }
   return true;
}

/* Execution ------------------------------------------------------------------------------------------------------- */

static inline float as_float(uint64_t bits) {
   const uint32_t low = (uint32_t)bits;
   float value;
   memcpy(&value, &low, sizeof value);
   return value;
}

static inline uint64_t as_bits(float value) {
   uint32_t bits;
   memcpy(&bits, &value, sizeof bits);
   return bits;
}

/* Runs a thread until it waits or ends; returns how many instructions that took. */
static uint64_t run_thread(plain_interpreter_t *s, thread_t *t) {
   uint64_t *const r = t->slots;
   uint8_t *const defined = t->defined;
   uint64_t executed = 0;
   while (!s->found) {
      const instruction_t *i = &s->code[t->pc];
      const uint32_t d = i->slot[0], a = i->slot[1], b = i->slot[2], c = i->slot[3];
      executed++;
      t->pc++;
      if (i->guard >= 0) {
         if (!defined[i->guard]) {
            s->found = "an undefined guard";
            break;
         }
         if ((r[i->guard] != 0) == i->negated)
            continue;
      }
#define SET(value) (r[d] = (value))
#define ONE(value) (SET(value), defined[d] = defined[a])
#define TWO(value) (SET(value), defined[d] = defined[a] & defined[b])
#define THREE(value) (SET(value), defined[d] = defined[a] & defined[b] & defined[c])
      switch ((enum opcode)i->opcode) {
      case LD_PARAM_U64:
      case LD_PARAM_U32:
      case LD_PARAM_F32:
         /* A parameter's slot holds its offset; the plan says which argument lies there. */
         for (uint32_t n = 0; n < s->harness->plan.launches[0].argument_count; n++)
            if (s->harness->plan.launches[0].arguments[n].offset == r[a] + (uint64_t)i->offset)
               SET(s->parameters[n]);
         defined[d] = 1;
         break;
      case LD_GLOBAL:
         access_memory(s, t, i, false, false);
         break;
      case LD_SHARED:
         access_memory(s, t, i, true, false);
         break;
      case ST_GLOBAL:
         access_memory(s, t, i, false, true);
         break;
      case ST_SHARED:
         access_memory(s, t, i, true, true);
         break;
      case MOV_B32:
      case MOV_U32:
      case MOV_F32:
         ONE((uint32_t)r[a]);
         break;
      case CVTA:
         ONE(r[a]);
         break;
      case ADD_F32:
         TWO(as_bits(as_float(r[a]) + as_float(r[b])));
         break;
      case SUB_F32:
         TWO(as_bits(as_float(r[a]) - as_float(r[b])));
         break;
      case MUL_F32:
         TWO(as_bits(as_float(r[a]) * as_float(r[b])));
         break;
      case DIV_F32:
         TWO(as_bits(as_float(r[a]) / as_float(r[b])));
         break;
      case FMA_F32:
         THREE(as_bits(fmaf(as_float(r[a]), as_float(r[b]), as_float(r[c]))));
         break;
      case RSQRT_F32:
         ONE(as_bits((float)(1.0 / sqrt((double)as_float(r[a])))));
         break;
      case ADD_S32:
         TWO((uint32_t)(r[a] + r[b]));
         break;
      case ADD_S64:
         TWO(r[a] + r[b]);
         break;
      case MAD_S32:
         THREE((uint32_t)(r[a] * r[b] + r[c]));
         break;
      case MUL_S64:
         TWO(r[a] * r[b]);
         break;
      case MUL_WIDE:
         TWO((uint64_t)((int64_t)(int32_t)r[a] * (int32_t)r[b]));
         break;
      case SHL_B32:
         TWO((uint32_t)r[b] > 31 ? 0 : (uint32_t)(r[a] << (r[b] & 31)));
         break;
      case SHL_B64:
         TWO((uint32_t)r[b] > 63 ? 0 : r[a] << (r[b] & 63));
         break;
      case SHR_S32:
         TWO((uint32_t)((int32_t)r[a] >> ((uint32_t)r[b] > 31 ? 31 : r[b] & 31)));
         break;
      case SHR_U32:
         TWO((uint32_t)r[b] > 31 ? 0 : (uint32_t)r[a] >> (r[b] & 31));
         break;
      case AND_B32:
         TWO((uint32_t)(r[a] & r[b]));
         break;
      case OR_PRED:
         TWO(r[a] | r[b]);
         break;
      case SETP_GE_S32:
         TWO((int32_t)r[a] >= (int32_t)r[b]);
         break;
      case SETP_GE_U32:
         TWO((uint32_t)r[a] >= (uint32_t)r[b]);
         break;
      case SETP_LT_S32:
         TWO((int32_t)r[a] < (int32_t)r[b]);
         break;
      case SETP_NE_S32:
         TWO((int32_t)r[a] != (int32_t)r[b]);
         break;
      case CVT_S64_S32:
         ONE((uint64_t)(int64_t)(int32_t)r[a]);
         break;
      case CVT_U64_U32:
         ONE((uint32_t)r[a]);
         break;
      case CVT_F32_S32:
         ONE(as_bits((float)(int32_t)r[a]));
         break;
      case SHFL_DOWN:
         t->pc--;
         t->state = AT_SHUFFLE;
         return executed;
      case BAR:
         t->pc--;
         t->state = AT_BARRIER;
         return executed;
      case BRA:
      case BRA_UNI:
         t->pc = i->target;
         break;
      case RET:
         t->state = DONE;
         return executed;
      case OPCODE_COUNT:
         break;
      }
   }
   return executed;
}

/* Executes shfl (operands d|p, a, distance, clamp, members).  All lanes are at the same shuffle, because the benchmark's kernels shuffle whole warps with
 * full masks. */
static void shuffle(plain_interpreter_t *s, thread_t *lanes) {
   const instruction_t *i = &s->code[lanes[0].pc];
   uint64_t value[WARP];
   uint8_t known[WARP];
   for (uint32_t l = 0; l < WARP; l++) {
      const uint32_t distance = (uint32_t)lanes[l].slots[i->slot[3]] & 31,
                     from = l + distance > 31 ? l : l + distance;
      if ((uint32_t)lanes[l].slots[i->slot[5]] != UINT32_MAX || lanes[l].pc != lanes[0].pc ||
          lanes[l].state != AT_SHUFFLE)
         s->found = "a shuffle that lacks lanes";
      value[l] = lanes[from].slots[i->slot[2]];
      known[l] = lanes[from].defined[i->slot[2]];
   }
   for (uint32_t l = 0; l < WARP; l++) {
      lanes[l].slots[i->slot[0]] = value[l];
      lanes[l].defined[i->slot[0]] = known[l];
      lanes[l].slots[i->slot[1]] = 1;
      lanes[l].defined[i->slot[1]] = 1;
      lanes[l].pc++;
      lanes[l].state = READY;
   }
}

static uint64_t run_warp(plain_interpreter_t *s, thread_t *lanes) {
   uint64_t executed = 0;
   for (;;) {
      for (uint32_t l = 0; l < WARP; l++)
         if (lanes[l].state == READY)
            executed += run_thread(s, &lanes[l]);
      if (s->found || lanes[0].state != AT_SHUFFLE)
         return executed;
      shuffle(s, lanes);
   }
}

static uint64_t special_value(const plain_interpreter_t *s, uint64_t special, uint32_t thread) {
   const rkb_plan_launch_t *launch = &s->harness->plan.launches[0];
   switch (special) {
   case PTX_SPECIAL_TID_X:
      return thread % launch->block[0];
   case PTX_SPECIAL_TID_Y:
      return thread / launch->block[0];
   case PTX_SPECIAL_NTID_X:
      return launch->block[0];
   case PTX_SPECIAL_NTID_Y:
      return launch->block[1];
   case PTX_SPECIAL_CTAID_X:
      return s->block % launch->grid[0];
   case PTX_SPECIAL_CTAID_Y:
      return s->block / launch->grid[0];
   default:
      return 0;
   }
}

static void start_block(plain_interpreter_t *s) {
   memset(s->shared_defined, 0, s->shared_bytes);
   memset(s->shared_records, 0, (s->shared_bytes / 4 + 1) * sizeof *s->shared_records);
   s->epoch = s->time = 1;
   for (uint32_t n = 0; n < s->thread_count; n++) {
      thread_t *t = &s->threads[n];
      t->pc = 0;
      t->state = READY;
      for (uint32_t k = 0; k < s->slot_count; k++) {
         t->defined[k] = s->kinds[k] != 0;
         if (s->kinds[k])
            t->slots[k] = s->kinds[k] == 1 ? s->constants[k] : special_value(s, s->constants[k], n);
      }
   }
}

/* Lets the threads continue if all live threads are at the same barrier. */
static bool release(plain_interpreter_t *s) {
   uint32_t waiting = 0, place = 0;
   for (uint32_t n = 0; n < s->thread_count; n++)
      if (s->threads[n].state == AT_BARRIER) {
         if (waiting++ && s->threads[n].pc != place)
            s->found = "threads at different barriers";
         place = s->threads[n].pc;
      }
   for (uint32_t n = 0; n < s->thread_count && waiting; n++)
      if (s->threads[n].state == AT_BARRIER) {
         s->threads[n].pc++;
         s->threads[n].state = READY;
      }
   s->time++;
   if (++s->epoch == 0x100) { /* 0 means no epoch */
      s->epoch = 1;
      memset(s->shared_records, 0, (s->shared_bytes / 4 + 1) * sizeof *s->shared_records);
   }
   return waiting != 0;
}

uint64_t plain_interpreter_run(plain_interpreter_t *s, const char **found) {
   const uint32_t *grid = s->harness->plan.launches[0].grid;
   uint64_t executed = 0;
   s->found = NULL;
   for (uint32_t n = 0; n < s->harness->plan.buffer_count; n++)
      if (!s->buffers[n].read_only) {
         memset(s->buffers[n].defined, 0, s->buffers[n].bytes);
         memset(s->buffers[n].writers, 0, (s->buffers[n].bytes / 4 + 1) * sizeof(uint64_t));
         memset(s->buffers[n].readers, 0, (s->buffers[n].bytes / 4 + 1) * sizeof(uint64_t));
      }
   for (s->block = 0; s->block < (uint64_t)grid[0] * grid[1] && !s->found; s->block++) {
      start_block(s);
      do {
         for (uint32_t w = 0; w < s->thread_count && !s->found; w += WARP)
            executed += run_warp(s, &s->threads[w]);
      } while (!s->found && release(s));
   }
   for (uint32_t n = 0; n < s->harness->plan.buffer_count && !s->found; n++)
      if (s->harness->plan.buffers[n].role == RKB_OUT &&
          memchr(s->buffers[n].defined, 0, s->buffers[n].bytes))
         s->found = "an output that is not written whole";
   *found = s->found ? s->found : "";
   return executed;
}
