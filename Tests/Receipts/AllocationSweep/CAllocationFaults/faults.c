// SPDX-License-Identifier: Apache-2.0
#include "CAllocationFaults.h"

#include <stdatomic.h>
#include <stdlib.h>

#include <openssl/crypto.h>

static _Thread_local struct {
  int is_active, is_forever;
  long count, failing;
} state;

static atomic_long live;
static int is_installed;

static int fails(void) {
  if (!state.is_active) return 0;
  long number = ++state.count;
  if (state.failing == 0) return 0;
  return state.is_forever ? number >= state.failing : number == state.failing;
}

static void *allocate(size_t size, const char *file, int line) {
  (void)file, (void)line;
  if (fails()) return NULL;
  void *pointer = malloc(size);
  if (pointer != NULL) atomic_fetch_add(&live, 1);
  return pointer;
}

static void release(void *pointer, const char *file, int line) {
  (void)file, (void)line;
  if (pointer == NULL) return;
  atomic_fetch_sub(&live, 1);
  free(pointer);
}

static void *reallocate(void *pointer, size_t size, const char *file, int line) {
  if (pointer == NULL) return allocate(size, file, line);
  if (size == 0) {
    release(pointer, file, line);
    return NULL;
  }
  if (fails()) return NULL;
  return realloc(pointer, size);
}

// Before libcrypto allocates anything: afterwards it no longer lets its functions be replaced.
__attribute__((constructor)) static void install(void) {
  is_installed = CRYPTO_set_mem_functions(allocate, reallocate, release);
}

int AllocationFaults_are_installed(void) { return is_installed; }

void AllocationFaults_begin(long number, int forever) {
  state.count = 0;
  state.failing = number;
  state.is_forever = forever;
  state.is_active = 1;
}

long AllocationFaults_end(void) {
  state.is_active = 0;
  return state.count;
}

long AllocationFaults_live(void) { return atomic_load(&live); }
