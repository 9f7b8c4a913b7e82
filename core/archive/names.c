/* The names of the archive's enumerations in its columns, and request keys.  Pure functions. */
#include "archive/archive_internal.h"

#include <string.h>
#include <time.h>

static const char *const section_names[] = {"", "propose", "search"};
static const char *const answer_names[] = {"", "listed", "ok", "wait", "done", "fill"};
static const char *const state_names[] = {"", "open", "screened", "finished"};
static const char *const promotion_names[] = {"open", "passed", "not promoted", "none"};
static const char *const dialogue_names[] = {"", "ask", "tell"};

#define COUNT_OF(names) ((uint32_t)(sizeof(names) / sizeof((names)[0])))

static const char *name_of(const char *const *names, uint32_t count, uint32_t value) {
   return value < count ? names[value] : "";
}

static uint32_t value_of(const char *const *names, uint32_t count, const char *name) {
   for (uint32_t i = 0; name && i < count; i++)
      if (strcmp(names[i], name) == 0)
         return i;
   return 0;
}

const char *rkb_section_name(uint32_t section) {
   return name_of(section_names, COUNT_OF(section_names), section);
}

const char *rkb_answer_name(uint32_t answer) {
   return name_of(answer_names, COUNT_OF(answer_names), answer);
}

const char *rkb_state_name(uint32_t state) {
   return name_of(state_names, COUNT_OF(state_names), state);
}

const char *rkb_promotion_name(uint32_t promotion) {
   return name_of(promotion_names, COUNT_OF(promotion_names), promotion);
}

const char *rkb_strategy_record_name(uint32_t what) {
   return name_of(dialogue_names, COUNT_OF(dialogue_names), what);
}

uint32_t rkb_answer_parse(const char *name) {
   return value_of(answer_names, COUNT_OF(answer_names), name);
}

uint32_t rkb_state_parse(const char *name) {
   return value_of(state_names, COUNT_OF(state_names), name);
}

uint32_t rkb_promotion_parse(const char *name) {
   return value_of(promotion_names, COUNT_OF(promotion_names), name);
}

uint32_t rkb_strategy_record_parse(const char *name) {
   return value_of(dialogue_names, COUNT_OF(dialogue_names), name);
}

int64_t rkb_request_key(uint32_t section, int64_t number) {
   return section == RKB_SECTION_PROPOSE ? -(number + 1) : number;
}

uint32_t rkb_request_key_section(int64_t key) {
   return key < 0 ? RKB_SECTION_PROPOSE : RKB_SECTION_SEARCH;
}

int64_t rkb_request_key_number(int64_t key) {
   return key < 0 ? -key - 1 : key;
}

int64_t rkb_wall_clock_ms(void) {
   struct timespec now;
   clock_gettime(CLOCK_REALTIME, &now);
   return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
