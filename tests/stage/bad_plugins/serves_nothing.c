/* A plugin that breaks one rule: serve without submit. */
#include "plugin/bad_objects/common.h"
ASYNCHRONOUS("serves_nothing", .submit = NULL);
EXPORT(BAD);
