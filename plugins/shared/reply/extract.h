/* Finds the kernel in a model's reply: code between fences or bare, with prose around it, manifest and code
 * in one block or in two.  Pure; any thread. */
#ifndef PLUGIN_REPLY_EXTRACT_H
#define PLUGIN_REPLY_EXTRACT_H

#include <rkb/plugin.h>

#define EXTRACT_MOST_BYTES (256u << 10) /* most bytes of a candidate's source */

/* *source is malloc'd: one .cu text that begins with its manifest.  RKB_ERR_INVALID: the reply has no kernel,
 * and err->message says for the archive what it lacks.  Other values: memory ran out. */
int extract_kernel(const char *reply, size_t bytes, char **source, rkb_error_t *err);

#endif
