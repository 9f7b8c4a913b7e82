/* Ranges of registers that differ among the threads of a block, step by step.  For example i = blockIdx.x * 256 + threadIdx.x lies between
 * two numbers, so a comparison with it holds in all threads, in none, or in some.  Registers have intervals and nothing else.  Values that
 * intervals do not describe well, such as the bits of a hash, are not followed.  No state. */
#include "machine/decode/conditions.h"

#include <string.h>

static bool is_single(struct range range) {
   return range.low == range.high;
}

bool machine_condition_range_as(struct range *range, uint32_t type) {
   int64_t before, after;
   if (is_single(*range)) {
      range->low = range->high = (int64_t)machine_condition_as((uint64_t)range->low, type);
      return true;
   }
   const struct range as = {(int64_t)machine_condition_as((uint64_t)range->low, type),
                            (int64_t)machine_condition_as((uint64_t)range->high, type)};
   if (__builtin_sub_overflow(range->high, range->low, &before) ||
       __builtin_sub_overflow(as.high, as.low, &after) || before != after)
      return false;
   *range = as;
   return true;
}

static bool add(struct range a, struct range b, struct range *sum) {
   return !__builtin_add_overflow(a.low, b.low, &sum->low) &&
          !__builtin_add_overflow(a.high, b.high, &sum->high);
}

static bool negate(struct range a, struct range *result) {
   return !__builtin_sub_overflow(INT64_C(0), a.high, &result->low) &&
          !__builtin_sub_overflow(INT64_C(0), a.low, &result->high);
}

/* Multiplies ranges, if one of them is a single number, or both are 0 or more. */
static bool multiply(struct range a, struct range b, struct range *product) {
   if (is_single(a)) {
      const struct range other = a;
      a = b;
      b = other;
   }
   if (!is_single(b) && (a.low < 0 || b.low < 0))
      return false;
   if (b.low < 0) {
      const int64_t low = a.low;
      a.low = a.high;
      a.high = low;
   }
   return !__builtin_mul_overflow(a.low, b.low, &product->low) &&
          !__builtin_mul_overflow(a.high, b.high, &product->high);
}

static bool remainder_of(struct range a, int64_t by, struct range *result) {
   if (a.low < 0 || by <= 0)
      return false;
   *result = a.low / by == a.high / by ? (struct range){a.low % by, a.high % by} : (struct range){0, by - 1};
   return true;
}

static bool quotient_of(struct range a, struct range b, struct range *result) {
   if (a.low < 0 || !is_single(b) || b.low <= 0)
      return false;
   *result = (struct range){a.low / b.low, a.high / b.low};
   return true;
}

/* Whether all bits from some bit on are ones: such a mask clears the low bits. */
static bool cuts_off(int64_t mask) {
   const uint64_t m = (uint64_t)mask, sum = m + (m & (0 - m));
   return m && (sum == 0 || sum == UINT64_C(1) << 32);
}

/* The range of an AND: a mask with ones at the low end gives a remainder, one with ones at the high end
 * clears low bits; else the result is no more than either operand. */
static bool all_of(struct range a, struct range b, struct range *result) {
   if (is_single(a))
      return all_of(b, a, result);
   if (a.low < 0 || (b.low < 0 && !(is_single(b) && cuts_off(b.low))))
      return false;
   if (is_single(b) && b.low >= 0 && b.low < INT64_MAX && ((b.low + 1) & b.low) == 0)
      return remainder_of(a, b.low + 1, result);
   *result = is_single(b) && a.high <= UINT32_MAX && cuts_off(b.low)
                ? (struct range){a.low & b.low, a.high & b.low}
                : (struct range){0, a.high < b.high ? a.high : b.high};
   return true;
}

/* The range of an OR of two numbers.  If the low bits of one are zero and the other fits there, the OR is their sum. */
static bool any_of(struct range a, struct range b, struct range *result) {
   if (is_single(b) && !is_single(a))
      return any_of(b, a, result);
   if (!is_single(a) || a.low < 0 || b.low < 0)
      return false;
   for (int bit = 0; bit < 62 && b.high >> bit; bit++)
      if (a.low >> bit & 1)
         return false;
   return add(a, b, result);
}

static bool join(enum operation operation, struct range a, struct range b, struct range *result) {
   if (operation == AND)
      *result = (struct range){a.low & b.low, a.high & b.high};
   else if (operation == OR)
      *result = (struct range){a.low | b.low, a.high | b.high};
   else
      *result = (struct range){0, 1};
   return true;
}

static bool compare(const char *how, struct range a, struct range b, bool is_signed, struct range *result) {
   if (!is_signed && (a.low < 0 || b.low < 0))
      return false;
   if (how[0] == 'g' || how[0] == 'h') {
      const struct range other = a;
      a = b;
      b = other;
   }
   const bool or_equal = strcmp(how, "le") == 0 || strcmp(how, "ls") == 0 || strcmp(how, "ge") == 0 ||
                         strcmp(how, "hs") == 0,
              apart = a.high < b.low || a.low > b.high;
   if (strcmp(how, "eq") == 0)
      *result = (struct range){0, !apart};
   else if (strcmp(how, "ne") == 0)
      *result = (struct range){apart, 1};
   else if (or_equal)
      *result = (struct range){a.high <= b.low, a.low <= b.high};
   else
      *result = (struct range){a.high < b.low, a.low < b.high};
   return true;
}

static bool choose(struct range a, struct range b, struct range which, struct range *result) {
   if (is_single(which))
      *result = which.low & 1 ? a : b;
   else
      *result = (struct range){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
   return true;
}

/* Shifts by a single number. */
static bool shift(enum operation operation, struct range a, struct range b, uint32_t bits,
                  struct range *result) {
   if (!is_single(b) || b.low < 0 || b.low >= (int64_t)bits || b.low > 62)
      return false;
   const int64_t factor = INT64_C(1) << b.low;
   if (operation == LEFT)
      return multiply(a, (struct range){factor, factor}, result);
   *result = (struct range){a.low >> b.low, a.high >> b.low};
   return true;
}

bool machine_condition_range(const struct step *step, const struct range operands[3], struct range *result) {
   const struct range a = operands[0], b = operands[1], c = operands[2];
   const bool is_signed = ptx_type_is_signed(step->from), predicate = step->type == PTX_PRED;
   struct range other;
   /* These ranges cannot hold all numbers of 64 bits without a sign. */
   if (!is_signed && step->operation != CHOOSE && step->operation != AND && (a.low < 0 || b.low < 0))
      return false;
   if (machine_condition_is_float(step) || step->joined != COPY)
      return false;
   switch (step->operation) {
   case COPY:
      *result = a;
      return true;
   case ADD:
      return add(a, b, result);
   case SUBTRACT:
      return negate(b, &other) && add(a, other, result);
   case MULTIPLY:
      return multiply(a, b, result);
   case MULTIPLY_ADD:
      return multiply(a, b, &other) && add(other, c, result);
   case AND:
      return predicate ? join(AND, a, b, result) : all_of(a, b, result);
   case OR:
      return predicate ? join(OR, a, b, result) : any_of(a, b, result);
   case XOR:
      return predicate && join(XOR, a, b, result);
   case NOT:
      *result = predicate ? (struct range){a.high ^ 1, a.low ^ 1} : (struct range){~a.high, ~a.low};
      return true;
   case LEFT:
   case RIGHT:
      return shift(step->operation, a, b, 8 * ptx_type_bytes(step->type), result);
   case REMAINDER:
      return is_single(b) && remainder_of(a, b.low, result);
   case QUOTIENT:
      return quotient_of(a, b, result);
   case LEAST:
      *result = (struct range){a.low < b.low ? a.low : b.low, a.high < b.high ? a.high : b.high};
      return true;
   case MOST:
      *result = (struct range){a.low > b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
      return true;
   case MINUS:
      return negate(a, result);
   case COMPARE:
      return compare(step->comparison, a, b, is_signed, result);
   case CHOOSE:
      return choose(a, b, c, result);
   default:
      return false;
   }
}
