// SPDX-License-Identifier: Apache-2.0

// What is used of libcurl's binary interface, which has kept these numbers and signatures since they were added.
// interface-check.c compares them with libcurl's own headers where these are installed.

#ifndef CCURL_LIBCURL_H
#define CCURL_LIBCURL_H

#include "CCurl.h"

struct curl_slist;

typedef struct {
  int kind;
  void *easy;
  union {
    void *whatever;
    int result;
  } data;
} CCurl_ended;

typedef struct {
  int (*global_init)(long flags);
  void *(*easy_init)(void);
  void (*easy_cleanup)(void *easy);
  int (*easy_setopt)(void *easy, int option, ...);
  int (*easy_getinfo)(void *easy, int information, ...);
  const char *(*easy_strerror)(int result);
  char *(*version)(void);
  struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
  void (*slist_free_all)(struct curl_slist *list);
  void *(*multi_init)(void);
  int (*multi_cleanup)(void *multi);
  int (*multi_setopt)(void *multi, int option, ...);
  int (*multi_add_handle)(void *multi, void *easy);
  int (*multi_remove_handle)(void *multi, void *easy);
  int (*multi_perform)(void *multi, int *running);
  int (*multi_poll)(void *multi, void *extra, unsigned int extra_count, int milliseconds, int *ready);
  int (*multi_wakeup)(void *multi);
  CCurl_ended *(*multi_info_read)(void *multi, int *remaining);
} CCurl_library;

extern CCurl_library libcurl;

void *CCurl_exchange_handle(const CCurl_exchange *exchange);

enum {
  CCURL_GLOBAL_DEFAULT = 3,
  CCURL_PROTO_HTTP = 1,
  CCURL_PROTO_HTTPS = 2,
  CCURL_SSLVERSION_TLSv1_2 = 6,
  CCURL_MSG_DONE = 1,
  CCURL_MOPT_MAX_HOST_CONNECTIONS = 7,
  CCURL_INFO_RESPONSE_CODE = 0x200002,
  CCURL_INFO_PRIVATE = 0x100015,
  CCURL_OPT_SSLVERSION = 32,
  CCURL_OPT_POST = 47,
  CCURL_OPT_FOLLOWLOCATION = 52,
  CCURL_OPT_SSL_VERIFYPEER = 64,
  CCURL_OPT_HTTPGET = 80,
  CCURL_OPT_SSL_VERIFYHOST = 81,
  CCURL_OPT_NOSIGNAL = 99,
  CCURL_OPT_TIMEOUT_MS = 155,
  CCURL_OPT_CONNECTTIMEOUT_MS = 156,
  CCURL_OPT_PROTOCOLS = 181,
  CCURL_OPT_PATH_AS_IS = 234,
  CCURL_OPT_WRITEDATA = 10001,
  CCURL_OPT_URL = 10002,
  CCURL_OPT_POSTFIELDS = 10015,
  CCURL_OPT_HTTPHEADER = 10023,
  CCURL_OPT_HEADERDATA = 10029,
  CCURL_OPT_CUSTOMREQUEST = 10036,
  CCURL_OPT_CAINFO = 10065,
  CCURL_OPT_PRIVATE = 10103,
  CCURL_OPT_WRITEFUNCTION = 20011,
  CCURL_OPT_HEADERFUNCTION = 20079,
  CCURL_OPT_MAXFILESIZE_LARGE = 30117,
  CCURL_OPT_POSTFIELDSIZE_LARGE = 30120,
};

#endif
