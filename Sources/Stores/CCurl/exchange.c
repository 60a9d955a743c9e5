// SPDX-License-Identifier: Apache-2.0

#include "libcurl.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  uint8_t *bytes;
  size_t length;
  size_t capacity;
} Buffer;

struct CCurl_exchange {
  void *easy;
  struct curl_slist *headers;
  uint8_t *request_body;
  Buffer head;
  Buffer body;
  size_t maximum_length;
  int is_too_large;
};

// What no honest server sends more of.
static const size_t maximum_head_length = 256 * 1024;

// Returns 0 where it would exceed the limit, or for want of memory.
static int append(Buffer *buffer, const void *bytes, size_t length, size_t limit) {
  if (length > limit || buffer->length > limit - length) return 0;
  if (buffer->length + length > buffer->capacity) {
    size_t capacity = buffer->capacity ? buffer->capacity : 4096;
    while (capacity < buffer->length + length) capacity *= 2;
    uint8_t *grown = realloc(buffer->bytes, capacity);
    if (!grown) return 0;
    buffer->bytes = grown;
    buffer->capacity = capacity;
  }
  memcpy(buffer->bytes + buffer->length, bytes, length);
  buffer->length += length;
  return 1;
}

// libcurl gives up when less than everything was taken.
static size_t take_body(char *bytes, size_t size, size_t count, void *context) {
  CCurl_exchange *exchange = context;
  if (append(&exchange->body, bytes, size * count, exchange->maximum_length)) return size * count;
  exchange->is_too_large = 1;
  return 0;
}

static size_t take_head(char *bytes, size_t size, size_t count, void *context) {
  CCurl_exchange *exchange = context;
  size_t length = size * count;
  // Another status line: what came before was an interim response.
  if (length >= 5 && memcmp(bytes, "HTTP/", 5) == 0) {
    exchange->head.length = 0;
    exchange->body.length = 0;
  }
  if (append(&exchange->head, bytes, length, maximum_head_length)) return length;
  exchange->is_too_large = 1;
  return 0;
}

static int add_header(CCurl_exchange *exchange, const char *line) {
  struct curl_slist *longer = libcurl.slist_append(exchange->headers, line);
  if (!longer) return 0;
  exchange->headers = longer;
  return 1;
}

static int configure(CCurl_exchange *exchange, const char *method, const char *url, size_t body_length,
                     long timeout_milliseconds, const char *authorities) {
  void *easy = exchange->easy;
  int failures = 0;
#define SET(option, value) failures |= libcurl.easy_setopt(easy, option, value)
  SET(CCURL_OPT_URL, url);
  SET(CCURL_OPT_PROTOCOLS, (long)(CCURL_PROTO_HTTP | CCURL_PROTO_HTTPS));
  SET(CCURL_OPT_FOLLOWLOCATION, 0L);
  SET(CCURL_OPT_NOSIGNAL, 1L);
  SET(CCURL_OPT_PATH_AS_IS, 1L);
  SET(CCURL_OPT_SSLVERSION, (long)CCURL_SSLVERSION_TLSv1_2);
  SET(CCURL_OPT_SSL_VERIFYPEER, 1L);
  SET(CCURL_OPT_SSL_VERIFYHOST, 2L);
  if (authorities) SET(CCURL_OPT_CAINFO, authorities);
  SET(CCURL_OPT_TIMEOUT_MS, timeout_milliseconds);
  SET(CCURL_OPT_CONNECTTIMEOUT_MS, timeout_milliseconds);
  SET(CCURL_OPT_MAXFILESIZE_LARGE, (int64_t)exchange->maximum_length);
  SET(CCURL_OPT_WRITEFUNCTION, take_body);
  SET(CCURL_OPT_WRITEDATA, exchange);
  SET(CCURL_OPT_HEADERFUNCTION, take_head);
  SET(CCURL_OPT_HEADERDATA, exchange);
  SET(CCURL_OPT_PRIVATE, exchange);
  SET(CCURL_OPT_HTTPHEADER, exchange->headers);
  if (strcmp(method, "GET") == 0) {
    SET(CCURL_OPT_HTTPGET, 1L);
  } else {
    if (exchange->request_body || strcmp(method, "DELETE") != 0) {
      SET(CCURL_OPT_POST, 1L);
      SET(CCURL_OPT_POSTFIELDSIZE_LARGE, (int64_t)body_length);
      SET(CCURL_OPT_POSTFIELDS, exchange->request_body ? (const char *)exchange->request_body : "");
    }
    SET(CCURL_OPT_CUSTOMREQUEST, method);
  }
#undef SET
  return failures == 0;
}

CCurl_exchange *CCurl_exchange_create(const char *method, const char *url, const char *const *headers,
                                      size_t header_count, const uint8_t *body, size_t body_length,
                                      size_t maximum_response_length, long timeout_milliseconds,
                                      const char *authorities) {
  CCurl_exchange *exchange = calloc(1, sizeof *exchange);
  if (!exchange) return NULL;
  exchange->maximum_length = maximum_response_length;
  exchange->easy = libcurl.easy_init();
  // No waiting for "100 Continue", and no content type but the caller's.
  int is_ready = exchange->easy && add_header(exchange, "Expect:");
  if (body) {
    exchange->request_body = malloc(body_length ? body_length : 1);
    if (exchange->request_body) memcpy(exchange->request_body, body, body_length);
    else is_ready = 0;
  } else {
    is_ready = is_ready && add_header(exchange, "Content-Type:");
  }
  for (size_t index = 0; is_ready && index < header_count; index++)
    is_ready = add_header(exchange, headers[index]);
  if (is_ready &&
      configure(exchange, method, url, body_length, timeout_milliseconds, authorities))
    return exchange;
  CCurl_exchange_free(exchange);
  return NULL;
}

void CCurl_exchange_free(CCurl_exchange *exchange) {
  if (!exchange) return;
  if (exchange->easy) libcurl.easy_cleanup(exchange->easy);
  libcurl.slist_free_all(exchange->headers);
  free(exchange->request_body);
  free(exchange->head.bytes);
  free(exchange->body.bytes);
  free(exchange);
}

void *CCurl_exchange_handle(const CCurl_exchange *exchange) { return exchange->easy; }

int CCurl_exchange_is_too_large(const CCurl_exchange *exchange) { return exchange->is_too_large; }

long CCurl_exchange_status(const CCurl_exchange *exchange) {
  long status = 0;
  libcurl.easy_getinfo(exchange->easy, CCURL_INFO_RESPONSE_CODE, &status);
  return status;
}

const uint8_t *CCurl_exchange_head(const CCurl_exchange *exchange, size_t *length) {
  *length = exchange->head.length;
  return exchange->head.bytes;
}

const uint8_t *CCurl_exchange_body(const CCurl_exchange *exchange, size_t *length) {
  *length = exchange->body.length;
  return exchange->body.bytes;
}

const char *CCurl_message(int result) { return libcurl.easy_strerror(result); }
