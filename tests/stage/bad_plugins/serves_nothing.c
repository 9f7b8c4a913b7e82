/* A plugin that breaks one rule: serve without submit. */
#include "common.h"
ASYNCHRONOUS("serves_nothing", .submit = NULL);
EXPORT(BAD);
