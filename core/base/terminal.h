/* Makes text harmless for a terminal.  Names, messages and sources come from candidates, servers and archives.  A terminal reads some bytes as control
 * sequences, which set colours, titles or the clipboard, and on some terminals type text.  Main thread, before other threads start. */
#ifndef RKB_BASE_TERMINAL_H
#define RKB_BASE_TERMINAL_H

/* From here on stdout and stderr show control characters as \u001b and bytes that are not UTF-8 as U+FFFD, if they are terminals.  Tabs and ends of lines
 * pass.  The program's own progress display writes to the descriptor, past the filter.  If memory is out, nothing changes. */
void rkb_terminal_guard(void);

#endif
