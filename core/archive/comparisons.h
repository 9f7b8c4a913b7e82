/* The tables and columns that `rkb diff` compares.  Rows come in the order of their key, without times and
 * paths.  Rows whose stage does not promise reproducible results are left out. */
#ifndef RKB_ARCHIVE_COMPARISONS_H
#define RKB_ARCHIVE_COMPARISONS_H

enum { RKB_COMPARISON_MAX_COLUMNS = 20 };

typedef struct rkb_comparison {
   const char *what;                                    /* the name of a row in messages */
   int key_columns;                                     /* the first columns; rows are sorted by them */
   const char *columns[RKB_COMPARISON_MAX_COLUMNS + 1]; /* names for messages, NULL-terminated */
   const char *sql;
} rkb_comparison_t;

extern const rkb_comparison_t rkb_comparisons[];
extern const int rkb_comparison_count;
/* A query that counts the rows left out because their stage does not promise to reproduce them. */
extern const char rkb_comparison_left_out[];
extern const char
   rkb_comparison_limited[]; /* a query for candidates whose build met a compiler limit, ascending */

#endif
