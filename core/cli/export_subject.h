/* The meaning of an exported kernel's names, from its task.  Only the main thread. */
#ifndef RKB_CLI_EXPORT_SUBJECT_H
#define RKB_CLI_EXPORT_SUBJECT_H

#include "cli/shared/candidate_file.h"
#include "kernel/export.h"

enum { EXPORT_MOST_NAMES = 256 };

typedef struct export_subject {
   rkb_export_subject_t of; /* borrows from the file and from the arrays below */
   rkb_export_tensor_t tensors[EXPORT_MOST_NAMES];
   rkb_export_let_t lets[EXPORT_MOST_NAMES];
   const char *dims[EXPORT_MOST_NAMES], *attributes[EXPORT_MOST_NAMES];
} export_subject_t;

/* Free it with export_subject_free, before the file.  NULL, after a message, when there is none. */
export_subject_t *export_subject_new(const rkb_candidate_file_t *file);

#endif
