/* Makes text harmless for a terminal.  Names, messages and sources come from candidates, servers and archives, and a terminal takes some
 * bytes for control sequences (colours, titles, the clipboard, and on some the keyboard).  Main thread, before any other. */
#ifndef RKB_BASE_TERMINAL_H
#define RKB_BASE_TERMINAL_H

/* From here on the streams stdout and stderr, where they are terminals, show control characters as \u001b and bytes that are no UTF-8
 * as U+FFFD.  Tabs and ends of lines pass.  A program's own pictures go to the descriptor.  Where memory is out nothing changes. */
void rkb_terminal_guard(void);

#endif
