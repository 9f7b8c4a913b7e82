/* Reads /proc (process_memory.h).  Owns nothing. */
#include "system/process_memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

uint64_t rkb_process_resident(pid_t pid) {
   char path[64], text[128] = "";
   unsigned long pages = 0;
   snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
   const int file = open(path, O_RDONLY | O_CLOEXEC);
   if (file < 0)
      return 0;
   const ssize_t got = read(file, text, sizeof text - 1);
   close(file);
   if (got <= 0 || sscanf(text, "%*u %lu", &pages) != 1)
      return 0;
   return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
