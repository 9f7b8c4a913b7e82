/* The names of a folder's entries, in an order that does not depend on the file system.  Any thread. */
#ifndef RKB_BASE_FOLDER_NAMES_H
#define RKB_BASE_FOLDER_NAMES_H

/* The names of a folder's entries in the order of their bytes, without those that begin with a dot.  ending: lists only names that end with this text and are
 * longer; NULL: all names.  NULL ends the list, which the caller gives to rkb_folder_names_free.  NULL when the folder cannot be read; errno says why. */
char **rkb_folder_names(const char *folder, const char *ending);
void rkb_folder_names_free(char **names); /* accepts NULL */

#endif
