/* What two archives are compared by: for each table, rows in the order of their key, without times, paths and whatever a
 * stage does not promise to reproduce. */
#ifndef RKB_ARCHIVE_COMPARISONS_H
#define RKB_ARCHIVE_COMPARISONS_H

enum { RKB_COMPARISON_MAX_COLUMNS = 20 };

typedef struct rkb_comparison {
   const char *what;                                    /* a row, for messages */
   int key_columns;                                     /* the first ones; rows come in their order */
   const char *columns[RKB_COMPARISON_MAX_COLUMNS + 1]; /* names for messages, NULL-terminated */
   const char *sql;
} rkb_comparison_t;

extern const rkb_comparison_t rkb_comparisons[];
extern const int rkb_comparison_count;
/* Rows that are left out because their stage does not promise to reproduce them: one integer. */
extern const char rkb_comparison_left_out[];
extern const char
   rkb_comparison_limited[]; /* candidates whose build a limit of the compiler decided, ascending */

#endif
