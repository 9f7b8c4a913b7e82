/* A folder of kernels as a labelled corpus: right/ and wrong/ hold .cu files, and folders below wrong/ are kinds of fault (wrong/race/a.cu).
 * Each kernel's manifest names its task and direction.  The main thread alone. */
#ifndef RKB_CLI_JUDGE_LABELLED_FOLDER_H
#define RKB_CLI_JUDGE_LABELLED_FOLDER_H

#include <stdbool.h>
#include <rkb/plugin.h>

bool rkb_labelled_folder_is(const char *path);
/* Makes the folder's table, in the form that labelled_corpus.h reads; owned.  RKB_ERR_INVALID names a file
 * whose manifest cannot be read. */
int rkb_labelled_folder_table(const char *path, char **table, rkb_error_t *err);

#endif
