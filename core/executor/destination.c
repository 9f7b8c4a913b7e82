/* Reads --on, and makes the executor that it names (executor.h).  Any thread. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "executor/process_executor.h"
#include "executor/slurm_executor.h"

enum { MAX_HOSTS = 1000, MAX_HOST = 255 };

/* Whether a host's name is safe to pass on.  ssh would read a name with a dash in front as an option, and a name with a blank would become two words. */
static bool host_ok(const char *host, size_t length) {
   if (length == 0 || length > MAX_HOST || host[0] == '-')
      return false;
   for (size_t i = 0; i < length; i++)
      if (!isgraph((unsigned char)host[i]))
         return false;
   return true;
}

static int read_hosts(const char *text, rkb_destination_t *destination, rkb_error_t *err) {
   uint32_t count = 0;
   destination->hosts = rkb_allocate(MAX_HOSTS + 1, sizeof *destination->hosts);
   while (text) {
      const char *comma = strchr(text, ',');
      size_t length = comma ? (size_t)(comma - text) : strlen(text);
      if (!host_ok(text, length) || count == MAX_HOSTS) {
         rkb_destination_free(destination);
         return rkb_fail(err, RKB_ERR_INVALID,
                         "--on ssh: wants the names of 1 to %d hosts with commas between them, as in "
                         "ssh:one,user@two; '%.*s' is no such name",
                         MAX_HOSTS, length > MAX_HOST ? MAX_HOST : (int)length, text);
      }
      destination->hosts[count++] = rkb_duplicate_part(text, length);
      text = comma ? comma + 1 : NULL;
   }
   return RKB_OK;
}

int rkb_destination_read(const char *text, rkb_destination_t *destination, rkb_error_t *err) {
   *destination = (rkb_destination_t){.operations = &rkb_local_executor};
   if (!text || strcmp(text, "local") == 0)
      return RKB_OK;
   if (strcmp(text, "slurm") == 0) {
      destination->operations = &rkb_slurm_executor;
      return RKB_OK;
   }
   if (strncmp(text, "ssh:", 4) == 0) {
      destination->operations = &rkb_ssh_executor;
      return read_hosts(text + 4, destination, err);
   }
   return rkb_fail(err, RKB_ERR_INVALID, "--on wants local, slurm, or ssh:HOST,HOST; not '%.100s'", text);
}

void rkb_destination_free(rkb_destination_t *destination) {
   for (char **host = destination->hosts; host && *host; host++)
      free(*host);
   free(destination->hosts);
   destination->hosts = NULL;
}

rkb_executor_t *rkb_executor_new(const rkb_destination_t *destination,
                                 const rkb_executor_options_t *options) {
   if (destination->operations == &rkb_slurm_executor)
      return rkb_slurm_executor_new(options);
   return rkb_process_executor_new(destination, options);
}
