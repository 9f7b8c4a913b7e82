/* Extension rkb.prompt/1: core/prompt for plugins. */
#include "stage/extensions.h"
#include "prompt/prompt.h"

const rkb_prompt_api_t RKB_PROMPT_API = {
   .size = sizeof RKB_PROMPT_API, .fill = rkb_prompt_fill, .free = rkb_prompt_filled_free};
