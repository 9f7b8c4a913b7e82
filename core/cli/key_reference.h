/* The keys of a pipeline file in words, from the table that its parser reads: for rkb help and docs/pipeline-files.md. */
#ifndef RKB_CLI_KEY_REFERENCE_H
#define RKB_CLI_KEY_REFERENCE_H

/* `rkb help pipeline`. */
void rkb_print_keys(void);
/* As a Markdown table: part "file" (the file and what lies in it) or "entry".  Returns enum rkb_exit: USAGE for another. */
int rkb_print_key_table(const char *part);

#endif
