/* A plugin that breaks one rule: no entry. */
#include "common.h"
RKB_EXPORT int something_else(void);
RKB_EXPORT int something_else(void) {
   return CANDIDATE[0] == VERDICT[0];
}
