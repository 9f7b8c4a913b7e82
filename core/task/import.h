/* `rkb task import`: turns PyTorch code into a task directory: a module or a function in a file, or an exported program. */
#ifndef RKB_TASK_IMPORT_H
#define RKB_TASK_IMPORT_H

#include <rkb/plugin.h>
#include "base/text.h"

typedef struct rkb_import {
   const char
      *file; /* FILE.py with Model and get_inputs or with a function, or FILE.pt2 of torch.export.save */
   const char *directory;     /* the task directory to make; it must not exist, its parent must exist */
   const char *const *dims;   /* "B=x:0", NULL-terminated, or NULL */
   const char *const *inputs; /* example inputs, "x=4x128:bfloat16", NULL-terminated, or NULL */
   const char *entry;         /* the function or class that is meant, or NULL */
   const char *python;        /* interpreter with PyTorch; NULL: what rkb_python_find finds */
} rkb_import_t;

/* Makes the directory and adds notes to report, one per line.  RKB_ERR_INVALID: something in the file is not covered; report then
 * lists everything that is not, one sentence per line.  After any failure nothing is left behind.  Runs the user's file in a
 * separate Python process with the caller's rights.  Blocks; any thread except the loop's. */
int rkb_task_import(const rkb_import_t *import, rkb_text_t *report, rkb_error_t *err);

#endif
