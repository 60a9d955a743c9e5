// SPDX-License-Identifier: Apache-2.0

// The few calls of libcurl that a transport needs, found when they are first needed: a tool that never asks
// anybody neither loads libcurl nor needs it installed, and building needs none of its headers.

#ifndef CCURL_H
#define CCURL_H

#include <stddef.h>
#include <stdint.h>

// Loads libcurl, once. Returns 0 where there is none, or one older than 7.68 (January 2020).
int CCurl_load(void);
// libcurl's name and version and those of its libraries, static; NULL where it cannot be loaded.
const char *CCurl_version(void);

typedef struct CCurl_exchange CCurl_exchange;
typedef struct CCurl_group CCurl_group;

// A request. Everything is copied. headers are lines "Name: value"; body may be NULL. authorities is the path of
// a file of trusted certificates in PEM, or NULL for the system's. Returns NULL for want of memory.
CCurl_exchange *CCurl_exchange_create(const char *method, const char *url, const char *const *headers,
                                      size_t header_count, const uint8_t *body, size_t body_length,
                                      size_t maximum_response_length, long timeout_milliseconds,
                                      const char *authorities);
void CCurl_exchange_free(CCurl_exchange *exchange);

// Whether the response was longer than allowed.
int CCurl_exchange_is_too_large(const CCurl_exchange *exchange);
// The status of the last response; 0 where none came.
long CCurl_exchange_status(const CCurl_exchange *exchange);
// The header lines of the last response, status line included, as they came.
const uint8_t *CCurl_exchange_head(const CCurl_exchange *exchange, size_t *length);
const uint8_t *CCurl_exchange_body(const CCurl_exchange *exchange, size_t *length);
// libcurl's words for a result, static.
const char *CCurl_message(int result);

// Requests under way together, on one thread; only wake may be called from another.
CCurl_group *CCurl_group_create(long maximum_connections_per_host);
void CCurl_group_free(CCurl_group *group);
// 1 when it was added.
int CCurl_group_add(CCurl_group *group, CCurl_exchange *exchange);
void CCurl_group_remove(CCurl_group *group, CCurl_exchange *exchange);
// Does what can be done without waiting.
void CCurl_group_perform(CCurl_group *group);
// The next exchange that ended, removed from the group, and libcurl's result for it; NULL when there is none.
CCurl_exchange *CCurl_group_next_ended(CCurl_group *group, int *result);
// Waits until something can be done, or somebody wakes it.
void CCurl_group_wait(CCurl_group *group, int milliseconds);
void CCurl_group_wake(CCurl_group *group);

#endif
