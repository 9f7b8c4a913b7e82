/* Describes the keys of a pipeline file, of its models and of a kernel's manifest, from the tables that their readers use, for rkb help and docs/. */
#ifndef RKB_CLI_KEY_REFERENCE_H
#define RKB_CLI_KEY_REFERENCE_H

/* `rkb help pipeline`. */
void rkb_print_pipeline_keys(void);
/* `rkb help manifest`. */
void rkb_print_manifest_keys(void);
/* Prints a Markdown table.  part is "file" (the file and its sections), "entry" or "model"; otherwise returns RKB_EXIT_USAGE. */
int rkb_print_key_table(const char *part);

#endif
