/* The tools that runs use, and whether this machine has them; for rkb doctor and for --dry-run. */
#ifndef RKB_CLI_SHARED_INSTALLED_TOOLS_H
#define RKB_CLI_SHARED_INSTALLED_TOOLS_H

#include <stdbool.h>

enum rkb_tool {
   RKB_TOOL_COMPILER,
   RKB_TOOL_SANDBOX,
   RKB_TOOL_MACHINE_SANDBOX,
   RKB_TOOL_DRIVER,
   RKB_TOOL_PLUGINS,
   RKB_TOOL_TASKS,
   RKB_TOOL_DEVICES,
   RKB_TOOL_CACHE,
   RKB_TOOL_PARSER,
   RKB_TOOL_PYTORCH,
   RKB_TOOL_CUPTI,
   RKB_TOOL_NVML,
   RKB_TOOL_NCU,
   RKB_TOOL_SANITIZER,
   RKB_TOOL_COUNT
};

typedef struct rkb_tool_report {
   const char *name; /* "CUDA compiler (NVRTC)" */
   bool found;
   char detail[512];     /* which tool it is and where it lies, or why it is missing */
   const char *disables; /* what does not work without it */
   const char *remedy;   /* how to get it */
} rkb_tool_report_t;

/* Looks for one tool.  Most checks take milliseconds; RKB_TOOL_PYTORCH starts Python. */
void rkb_tool_look(enum rkb_tool tool, rkb_tool_report_t *report);

#endif
