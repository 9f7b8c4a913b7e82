/* A stage over two drafts (rkb/draft/): asks a server on the loop thread, and completes its job when the reply has come. */
#include <stdlib.h>
#include <rkb/draft/asynchronous.h>
#include <rkb/draft/http.h>
#include <rkb/items.h>

typedef struct config {
   const char *url;
} config_t;

typedef struct fetch {
   const rkb_host_t *host;
   const config_t *config;
   const rkb_asynchronous_api_t *asynchronous;
   const rkb_http_api_t *http;
} fetch_t;

typedef struct asked {
   const fetch_t *fetch;
   rkb_job_t job;
} asked_t;

static void done(void *argument, const rkb_http_reply_t *reply) {
   asked_t *asked = argument;
   const fetch_t *fetch = asked->fetch;
   rkb_error_t err = {0};
   int status = RKB_OK;
   if (reply->outcome == RKB_HTTP_CONNECT_FAILED)
      status = rkb_emit_verdict(fetch->host, asked->job, RKB_SUSPECT, "test.nobody_there", reply->message);
   else
      status = rkb_fail(&err, RKB_ERR_CANCELLED, "outcome %u: %s", reply->outcome, reply->message);
   fetch->asynchronous->job_complete(fetch->host, asked->job, status, &err);
   free(asked);
}

static int submit(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const fetch_t *fetch = self;
   asked_t *asked = malloc(sizeof *asked);
   (void)in;
   if (!asked)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   *asked = (asked_t){fetch, job};
   const rkb_http_request_t request = {
      .size = sizeof request, .url = fetch->config->url, .done = done, .arg = asked};
   int status = fetch->http->submit(fetch->host, job, &request, NULL, err);
   if (status != RKB_OK)
      free(asked);
   return status;
}

static int create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   static const rkb_asynchronous_stage_t served = {.size = sizeof served, .submit = submit};
   fetch_t *fetch = malloc(sizeof *fetch);
   if (!fetch)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   *fetch = (fetch_t){host, config, host->get_extension(host, RKB_DRAFT_ASYNCHRONOUS),
                      host->get_extension(host, RKB_DRAFT_HTTP)};
   int status = fetch->asynchronous->serve(host, &served, err);
   if (status == RKB_OK)
      *self = fetch;
   else
      free(fetch);
   return status;
}

static int run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   (void)self, (void)job, (void)in;
   return rkb_fail(err, RKB_ERR_INTERNAL, "run was called in place of submit");
}

static void destroy(void *self) {
   free(self);
}

static const rkb_option_t OPTIONS[] = {{.name = "url",
                                        .type = RKB_OPT_STRING,
                                        .flags = RKB_OPT_REQUIRED,
                                        .offset = offsetof(config_t, url),
                                        .help = "What is asked for."}};

static const rkb_stage_t FETCH = {.size = sizeof(rkb_stage_t),
                                  .kind = RKB_VERIFIER,
                                  .id = "test.verifier.fetch",
                                  .summary = "Asks a server.",
                                  .accepts = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
                                  .emits = (const char *const[]){RKB_ITEM_VERDICT, NULL},
                                  RKB_OPTIONS(OPTIONS),
                                  .config_size = sizeof(config_t),
                                  .create = create,
                                  .run = run,
                                  .destroy = destroy,
                                  .needs =
                                     (const char *const[]){RKB_DRAFT_ASYNCHRONOUS, RKB_DRAFT_HTTP, NULL}};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {RKB_PLUGIN_HEAD, .name = "drafts", .version = "1",
                                                  .stages = (const rkb_stage_t *const[]){&FETCH, NULL}};
