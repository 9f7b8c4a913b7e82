/* Starts and ends the keeper (confined.h).  Loop thread; any thread may use the socket to the server. */
#include "stage/confined/confined.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <rkb/ext/confined.h>
#include "base/memory.h"
#include "stage/confined/confined_server.h"
#include "task/task.h"

bool rkb_confined_wanted(const rkb_stage_t *stage) {
   const char *const *needs = stage ? RKB_NEEDS(stage) : NULL;
   for (; needs && *needs; needs++)
      if (strcmp(*needs, RKB_EXT_CONFINED) == 0)
         return true;
   return false;
}

int rkb_confined_open(const rkb_pipeline_t *pipeline, const rkb_confined_work_t *work, rkb_confined_t **confined, rkb_error_t *err) {
   bool wanted = false;
   int ends[2];
   *confined = NULL;
   for (uint32_t i = 0; i < pipeline->entry_count; i++)
      wanted |= rkb_confined_wanted(pipeline->entries[i].stage);
   if (!wanted)
      return RKB_OK;
   if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
      return rkb_fail(err, RKB_ERR_IO, "no socket for the processes of jobs: %s", strerror(errno));
   rkb_task_before_forks();
   const pid_t keeper = fork();
   if (keeper == 0) {
      close(ends[0]);
      confined_keep(pipeline, work, ends[1]);
   }
   close(ends[1]);
   if (keeper < 0) {
      close(ends[0]);
      return rkb_fail(err, RKB_ERR_IO, "no process for jobs: %s", strerror(errno));
   }
   *confined = rkb_allocate(1, sizeof **confined);
   **confined = (rkb_confined_t){.keeper = keeper, .control = ends[0], .pipeline = pipeline};
   rkb_text_t layers;
   rkb_text_init(&layers, sizeof(*confined)->layers);
   if (rkb_confined_layers(&layers))
      snprintf((*confined)->layers, sizeof(*confined)->layers, "%s", rkb_text_get(&layers));
   rkb_text_free(&layers);
   return RKB_OK;
}

void rkb_confined_close(rkb_confined_t *confined) {
   if (!confined)
      return;
   close(confined->control); /* this ends the server, and the server's end ends the keeper */
   while (waitpid(confined->keeper, NULL, 0) < 0 && errno == EINTR)
      continue;
   free(confined);
}

