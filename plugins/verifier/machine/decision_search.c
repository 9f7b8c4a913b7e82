/* Searches for shapes at which a decision of a manifest has another outcome (decision_search.h).
 *
 * Only expressions are evaluated, so that some ten thousand shapes take as long as one check case.  The search goes along each dim, which
 * finds conditions on one dim.  It finds conditions on two dims in three ways.  It mixes shapes that satisfy a part each.  It continues
 * from the shape nearest to a decision's border along the other dims.  Where the sides of a comparison are of second degree in two dims, as
 * products, sums and squares are, it follows the curve on which they are equal. */
#include "decision_search.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define MOST_ALONG 8192     /* values of a dim, one after the other; beyond these few */
#define MOST_CROSSED 128u   /* decisions whose shapes are mixed, each with each other */
#define MOST_CURVE 4096     /* values of the first dim of a curve */
#define MOST_ON_CURVE 1024u /* shapes on one curve */
#define MOST_CURVES 24u     /* decisions whose curves are followed */

void decision_search_begin(struct decision_search *search) {
   memset(search, 0, offsetof(struct decision_search, list));
}

bool decision_is_wanted(const struct decision *decision) {
   return decision->met != MET_BOTH && !(decision->is_value && decision->met == MET_TRUE);
}

/* Where the number of the decision at this place is, or would be: a manifest may decide thousands of things at each of many thousand shapes. */
static uint32_t slot_of(const struct decision_search *s, uint64_t place) {
   uint32_t slot = (uint32_t)(place * UINT64_C(0x9e3779b97f4a7c15) >> 51);
   _Static_assert(DECISION_SLOTS == 1u << 13, "thirteen bits of the product are a slot");
   while (s->slots[slot] && s->list[s->slots[slot] - 1].place != place)
      slot = (slot + 1) % DECISION_SLOTS;
   return slot;
}

static struct decision *decision_of(struct decision_search *s, const rkb_plan_decision_t *told) {
   if (s->next < s->count && s->list[s->next].place == told->place)
      return &s->list[s->next++];
   const uint32_t slot = slot_of(s, told->place);
   if (!s->slots[slot] && s->count == MOST_DECISIONS) {
      s->is_full = true;
      return NULL;
   }
   if (!s->slots[slot]) {
      s->list[s->count] = (struct decision){
         .place = told->place, .is_value = told->is_value, .divides = told->divides, .nearest = INFINITY};
      s->slots[slot] = (uint16_t)++s->count;
   }
   s->next = s->slots[slot];
   return &s->list[s->next - 1];
}

static void keep(struct decision_search *s, struct decision *d) {
   for (uint32_t n = 0; n < d->found_count; n++)
      if (d->found_way[n] == s->way)
         return;
   if (d->found_count == MOST_FOUND)
      return;
   memcpy(d->found[d->found_count], s->dims, s->dim_count * sizeof *s->dims);
   d->found_way[d->found_count++] = s->way;
}

static void take(void *argument, const rkb_plan_decision_t *told) {
   struct decision_search *s = argument;
   struct decision *d = decision_of(s, told);
   const size_t bytes = s->dim_count * sizeof *s->dims;
   const uint32_t outcome = told->outcome ? 1 : 0, met = outcome ? MET_TRUE : MET_FALSE;
   const double distance = fabs(told->distance);
   if (!d)
      return;
   if (!d->seen[outcome]++)
      memcpy(d->first[outcome], s->dims, bytes);
   if (s->distances)
      s->distances[d - s->list] = told->distance;
   if (s->notes)
      d->met |= met;
   else if (decision_is_wanted(d) && d->met && !(d->met & met))
      keep(s, d);
   if (d->nearest > distance) {
      d->nearest = distance;
      d->is_nearer = true;
      memcpy(d->nearest_dims, s->dims, bytes);
   }
}

bool decision_search_at(struct decision_search *s, const int64_t *dims) {
   if (!s->left)
      return false;
   s->left--;
   s->next = 0;
   s->dims = dims;
   return s->kernel->survey_at(s->survey, dims, take, s);
}

/* Many shapes at once ------------------------------------------------------------------------------------------------------- */

/* The decision at this place, without adding it. */
static struct decision *known_decision(struct decision_search *s, uint64_t place) {
   if (s->next < s->count && s->list[s->next].place == place)
      return &s->list[s->next++];
   const uint32_t number = s->slots[slot_of(s, place)];
   s->next = number;
   return number ? &s->list[number - 1] : NULL;
}

struct news {
   struct decision_search *search;
   uint64_t *bits;
};

static void take_news(void *argument, const rkb_plan_decision_t *told) {
   const struct news *news = argument;
   const struct decision *d = known_decision(news->search, told->place);
   const uint32_t met = told->outcome ? MET_TRUE : MET_FALSE;
   if (d && (!decision_is_wanted(d) || (d->met & met)))
      return;
   const uint64_t hash = (told->place + met) * UINT64_C(0x9e3779b97f4a7c15);
   news->bits[hash >> 58] |= UINT64_C(1) << (hash >> 52 & 63);
}

bool decision_search_news(struct decision_search *s, const int64_t *dims, uint64_t bits[DECISION_NEWS]) {
   struct news news = {s, bits};
   _Static_assert(DECISION_NEWS == 64, "six bits of the hash are a word");
   memset(bits, 0, DECISION_NEWS * sizeof *bits);
   s->next = 0;
   return s->kernel->survey_at(s->survey, dims, take_news, &news);
}

static void note_nearest(const struct decision_search *s, struct decision *d,
                         const rkb_survey_decision_t *told) {
   for (uint64_t left = told->shapes; left; left &= left - 1) {
      const uint32_t n = (uint32_t)__builtin_ctzll(left);
      const double distance = fabs(told->distances[n]);
      if (d->nearest <= distance)
         continue;
      d->nearest = distance;
      d->is_nearer = true;
      memcpy(d->nearest_dims, s->shapes[n], s->dim_count * sizeof *s->dims);
   }
}

/* As take at each of the shapes.  The nearest shape is only asked for where the decision is wanted and divides nothing. */
static void take_one(struct decision_search *s, struct decision *d, const rkb_survey_decision_t *told) {
   const bool wanted = decision_is_wanted(d);
   for (uint32_t outcome = 0; outcome < 2; outcome++) {
      const uint64_t shapes = outcome ? told->outcomes : told->shapes & ~told->outcomes;
      const int64_t *first = shapes ? s->shapes[__builtin_ctzll(shapes)] : NULL;
      if (!first)
         continue;
      if (!d->seen[outcome])
         memcpy(d->first[outcome], first, s->dim_count * sizeof *first);
      d->seen[outcome] += (uint32_t)__builtin_popcountll(shapes);
      s->dims = first;
      if (wanted && d->met && !(d->met & (outcome ? MET_TRUE : MET_FALSE)))
         keep(s, d);
   }
   if (wanted && !d->divides)
      note_nearest(s, d, told);
}

/* A decision that is new must be added in its turn, so then the shapes are gone through one by one. */
static bool take_many(void *argument, const rkb_survey_decision_t *told, uint32_t count) {
   struct decision_search *s = argument;
   s->next = 0;
   for (uint32_t n = 0; n < count; n++)
      if (told[n].shapes && !known_decision(s, told[n].place))
         return false;
   s->next = 0;
   for (uint32_t n = 0; n < count; n++)
      if (told[n].shapes)
         take_one(s, known_decision(s, told[n].place), &told[n]);
   return true;
}

void decision_search_at_many(struct decision_search *s, int64_t (*dims)[MOST_SHAPE_DIMS], uint32_t count) {
   count = count < s->left ? count : s->left;
   for (uint32_t n = 0; n < count; n++)
      s->shapes[n] = dims[n];
   if (!s->notes && !s->distances && s->many->many(s->survey, s->shapes, count, take_many, s)) {
      s->left -= count;
      return;
   }
   for (uint32_t n = 0; n < count; n++)
      (void)decision_search_at(s, dims[n]);
}

/* Searches ---------------------------------------------------------------------------------------------------------------- */

/* Shapes that are evaluated when there are enough of them. */
struct waiting {
   uint32_t count;
   int64_t dims[RKB_SURVEY_SHAPES][MOST_SHAPE_DIMS];
};

static void evaluate_waiting(struct decision_search *s, struct waiting *waiting) {
   decision_search_at_many(s, waiting->dims, waiting->count);
   waiting->count = 0;
}

static int64_t *next_shape(struct decision_search *s, struct waiting *waiting) {
   if (waiting->count == RKB_SURVEY_SHAPES)
      evaluate_waiting(s, waiting);
   return waiting->dims[waiting->count++];
}

static void scan_dim(struct decision_search *s, const int64_t *from, uint32_t dim) {
   int64_t dims[MOST_SHAPE_DIMS];
   struct waiting waiting = {.count = 0};
   memcpy(dims, from, s->dim_count * sizeof *dims);
   const int64_t low = s->low[dim], high = s->high[dim];
   s->way = dim;
   for (int64_t value = low; value <= high && value - low < MOST_ALONG && s->left; value++) {
      dims[dim] = value;
      memcpy(next_shape(s, &waiting), dims, sizeof dims);
   }
   evaluate_waiting(s, &waiting);
   for (int64_t power = MOST_ALONG; power <= high; power += power / 8)
      for (int64_t value = power - 1; value <= power + 1 && value > low; value++) {
         dims[dim] = value < high ? value : high;
         (void)decision_search_at(s, dims);
      }
   s->way = MOST_SHAPE_DIMS;
}

void decision_search_scan(struct decision_search *s, const int64_t *from) {
   for (uint32_t dim = 0; dim < s->dim_count; dim++)
      scan_dim(s, from, dim);
}

static void mix(struct decision_search *s, struct waiting *waiting, const int64_t *a, const int64_t *b) {
   for (uint32_t chosen = 1; chosen + 1 < 1u << s->dim_count && chosen < 64; chosen++) {
      int64_t *dims = next_shape(s, waiting);
      for (uint32_t d = 0; d < s->dim_count; d++)
         dims[d] = chosen >> d & 1 ? a[d] : b[d];
   }
}

/* How often the decision had its rarer outcome among the shapes that changed a name of it; 0: never.  Remainders come last, since a division has one at most
 * sizes. */
static uint64_t rarity(const struct decision *d) {
   const uint64_t seen = d->seen[0] < d->seen[1] ? d->seen[0] : d->seen[1];
   return seen && d->divides ? seen + UINT32_MAX : seen;
}

/* The shapes at which the chosen decisions had their rarer outcome, each once: a network's launches decide the same at the same shapes. */
static uint32_t list_rare(const struct decision_search *s, const uint32_t *chosen, uint32_t count,
                          int64_t (*rare)[MOST_SHAPE_DIMS]) {
   const size_t bytes = s->dim_count * sizeof **rare;
   uint32_t distinct = 0;
   for (uint32_t n = 0; n < count; n++) {
      const struct decision *d = &s->list[chosen[n]];
      const int64_t *first = d->first[d->seen[1] < d->seen[0]];
      uint32_t had = 0;
      while (had < distinct && memcmp(rare[had], first, bytes) != 0)
         had++;
      if (had == distinct)
         memcpy(rare[distinct++], first, bytes);
   }
   return distinct;
}

/* The rarest ones first, so that a manifest cannot hide a pair behind others that come out both ways everywhere. */
void decision_search_cross(struct decision_search *s) {
   int64_t rare[MOST_CROSSED][MOST_SHAPE_DIMS];
   uint32_t chosen[MOST_CROSSED], count = 0;
   struct waiting waiting = {.count = 0};
   for (uint32_t k = 0; k < s->count; k++) {
      const uint32_t n = (s->turn + k) % s->count;
      const uint64_t own = rarity(&s->list[n]);
      uint32_t at = count < MOST_CROSSED ? count : MOST_CROSSED - 1;
      if (!own || (count == MOST_CROSSED && rarity(&s->list[chosen[at]]) <= own))
         continue;
      for (; at && rarity(&s->list[chosen[at - 1]]) > own; at--)
         chosen[at] = chosen[at - 1];
      chosen[at] = n;
      count += count < MOST_CROSSED;
   }
   const uint32_t distinct = list_rare(s, chosen, count, rare);
   for (uint32_t a = 0; a < distinct; a++)
      for (uint32_t b = a + 1; b < distinct && s->left; b++)
         mix(s, &waiting, rare[a], rare[b]);
   evaluate_waiting(s, &waiting);
}

/* A distance as a polynomial in two dims, counted in steps from a shape: one[0] + one[1] u + one[2] v + one[3] u v + one[4] u² + one[5] v². */
struct curve {
   double one[6];
};

static double at(const struct curve *c, double u, double v) {
   return c->one[0] + c->one[1] * u + c->one[2] * v + c->one[3] * u * v + c->one[4] * u * u +
          c->one[5] * v * v;
}

/* From the distances at (0,0), (1,0), (2,0), (0,1), (0,2), (1,1); whether those at (3,2) and (5,7) are as it says. */
static bool fit(const double *f, uint32_t apart, struct curve *c) {
   const double zero = f[0], a1 = f[apart] - zero, a2 = f[2 * apart] - zero, b1 = f[3 * apart] - zero,
                b2 = f[4 * apart] - zero;
   c->one[0] = zero;
   c->one[4] = (a2 - 2 * a1) / 2;
   c->one[1] = a1 - c->one[4];
   c->one[5] = (b2 - 2 * b1) / 2;
   c->one[2] = b1 - c->one[5];
   c->one[3] = f[5 * apart] - zero - a1 - b1;
   return fabs(at(c, 3, 2) - f[6 * apart]) < 0.25 && fabs(at(c, 5, 7) - f[7 * apart]) < 0.25 &&
          (c->one[1] != 0 || c->one[3] != 0 || c->one[4] != 0) &&
          (c->one[2] != 0 || c->one[3] != 0 || c->one[5] != 0);
}

/* The two dims, the shape from which they are counted, and a step of each that stays in the domain. */
struct plane {
   const int64_t *from;
   uint32_t dims[2];
   int64_t steps[2];
};

static bool at_plane(struct decision_search *s, const struct plane *plane, int64_t u, int64_t v) {
   int64_t dims[MOST_SHAPE_DIMS];
   memcpy(dims, plane->from, s->dim_count * sizeof *dims);
   dims[plane->dims[0]] += u * plane->steps[0];
   dims[plane->dims[1]] += v * plane->steps[1];
   return decision_search_at(s, dims);
}

static void follow(struct decision_search *s, const struct plane *plane, const struct curve *c) {
   const uint32_t i = plane->dims[0], j = plane->dims[1];
   const int64_t first = -((plane->from[i] - s->low[i]) / plane->steps[0]),
                 last = (s->high[i] - plane->from[i]) / plane->steps[0],
                 least = -((plane->from[j] - s->low[j]) / plane->steps[1]),
                 most = (s->high[j] - plane->from[j]) / plane->steps[1];
   uint32_t tried = 0;
   for (int64_t u = first; u <= last && u - first < MOST_CURVE && tried < MOST_ON_CURVE; u++) {
      const double x = (double)u, a = c->one[5], b = c->one[2] + c->one[3] * x,
                   rest = c->one[0] + c->one[1] * x + c->one[4] * x * x, under = b * b - 4 * a * rest;
      for (int sign = -1; sign <= (a != 0 ? 1 : -1); sign += 2) {
         const double root = a != 0 ? (-b + sign * sqrt(under)) / (2 * a) : -rest / b, v = round(root);
         if (!(v >= (double)least && v <= (double)most) || at(c, x, v) != 0)
            continue;
         tried++;
         (void)at_plane(s, plane, u, (int64_t)v);
      }
   }
}

static bool has_step(struct decision_search *s, struct plane *plane, uint32_t axis) {
   for (int64_t step = 1; step <= 128; step *= 2) {
      plane->steps[axis] = step;
      if (at_plane(s, plane, axis == 0 ? 1 : 0, axis == 1 ? 1 : 0))
         return true;
   }
   return false;
}

static void curves_of(struct decision_search *s, struct plane *plane) {
   static const int64_t points[CURVE_POINTS][2] = {{0, 0}, {1, 0}, {2, 0}, {0, 1},
                                                   {0, 2}, {1, 1}, {3, 2}, {5, 7}};
   uint32_t followed = 0, counts[CURVE_POINTS];
   bool inside = true;
   plane->steps[0] = plane->steps[1] = 1;
   if (!has_step(s, plane, 0) || !has_step(s, plane, 1))
      return;
   for (uint32_t n = 0; n < CURVE_POINTS && inside; n++) {
      for (uint32_t d = 0; d < s->count; d++)
         s->curves[n][d] = NAN;
      s->distances = s->curves[n];
      inside = at_plane(s, plane, points[n][0], points[n][1]);
      s->distances = NULL;
      counts[n] = s->count; /* a decision that is new here has its distance */
   }
   for (uint32_t n = 0; inside && n < CURVE_POINTS; n++)
      for (uint32_t d = counts[n]; d < s->count; d++)
         s->curves[n][d] = NAN;
   for (uint32_t d = 0; inside && d < s->count && followed < MOST_CURVES && s->left; d++) {
      struct curve curve;
      if (s->list[d].divides || s->list[d].is_value || !fit(&s->curves[0][d], MOST_DECISIONS, &curve))
         continue;
      followed++;
      follow(s, plane, &curve);
   }
}

void decision_search_curves(struct decision_search *s, const int64_t *from) {
   for (uint32_t i = 0; i < s->dim_count; i++)
      for (uint32_t j = i + 1; j < s->dim_count && s->left; j++) {
         struct plane plane = {from, {i, j}, {1, 1}};
         curves_of(s, &plane);
      }
}
