/* The client's transfers, waiting and running, and the count of its open handles.  Loop thread only. */
#include <stdlib.h>
#include "system/http_curl.h"

static void append(transfer_list_t *list, rkb_http_transfer_t *transfer) {
   transfer->next = NULL;
   transfer->previous = list->last;
   *(list->last ? &list->last->next : &list->first) = transfer;
   list->last = transfer;
   list->count++;
}

static void take_out(transfer_list_t *list, rkb_http_transfer_t *transfer) {
   *(transfer->previous ? &transfer->previous->next : &list->first) = transfer->next;
   *(transfer->next ? &transfer->next->previous : &list->last) = transfer->previous;
   list->count--;
}

void rkb_http_handle_added(rkb_http_t *http) {
   http->handles++;
}

void rkb_http_handle_closed(rkb_http_t *http) {
   if (--http->handles > 0 || !http->freeing)
      return;
   free(http->ca_file);
   free(http);
   curl_global_cleanup();
}

void rkb_http_start_soon(rkb_http_t *http) {
   if (http->waiting.count && !http->freeing && !uv_is_active((uv_handle_t *)&http->start_timer))
      uv_timer_start(&http->start_timer, http->start_waiting, 0, 0);
}

void rkb_http_add_waiting(rkb_http_t *http, rkb_http_transfer_t *transfer) {
   append(&http->waiting, transfer);
   rkb_http_start_soon(http);
}

rkb_http_transfer_t *rkb_http_take_waiting(rkb_http_t *http) {
   rkb_http_transfer_t *transfer = http->waiting.first;
   take_out(&http->waiting, transfer);
   append(&http->running, transfer);
   transfer->phase = PHASE_CONNECTING;
   transfer->started = rkb_now_ns();
   http->connecting++;
   return transfer;
}

void rkb_http_forget(rkb_http_transfer_t *transfer) {
   rkb_http_t *http = transfer->http;
   if (transfer->phase == PHASE_WAITING) {
      take_out(&http->waiting, transfer);
      return;
   }
   if (transfer->phase == PHASE_CONNECTING)
      http->connecting--;
   take_out(&http->running, transfer);
   curl_multi_remove_handle(http->multi, transfer->easy);
   rkb_http_start_soon(http);
}

void rkb_http_connected(rkb_http_t *http) {
   http->connecting--;
   rkb_http_start_soon(http);
}
