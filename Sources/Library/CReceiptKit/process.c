/* SPDX-License-Identifier: Apache-2.0 */

#define _GNU_SOURCE

#include "receiptkit_process.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

/* Calls hold this lock for reading, and a fork holds it for writing. A waiting fork comes before new calls, since there may be
 * a call at every moment. */
static pthread_rwlock_t work = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

void receiptkit_work_begin(void) { pthread_rwlock_rdlock(&work); }

void receiptkit_work_end(void) { pthread_rwlock_unlock(&work); }

static void before_fork(void) { pthread_rwlock_wrlock(&work); }

static void after_fork_in_parent(void) { pthread_rwlock_unlock(&work); }

/* The threads that waited for the lock are not in the child, so it is made anew. */
static void after_fork_in_child(void) {
  pthread_rwlock_t unlocked = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
  work = unlocked;
}

__attribute__((constructor)) static void register_fork_handlers(void) {
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

struct share {
  void (*work)(void *);
  void *context;
};

static void *run_share(void *argument) {
  const struct share *share = argument;
  share->work(share->context);
  return NULL;
}

/* The processors that this thread may use, which a container or taskset limits: more threads would take turns. */
static size_t usable_processors(void) {
#ifdef __linux__
  cpu_set_t processors;
  if (sched_getaffinity(0, sizeof processors, &processors) == 0) return (size_t)CPU_COUNT(&processors);
#endif
  return SIZE_MAX;
}

void receiptkit_on_threads(size_t count, void (*function)(void *), void *context) {
  const size_t usable = usable_processors();
  if (count > usable) count = usable;
  struct share share = {function, context};
  pthread_t *threads = count > 1 ? calloc(count - 1, sizeof *threads) : NULL;
  size_t created = 0;
  if (threads != NULL) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    while (created < count - 1 && pthread_create(&threads[created], NULL, run_share, &share) == 0) created++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
  }
  run_share(&share);
  for (size_t index = 0; index < created; index++) pthread_join(threads[index], NULL);
  free(threads);
}
