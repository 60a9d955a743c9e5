// SPDX-License-Identifier: Apache-2.0

#include "libcurl.h"

#include <stdlib.h>

struct CCurl_group {
  void *multi;
};

CCurl_group *CCurl_group_create(long maximum_connections_per_host) {
  CCurl_group *group = calloc(1, sizeof *group);
  if (!group) return NULL;
  group->multi = libcurl.multi_init();
  if (!group->multi) {
    free(group);
    return NULL;
  }
  libcurl.multi_setopt(group->multi, CCURL_MOPT_MAX_HOST_CONNECTIONS, maximum_connections_per_host);
  return group;
}

void CCurl_group_free(CCurl_group *group) {
  if (!group) return;
  libcurl.multi_cleanup(group->multi);
  free(group);
}

int CCurl_group_add(CCurl_group *group, CCurl_exchange *exchange) {
  return libcurl.multi_add_handle(group->multi, CCurl_exchange_handle(exchange)) == 0;
}

void CCurl_group_remove(CCurl_group *group, CCurl_exchange *exchange) {
  libcurl.multi_remove_handle(group->multi, CCurl_exchange_handle(exchange));
}

void CCurl_group_perform(CCurl_group *group) {
  int running = 0;
  libcurl.multi_perform(group->multi, &running);
}

CCurl_exchange *CCurl_group_next_ended(CCurl_group *group, int *result) {
  int remaining = 0;
  CCurl_ended *message;
  while ((message = libcurl.multi_info_read(group->multi, &remaining))) {
    if (message->kind != CCURL_MSG_DONE) continue;
    CCurl_exchange *exchange = NULL;
    void *easy = message->easy;
    *result = message->data.result;
    libcurl.easy_getinfo(easy, CCURL_INFO_PRIVATE, &exchange);
    // The message is gone with the handle.
    libcurl.multi_remove_handle(group->multi, easy);
    return exchange;
  }
  return NULL;
}

void CCurl_group_wait(CCurl_group *group, int milliseconds) {
  libcurl.multi_poll(group->multi, NULL, 0, milliseconds, NULL);
}

void CCurl_group_wake(CCurl_group *group) { libcurl.multi_wakeup(group->multi); }
