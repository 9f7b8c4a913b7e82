/* Stands in for the HTTP client in a build without libcurl: every attempt reports that there is no client. */
#include "system/http.h"

int rkb_http_new(rkb_loop_t *loop, const rkb_http_options_t *options, rkb_http_t **http, rkb_error_t *err) {
   (void)loop;
   (void)options;
   (void)http;
   return rkb_fail(err, RKB_ERR_UNAVAILABLE,
                   "this build has no HTTP client: it was made without libcurl (RKB_HTTP=OFF)");
}

void rkb_http_free(rkb_http_t *http) {
   (void)http;
}

int rkb_http_start(rkb_http_t *http, const rkb_http_request_t *request, rkb_http_transfer_t **transfer,
                   rkb_error_t *err) {
   (void)http;
   (void)request;
   (void)transfer;
   return rkb_fail(err, RKB_ERR_UNAVAILABLE, "this build has no HTTP client");
}

void rkb_http_cancel(rkb_http_transfer_t *transfer) {
   (void)transfer;
}

rkb_http_state_t rkb_http_state(const rkb_http_t *http) {
   (void)http;
   return (rkb_http_state_t){0};
}
