/* Extension rkb.prompt/1: core/services/prompt for plugins. */
#include "engine/extensions.h"
#include "services/prompt/prompt.h"

const rkb_prompt_api_t RKB_PROMPT_API = {
   .size = sizeof RKB_PROMPT_API, .fill = rkb_prompt_fill, .free = rkb_prompt_filled_free};
