/* Checks whether a pipeline's models can be reached (model_reachability.h).  Each model has a check of its own; all run
 * at once on one loop. */
#include "llm/model_reachability.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "base/nearest_name.h"
#include "llm/api_keys.h"
#include "llm/provider.h"

/* A reachable server accepts a connection at once; one on a busy machine takes a while. */
#define CONNECT_NS 10000000000ull
#define TOTAL_NS 30000000000ull /* limit for one request; checking a model takes two requests at most */
#define MOST_HEADERS 6
#define MOST_LISTED 4096

typedef struct looking looking_t;

typedef struct look {
   looking_t *all;
   const rkb_model_t *model;
   char *key;       /* or NULL */
   bool by_name;    /* the request in progress names the model; else it asks for the list */
   rkb_text_t headers;
   rkb_presence_report_t report;
} look_t;

struct looking {
   rkb_loop_t *loop;
   rkb_http_t *http;
   uint32_t pending;
   look_t *list;
   uint32_t count;
};

static void say(look_t *look, uint32_t state, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void say(look_t *look, uint32_t state, const char *format, ...) {
   va_list arguments;
   look->report.state = state;
   va_start(arguments, format);
   vsnprintf(look->report.text, sizeof look->report.text, format, arguments);
   va_end(arguments);
}

/* The part of base_url that names the server. */
static int server_bytes(const look_t *look) {
   const char *url = look->model->base_url, *host = strstr(url, "://");
   host = host ? host + 3 : url;
   return (int)(host - url + (ptrdiff_t)strcspn(host, "/?"));
}

static void finish(look_t *look) {
   if (--look->all->pending == 0)
      rkb_loop_stop(look->all->loop);
}

static void ask(look_t *look, bool by_name);

/* Reads a list of models: {"data": [{"id": ...}, ...]}. */
static void read_list(look_t *look, const json_t *data) {
   const char *names[MOST_LISTED + 1], *wanted = look->model->face.model;
   uint32_t count = 0;
   for (size_t i = 0; i < json_array_size(data) && count < MOST_LISTED; i++) {
      const char *name = rkb_json_text_of(json_array_get(data, i), "id");
      if (strcmp(name, wanted) == 0) {
         say(look, RKB_PRESENCE_FOUND, "the server lists it");
         return;
      }
      if (name[0])
         names[count++] = name;
   }
   names[count] = NULL;
   const char *near = rkb_nearest(wanted, names);
   say(look, RKB_PRESENCE_UNKNOWN, "%.*s has no model '%.100s'%s%.100s%s%s%.100s%s", server_bytes(look), look->model->base_url, wanted,
       near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "", !near && count ? "; it has '" : "",
       !near && count ? names[0] : "", !near && count ? (count > 1 ? "' and others" : "'") : "");
}

static void read_answer(look_t *look, const rkb_http_reply_t *reply) {
   rkb_error_t err = {0};
   json_t *root = reply->status == 200 && reply->body ? rkb_json_parse(reply->body, reply->body_bytes, &err) : NULL;
   const json_t *data = json_object_get(root, "data");
   /* The list did not have the model.  The server may still know the name, for example as an alias; only
    * status 200 for the name overrides the list. */
   if (look->report.state == RKB_PRESENCE_UNKNOWN && reply->status != 200)
      ;
   else if (reply->outcome != RKB_HTTP_DONE)
      say(look, RKB_PRESENCE_UNREACHABLE, "%.500s", reply->message);
   else if ((reply->status == 401 || reply->status == 403) && look->key)
      say(look, RKB_PRESENCE_REFUSED, "%.*s does not take the key (status %d)", server_bytes(look), look->model->base_url, reply->status);
   else if (look->by_name && reply->status == 200)
      say(look, RKB_PRESENCE_FOUND, "the server knows it");
   else if (look->by_name && reply->status == 404)
      say(look, RKB_PRESENCE_UNKNOWN, "%.*s has no model '%.100s'", server_bytes(look), look->model->base_url, look->model->face.model);
   else if (!look->by_name && json_is_array(data))
      read_list(look, data);
   else
      say(look, RKB_PRESENCE_UNTOLD, "%.*s answers (status %d), but does not say which models it has", server_bytes(look),
          look->model->base_url, reply->status);
   json_decref(root);
}

static void on_done(void *argument, const rkb_http_reply_t *reply) {
   look_t *look = argument;
   read_answer(look, reply);
   if (look->report.state == RKB_PRESENCE_UNKNOWN && !look->by_name)
      ask(look, true);
   finish(look);
}

static void ask(look_t *look, bool by_name) {
   const rkb_model_t *model = look->model;
   const char *lines[MOST_HEADERS + 1] = {NULL};
   const rkb_llm_question_t question = {.size = sizeof question, .user = "", .temperature = -1};
   uint32_t count = 0;
   rkb_text_t url;
   rkb_error_t err = {0};
   rkb_text_init(&url, 8192);
   rkb_text_append(&url, model->base_url, strcspn(model->base_url, "?"));
   if (model->provider->presence)
      model->provider->presence(model, by_name, &url);
   rkb_text_clear(&look->headers);
   model->provider->headers(&(rkb_provider_request_t){.model = model, .question = &question, .key = look->key, .url = rkb_text_get(&url),
                                                      .body = "", .now = time(NULL)},
                            &look->headers);
   for (char *line = look->headers.data; line && *line && count < MOST_HEADERS; count++) {
      lines[count] = line;
      line += strcspn(line, "\n");
      if (*line)
         *line++ = '\0';
   }
   look->by_name = by_name;
   const rkb_http_request_t request = {.size = sizeof request, .url = rkb_text_get(&url), .headers = lines, .connect_ns = CONNECT_NS,
                                       .idle_ns = TOTAL_NS, .total_ns = TOTAL_NS, .done = on_done, .arg = look};
   look->all->pending++;
   if (rkb_http_start(look->all->http, &request, NULL, &err) != RKB_OK) {
      say(look, RKB_PRESENCE_UNREACHABLE, "%.500s", err.message);
      look->all->pending--;
   }
   rkb_text_free(&url);
}

static bool looked_for(const rkb_model_t *model) {
   return model->base_url && !model->replay && !model->unused && model->check;
}

static void start(look_t *look, bool send_keys) {
   const rkb_model_t *model = look->model;
   rkb_error_t err = {0};
   if (rkb_key_read(model, &look->key, &err) != RKB_OK) {
      say(look, RKB_PRESENCE_NO_KEY, "%.600s", err.message);
      return;
   }
   if (look->key && (!model->provider->presence || (!send_keys && !model->own_address))) {
      explicit_bzero(look->key, strlen(look->key));
      free(look->key);
      look->key = NULL;
   }
   ask(look, model->provider->presence && !model->provider->lists_models);
}

void rkb_models_look_for(const rkb_models_t *models, bool send_keys, void (*tell)(void *argument, const rkb_presence_report_t *report),
                         void *argument) {
   looking_t all = {0};
   rkb_error_t err = {0};
   const uint32_t most = rkb_models_count(models);
   all.list = rkb_allocate(most + 1, sizeof *all.list);
   for (uint32_t i = 0; i < most; i++)
      if (looked_for(&models->list[i]))
         all.list[all.count++] = (look_t){.all = &all, .model = &models->list[i], .report = {.model = models->list[i].face.name}};
   if (all.count && rkb_loop_new(&all.loop, &err) == RKB_OK && rkb_http_new(all.loop, NULL, &all.http, &err) == RKB_OK) {
      all.pending = 1;
      for (uint32_t i = 0; i < all.count; i++) {
         rkb_text_init(&all.list[i].headers, 32u << 10);
         start(&all.list[i], send_keys);
      }
      if (--all.pending)
         rkb_loop_run(all.loop);
   } else {
      for (uint32_t i = 0; i < all.count; i++)
         say(&all.list[i], RKB_PRESENCE_UNREACHABLE, "%.600s", err.message);
   }
   for (uint32_t i = 0; i < all.count; i++) {
      look_t *look = &all.list[i];
      tell(argument, &look->report);
      if (look->headers.data)
         explicit_bzero(look->headers.data, look->headers.room);
      rkb_text_free(&look->headers);
      if (look->key)
         explicit_bzero(look->key, strlen(look->key));
      free(look->key);
   }
   rkb_http_free(all.http);
   rkb_loop_free(all.loop);
   free(all.list);
}
