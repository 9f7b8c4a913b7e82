/* What `rkb diff` compares: for each table, rows in the order of their key, without times, paths, and rows whose stage does not
 * promise to reproduce them. */
#ifndef RKB_ARCHIVE_COMPARISONS_H
#define RKB_ARCHIVE_COMPARISONS_H

enum { RKB_COMPARISON_MAX_COLUMNS = 20 };

typedef struct rkb_comparison {
   const char *what;                                    /* what a row is called in messages */
   int key_columns;                                     /* the first columns; rows are sorted by them */
   const char *columns[RKB_COMPARISON_MAX_COLUMNS + 1]; /* names for messages, NULL-terminated */
   const char *sql;
} rkb_comparison_t;

extern const rkb_comparison_t rkb_comparisons[];
extern const int rkb_comparison_count;
/* A query for the number of rows that are left out because their stage does not promise to reproduce them. */
extern const char rkb_comparison_left_out[];
extern const char
   rkb_comparison_limited[]; /* a query for candidates whose build met a compiler limit, ascending */

#endif
