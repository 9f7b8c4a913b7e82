/* rkb/draft/http.h - HTTP requests, whole or streamed.  Draft extension "rkb.draft.http/0".
 *
 * A draft may change or go (docs/decisions/drafts.md): no shipped plugin uses it yet.
 *
 * Everything runs on the loop.  TLS is always verified, proxies come from the environment (https_proxy, http_proxy,
 * all_proxy, no_proxy), redirects are not followed, and each transfer has limits on its connection, its silence, its
 * whole duration and the size of its reply.  New connections are opened a few at a time.
 */
#ifndef RKB_DRAFT_HTTP_H
#define RKB_DRAFT_HTTP_H

#include <rkb/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RKB_DRAFT_HTTP "rkb.draft.http/0"

/* How a transfer ended. */
enum rkb_http_outcome {
   RKB_HTTP_DONE = 0,        /* a whole reply arrived, whatever its status code */
   RKB_HTTP_CANCELLED,
   RKB_HTTP_NAME_FAILED,     /* the server's or the proxy's name has no address */
   RKB_HTTP_CONNECT_FAILED,
   RKB_HTTP_CONNECT_TIMEOUT, /* resolving, connecting and the TLS handshake together */
   RKB_HTTP_TLS_FAILED,      /* no handshake, or a certificate that does not verify */
   RKB_HTTP_IDLE_TIMEOUT,    /* no byte came for idle_ns */
   RKB_HTTP_TOTAL_TIMEOUT,
   RKB_HTTP_BROKEN,          /* the connection ended in the middle of the reply, or before it */
   RKB_HTTP_TOO_LARGE,       /* more than reply_limit bytes, or 64 KiB of headers */
   RKB_HTTP_MALFORMED,       /* not HTTP */
   RKB_HTTP_NO_MEMORY
};

/* A server-sent event (WHATWG HTML, 'Server-sent events').  Pointers live until the callback returns. */
typedef struct rkb_http_event {
   const char *type; /* "message" unless the server said otherwise */
   const char *data; /* well-formed UTF-8, NUL-terminated; lines joined by '\n' */
   size_t data_bytes;
   const char *id;   /* the last one seen, or "" */
} rkb_http_event_t;

typedef struct rkb_http_reply {
   uint32_t size;
   uint32_t outcome;      /* enum rkb_http_outcome */
   int32_t status;        /* 200, 429, ...; 0 when no status line came */
   bool sent;             /* some of the request may have reached the server; false: it surely saw nothing */
   bool streamed;         /* the reply was an event stream, given to event */
   bool partial_event;    /* the stream ended inside an event, which was dropped */
   const char *message;   /* one sentence for a person, "" for RKB_HTTP_DONE; names the host, never the path or headers */
   const char *body;      /* of a reply that was not streamed; NUL-terminated */
   size_t body_bytes;
   const char *headers;   /* "Name: value\n" lines of the final reply; rkb_http_header finds one */
   uint64_t received_bytes; /* of the reply's body */
   uint64_t waited_ns;    /* for its turn to connect */
   uint64_t connected_ns; /* from its turn until the request was sent; 0 when it never was */
   uint64_t first_byte_ns; /* from its turn until the first byte of the body; 0 when none came */
   uint64_t total_ns;     /* from submit to the end */
} rkb_http_reply_t;

typedef struct rkb_http_request {
   uint32_t size;
   uint32_t reserved;
   const char *method;          /* NULL: "POST" with a body, "GET" without */
   const char *url;             /* http:// or https:// */
   const char *const *headers;  /* "Name: value", NULL-terminated, or NULL */
   const void *body;            /* copied */
   size_t body_bytes;
   uint64_t connect_ns;         /* 0: 30 s */
   uint64_t idle_ns;            /* from the request's sending on; 0: 120 s */
   uint64_t total_ns;           /* from its turn on; 0: 15 minutes */
   size_t reply_limit;          /* bytes of the reply's body; 0: 4 MiB */

   /* Optional: asks for an event stream, and gets its events.  A reply of another type, and any with a status other than
    * 200, comes whole in the reply's body.  [loop] */
   void (*event)(void *arg, const rkb_http_event_t *event);
   /* Called exactly once, never from submit; reply lives until it returns.  [loop] */
   void (*done)(void *arg, const rkb_http_reply_t *reply);
   void *arg;
} rkb_http_request_t;

typedef struct rkb_http_transfer rkb_http_transfer_t;

typedef struct rkb_http_api {
   uint32_t size;
   uint32_t reserved;

   /* Queues a request; it is not kept.  *transfer (may be NULL) lives until done returns.  Any value but RKB_OK: done is not
    * called.  [loop] */
   int (*submit)(const rkb_host_t *host, rkb_job_t job, const rkb_http_request_t *request, rkb_http_transfer_t **transfer,
                 rkb_error_t *err);
   /* Ends it with RKB_HTTP_CANCELLED, soon, and closes its connection.  From event too; not after done.  [loop] */
   void (*cancel)(rkb_http_transfer_t *transfer);
} rkb_http_api_t;

/* Copies the value of a header (name in lower case) of a reply; false when there is none or it does not fit. */
static inline bool rkb_http_header(const rkb_http_reply_t *reply, const char *name, char *value, size_t size) {
   const char *line = reply->headers;
   while (line && *line) {
      const char *a = line, *b = name;
      while (*b && (*a >= 'A' && *a <= 'Z' ? *a + 32 : *a) == *b) {
         a++;
         b++;
      }
      if (*b == '\0' && *a == ':') {
         size_t length = 0;
         a++;
         while (*a == ' ' || *a == '\t')
            a++;
         while (a[length] && a[length] != '\n')
            length++;
         if (length >= size)
            return false;
         for (size_t i = 0; i < length; i++)
            value[i] = a[i];
         value[length] = '\0';
         return true;
      }
      while (*line && *line != '\n')
         line++;
      line += *line == '\n';
   }
   return false;
}

#ifdef __cplusplus
}
#endif
#endif
