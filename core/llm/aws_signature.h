/* Signature Version 4 of Amazon Web Services, for POST requests without a query whose body is JSON.  Pure; any thread.
 * Source: IAM user guide, 'Create a signed AWS API request'.  libcurl 7.88 signs too, but it signs a path that holds escapes wrongly
 * (it does not escape them once more), and Bedrock's paths hold model names with colons. */
#ifndef RKB_LLM_AWS_SIGNATURE_H
#define RKB_LLM_AWS_SIGNATURE_H

#include <time.h>
#include "base/text.h"

typedef struct rkb_aws_request {
   const char *keys;   /* "ID:SECRET" or "ID:SECRET:TOKEN" */
   const char *region; /* "us-east-1" */
   const char *service;
   const char *url; /* "https://host[:port]/path" */
   const char *body;
   time_t now;
} rkb_aws_request_t;

/* Appends the headers X-Amz-Date, X-Amz-Security-Token (with a TOKEN) and Authorization, as "Name: value" lines. */
void rkb_aws_sign(const rkb_aws_request_t *request, rkb_text_t *out);

/* Appends a text in which every byte is escaped except letters, digits and "-._~"; keep_slashes leaves
 * slashes too. */
void rkb_aws_escape(const char *text, bool keep_slashes, rkb_text_t *out);

#endif
