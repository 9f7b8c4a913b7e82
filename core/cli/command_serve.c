/* rkb serve: serves the report pages of the runs in a folder over HTTP while the runs go on (serve/).  Only
 * the main thread. */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include "base/units.h"
#include "cli/commands.h"
#include "cli/shared/run_archive.h"

#ifdef RKB_SERVES
#include "cli/serve/server.h"

enum { TOKEN_BYTES = 16, TOKEN_TEXT = 2 * TOKEN_BYTES + 1 };

static bool is_loopback(const char *address) {
   return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

static bool draw_token(char token[TOKEN_TEXT]) {
   unsigned char bytes[TOKEN_BYTES];
   if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
      return false;
   for (int i = 0; i < TOKEN_BYTES; i++)
      snprintf(token + 2 * i, 3, "%02x", bytes[i]);
   return true;
}

static int run(const rkb_arguments_t *arguments) {
   const char *address = rkb_argument(arguments, "address"), *written = rkb_argument(arguments, "port");
   char token[TOKEN_TEXT];
   struct stat state;
   int64_t port = 8000;
   rkb_error_t err = {0};
   server_options_t options = {.folder = rkb_positional(arguments, 0), .address = address ? address : "127.0.0.1"};
   if (written && (!rkb_parse_int(written, &port) || port < 0 || port > 65535)) {
      fprintf(stderr, "--port takes a number from 0 to 65535, not '%s'\n", written);
      return RKB_EXIT_USAGE;
   }
   options.port = (uint16_t)port;
   if (stat(options.folder, &state) != 0 || !S_ISDIR(state.st_mode)) {
      fprintf(stderr, "%s is no folder\n", options.folder);
      return RKB_EXIT_USAGE;
   }
   if (!is_loopback(options.address) || rkb_argument_given(arguments, "token")) {
      if (!draw_token(token)) {
         fprintf(stderr, "no random bytes for a token\n");
         return RKB_EXIT_BROKEN;
      }
      options.token = token;
   }
   return server_run(&options, &err) == RKB_OK ? RKB_EXIT_OK : rkb_say_error(&err);
}
#else
static int run(const rkb_arguments_t *arguments) {
   (void)arguments;
   fprintf(stderr, "this rkb was built without libmicrohttpd, which serves the pages; apt-get install libmicrohttpd-dev and build rkb again,\n"
                   "or write a page with rkb report DIR --html FILE\n");
   return RKB_EXIT_BROKEN;
}
#endif

static const rkb_cli_option_t options[] = {
   {"port", "N", "The port to listen at; 0: any free one (default: 8000).", false},
   {"address", "ADDRESS", "The numeric address to listen at (default: 127.0.0.1); at any other than loopback a token is asked for.", false},
   {"token", NULL, "Ask for a token on loopback too, where other users of this machine could look.", false},
   {NULL, NULL, NULL, false},
};

const rkb_command_t rkb_command_serve = {
   .name = "serve",
   .arguments = "FOLDER",
   .summary = "Show the runs and sweeps in a folder in a browser, while they run.",
   .details = "FOLDER is a folder of runs, a run or a sweep.  The address to open is printed, with its token if there is one.  Each page is that of\n"
              "'rkb report --html', and follows its run.  ^C ends the server (docs/report-page.md).\n"
              "Exit: 0 ended, 2 usage, 3 the address cannot be listened at.\n",
   .options = options,
   .least = 1,
   .most = 1,
   .run = run,
};
