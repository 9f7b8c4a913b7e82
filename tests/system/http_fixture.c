/* Starts and stops http_server.py; it ends by itself when the pipe to its standard input closes. */
#include "http_fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool read_ports(int file, http_server_t *server) {
   FILE *stream = fdopen(file, "r");
   bool good = stream && fscanf(stream, "%d %d %d", &server->plain, &server->tls, &server->silent) == 3;
   if (stream)
      fclose(stream);
   return good;
}

bool http_server_start(http_server_t *server) {
   int input[2], output[2];
   strcpy(server->folder, "/tmp/rkb-http-XXXXXX");
   if (!mkdtemp(server->folder) || pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0)
      return false;
   server->process = fork();
   if (server->process == 0) {
      dup2(input[0], STDIN_FILENO);
      dup2(output[1], STDOUT_FILENO);
      execlp("python3", "python3", RKB_SOURCE_DIR "/tests/system/http_server.py", server->folder,
             (char *)NULL);
      _exit(127);
   }
   close(input[0]);
   close(output[1]);
   server->keep_open = input[1];
   return server->process > 0 && read_ports(output[0], server);
}

void http_server_stop(http_server_t *server) {
   char path[64];
   close(server->keep_open);
   waitpid(server->process, NULL, 0);
   snprintf(path, sizeof path, "%s/cert.pem", server->folder);
   unlink(path);
   snprintf(path, sizeof path, "%s/key.pem", server->folder);
   unlink(path);
   rmdir(server->folder);
}
