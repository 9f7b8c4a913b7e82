/* Input families: ways to draw the inputs of a case.  They do not change once built. */
#ifndef RKB_TASK_FAMILIES_H
#define RKB_TASK_FAMILIES_H

#include "task/bound_case.h"

/* How one tensor is drawn in one family. */
enum rkb_draw_kind {
   RKB_DRAW_RECIPE = 0, /* the task's own recipe */
   RKB_DRAW_MIXED,      /* the recipe times 10^-3 to 10^3 */
   RKB_DRAW_SHIFTED,    /* the recipe plus `first` times its own spread */
   RKB_DRAW_SCALED,     /* the recipe times `first` */
   RKB_DRAW_TINY,       /* the recipe times `first`, or times a root of it (tiny_power) */
   RKB_DRAW_TIES,       /* -1, -1/2, 0, 1/2, 1; 1/2 to 2 where the recipe is positive */
   RKB_DRAW_CONSTANT,   /* one dyadic number */
   RKB_DRAW_ONE_HOT,    /* a single 1 along the last dim */
   RKB_DRAW_LEVEL, /* the recipe times `first`, times one power of ten from 0.1 to 10 per seed: near a guard's
                      eps */
   RKB_DRAW_ODD,   /* odd integers of 12 to 13 bits: exact in fp32 sums, not in TF32, bf16 or half */
   RKB_DRAW_SIGNS, /* -1, 0, 1; non-zero with probability `first` */
   RKB_DRAW_MANTISSA,  /* full 24-bit mantissas, |x| in [1, 2) */
   RKB_DRAW_SPARSE,    /* +-2^k, k in -3 .. 3; non-zero with probability `first` */
   RKB_DRAW_SMALL,     /* small integers, -8 to 8 */
   RKB_DRAW_SUBNORMAL, /* the recipe; one random element in eight times `first`, which makes it subnormal */
   RKB_DRAW_STRONG,    /* the recipe times `first`, which makes softmax rows nearly one-hot */
   RKB_DRAW_MASKED, /* the recipe times `first`; in three of four rows some elements, never all, are minus infinity */
   RKB_DRAW_BELOW, /* `first` less the size of the recipe times |first| / 2^20: all far below zero */
   RKB_DRAW_PEAKS, /* the recipe times `first`; one element a row, at an end of loops or anywhere, is above all others by far */
   RKB_DRAW_NAN,     /* the recipe; one random element in 16 is NaN */
   RKB_DRAW_ONE_NAN, /* the recipe; one random element is NaN */
   RKB_DRAW_PLANTED /* the recipe; every second element is a number that the kernel's text contains (planted_numbers.h) */
};

/* The family "tiny" draws numbers of about 2^-40. */
#define RKB_TINY_POWER 40

typedef struct rkb_draw {
   uint32_t kind;
   double first;
} rkb_draw_t;

typedef struct rkb_family_entry {
   rkb_family_t view; /* first member, so a rkb_family_t pointer converts to this type */
   rkb_draw_t *draws; /* by case tensor */
   bool reports_only; /* a mismatch gives suspect, not reject */
   bool has_nan;      /* some element is NaN */
} rkb_family_entry_t;

struct rkb_family_list {
   rkb_family_entry_t *entries;
   uint32_t count, room;
};

/* family_list.c, while a case is bound. */
/* Adds an empty family; NULL when there are too many. */
rkb_family_entry_t *rkb_family_add(rkb_bound_t *bound, const char *name, bool stat, bool exact, bool decides);
/* Whether the tensor's recipe asks for no particular sign or value. */
bool rkb_family_is_free(const rkb_bound_t *bound, uint32_t tensor);

static inline const rkb_family_entry_t *rkb_family_entry(const rkb_family_t *family) {
   return (const rkb_family_entry_t *)family;
}

#endif
