/* Finds a Python that has PyTorch.  Keeps nothing after a call; blocks the calling thread. */
#include "task/python.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "system/process.h"

#define ANSWER_DEADLINE_NS (60 * UINT64_C(1000000000))

/* The variables of the caller's environment that Python and PyTorch may need.  Unset variables are left out. */
uint32_t rkb_python_environment(char *out[RKB_PYTHON_VARIABLES]) {
   static const char *const names[] = {
      "PATH", "HOME", "LANG", "TMPDIR", "PYTHONPATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV"};
   uint32_t count = 0;
   _Static_assert(sizeof names / sizeof names[0] < RKB_PYTHON_VARIABLES, "room for NULL");
   for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
      const char *value = getenv(names[i]);
      if (value)
         out[count++] = rkb_format("%s=%s", names[i], value);
   }
   out[count] = NULL;
   return count;
}

bool rkb_python_ask(const char *python, const char *code, char *line, size_t size) {
   const char *const arguments[] = {python, "-c", code, NULL};
   char *environment[RKB_PYTHON_VARIABLES];
   uint32_t passed = rkb_python_environment(environment);
   rkb_process_spec_t spec = {.size = sizeof spec,
                              .arguments = arguments,
                              .environment = (const char *const *)environment,
                              .deadline_ns = ANSWER_DEADLINE_NS};
   rkb_process_result_t *result = NULL;
   rkb_error_t err;
   bool answered = rkb_process_run(&spec, NULL, NULL, &result, &err) == RKB_OK && !result->timed_out &&
                   result->signal == 0 && result->exit_code == 0;
   for (uint32_t i = 0; i < passed; i++)
      free(environment[i]);
   line[0] = '\0';
   if (answered)
      snprintf(line, size, "%.*s", (int)strcspn(result->output, "\n"), result->output);
   rkb_process_result_free(result);
   return answered;
}

/* Whether PyTorch is installed.  Does not load it, because loading takes seconds. */
static bool has_pytorch(const char *python) {
   char line[16];
   return rkb_python_ask(python, "import importlib.util as u; print(u.find_spec('torch') is not None)", line,
                         sizeof line) &&
          strcmp(line, "True") == 0;
}

const char *rkb_python_find(void) {
   static const char *const usual[] = {"python3", "/usr/bin/python3"};
   const char *chosen = getenv("RKB_PYTHON");
   if (chosen && chosen[0])
      return chosen;
   for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
      if (has_pytorch(usual[i]))
         return usual[i];
   return usual[0];
}
