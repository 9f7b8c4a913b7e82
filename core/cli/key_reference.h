/* The keys of a pipeline file and of its models in words, from the tables that their readers use: for rkb help and docs/. */
#ifndef RKB_CLI_KEY_REFERENCE_H
#define RKB_CLI_KEY_REFERENCE_H

/* `rkb help pipeline`. */
void rkb_print_pipeline_keys(void);
/* As a Markdown table: part "file" (the file and what lies in it), "entry" or "model".  Returns enum rkb_exit: USAGE for another. */
int rkb_print_key_table(const char *part);

#endif
