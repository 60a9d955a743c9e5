/* SPDX-License-Identifier: Apache-2.0
 *
 * Loaded before libc (LD_PRELOAD): makes one call fail or be the last that a process makes, and logs calls.
 *
 * FAULT_PATH    counts only calls on files whose path contains this
 * FAULT_KIND    write: write, pwrite, ftruncate, rename, link; sync: fsync, fdatasync
 * FAULT_AT      the number of the call, from 1; none without it
 * FAULT_ACTION  fail: nothing is done, -1 is returned
 *               torn: half of the bytes are written, -1 is returned
 *               done: the call takes place, -1 is returned all the same
 *               kill: the process ends instead (SIGKILL)
 *               power: the same, and of what was written and not synced a part is taken back, FAULT_SEED says which
 * FAULT_ERRNO   the number that errno is set to; EIO without it
 * FAULT_LASTING 1: every later call of the kind fails too
 * FAULT_LOG     a file that takes a line for each call: kind, name, bytes, result, path
 *
 * Writes to standard output are logged too, and never fail: they are acknowledgements.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind { KIND_WRITE, KIND_SYNC };
enum outcome { OUTCOME_NORMAL, OUTCOME_FAIL, OUTCOME_TORN, OUTCOME_DONE };

static struct {
  const char *path, *action;
  enum kind kind;
  long at;
  int error, lasting, log;
  unsigned seed;
} plan;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long counted;

/* What a write replaced, until its file is synced. */
struct replaced {
  struct replaced *earlier;
  int descriptor; /* ours, never closed: that would end the process's locks on the file */
  off_t offset, size_before;
  size_t count;
  unsigned char bytes[];
};
static struct replaced *unsynced;
static struct { dev_t device; ino_t number; int descriptor; } files[64];
static size_t file_count;

static const char *setting(const char *name, const char *otherwise) {
  const char *value = getenv(name);
  return value && *value ? value : otherwise;
}

static void read_plan(void) {
  plan.path = setting("FAULT_PATH", "/");
  plan.action = setting("FAULT_ACTION", "fail");
  plan.kind = strcmp(setting("FAULT_KIND", "write"), "sync") == 0 ? KIND_SYNC : KIND_WRITE;
  plan.at = atol(setting("FAULT_AT", "0"));
  plan.error = atoi(setting("FAULT_ERRNO", "5"));
  plan.lasting = atoi(setting("FAULT_LASTING", "0"));
  plan.seed = (unsigned)atoi(setting("FAULT_SEED", "1"));
  const char *log = setting("FAULT_LOG", NULL);
  plan.log = log ? (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
}

static const char *path_of(int descriptor, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t count = readlink(link, path, PATH_MAX - 1);
  path[count < 0 ? 0 : count] = 0;
  return path;
}

static void note(enum kind kind, const char *name, long bytes, const char *path, long result) {
  if (plan.log < 0) return;
  char line[PATH_MAX + 128];
  int count = snprintf(
      line, sizeof line, "%s %s %ld %ld %s\n", kind == KIND_SYNC ? "sync" : "write", name, bytes, result, path);
  syscall(SYS_write, plan.log, line, count);
}

static int our_descriptor(int descriptor, const struct stat *status) {
  for (size_t i = 0; i < file_count; i++)
    if (files[i].device == status->st_dev && files[i].number == status->st_ino) return files[i].descriptor;
  if (file_count == sizeof files / sizeof *files) abort();
  files[file_count].device = status->st_dev;
  files[file_count].number = status->st_ino;
  files[file_count].descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 500);
  return files[file_count++].descriptor;
}

/* Keeps the bytes from `offset` on that are about to be replaced or cut off. */
static void remember(int descriptor, off_t offset, size_t count) {
  struct stat status;
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return;
  struct replaced *write = calloc(1, sizeof *write + count);
  if (!write) abort();
  write->descriptor = our_descriptor(descriptor, &status);
  write->offset = offset;
  write->size_before = status.st_size;
  write->count = count;
  /* Beyond the end there are zeroes, as a file system leaves them. */
  (void)!pread(descriptor, write->bytes, count, offset);
  write->earlier = unsynced;
  unsynced = write;
}

static void forget(int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return;
  int ours = our_descriptor(descriptor, &status);
  for (struct replaced **place = &unsynced; *place;) {
    struct replaced *write = *place;
    if (write->descriptor == ours) {
      *place = write->earlier;
      free(write);
    } else {
      place = &write->earlier;
    }
  }
}

/* Loses a part of what was not synced, the latest first. */
static void take_back(void) {
  for (struct replaced *write = unsynced; write; write = write->earlier) {
    plan.seed = plan.seed * 1103515245u + 12345u;
    if (plan.seed >> 16 & 1) continue;
    struct stat status;
    if (write->count) syscall(SYS_pwrite64, write->descriptor, write->bytes, write->count, write->offset);
    if (fstat(write->descriptor, &status) == 0 && status.st_size == write->offset + (off_t)write->count)
      syscall(SYS_ftruncate, write->descriptor, write->size_before);
  }
}

/* Whether the call whose turn it is takes place. Holds the lock on return: calls are counted, made and logged in one
 * order. */
static enum outcome begin(enum kind kind, const char *path) {
  pthread_once(&once, read_plan);
  pthread_mutex_lock(&lock);
  if (kind != plan.kind || !strstr(path, plan.path) || plan.at == 0) return OUTCOME_NORMAL;
  counted++;
  if (counted != plan.at && !(plan.lasting && counted > plan.at)) return OUTCOME_NORMAL;
  note(kind, plan.action, 0, path, -1);
  if (strcmp(plan.action, "kill") == 0 || strcmp(plan.action, "power") == 0) {
    if (plan.action[0] == 'p') take_back();
    kill(getpid(), SIGKILL);
    for (;;) pause();
  }
  if (strcmp(plan.action, "torn") == 0) return OUTCOME_TORN;
  return strcmp(plan.action, "done") == 0 ? OUTCOME_DONE : OUTCOME_FAIL;
}

static long end(enum kind kind, const char *name, long bytes, const char *path, enum outcome outcome, long result) {
  int error = outcome == OUTCOME_NORMAL ? errno : plan.error;
  if (outcome != OUTCOME_NORMAL) result = -1;
  note(kind, name, bytes, path, result);
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}

static int is_power(const char *path) { return strcmp(plan.action, "power") == 0 && strstr(path, plan.path) != NULL; }

static long put(const char *name, int descriptor, const void *bytes, size_t count, off_t offset, int has_offset) {
  char path[PATH_MAX];
  if (descriptor == STDOUT_FILENO || descriptor == STDERR_FILENO) {
    pthread_once(&once, read_plan);
    pthread_mutex_lock(&lock);
    long written = syscall(SYS_write, descriptor, bytes, count);
    return end(KIND_WRITE, name, (long)count, descriptor == STDOUT_FILENO ? "stdout" : "stderr", OUTCOME_NORMAL, written);
  }
  enum outcome outcome = begin(KIND_WRITE, path_of(descriptor, path));
  size_t done = outcome == OUTCOME_TORN ? count / 2 : outcome == OUTCOME_FAIL ? 0 : count;
  long result = 0;
  if (outcome != OUTCOME_FAIL) {
    if (is_power(path)) remember(descriptor, has_offset ? offset : lseek(descriptor, 0, SEEK_CUR), done);
    result = has_offset ? syscall(SYS_pwrite64, descriptor, bytes, done, offset)
                        : syscall(SYS_write, descriptor, bytes, done);
  }
  return end(KIND_WRITE, name, (long)count, path, outcome, result);
}

ssize_t write(int descriptor, const void *bytes, size_t count) { return put("write", descriptor, bytes, count, 0, 0); }

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
  return put("pwrite", descriptor, bytes, count, offset, 1);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
  return put("pwrite", descriptor, bytes, count, offset, 1);
}

int ftruncate(int descriptor, off_t length) {
  char path[PATH_MAX];
  struct stat status;
  enum outcome outcome = begin(KIND_WRITE, path_of(descriptor, path));
  long result = 0;
  if (outcome == OUTCOME_NORMAL || outcome == OUTCOME_DONE) {
    if (is_power(path) && fstat(descriptor, &status) == 0)
      remember(descriptor, length, status.st_size > length ? (size_t)(status.st_size - length) : 0);
    result = syscall(SYS_ftruncate, descriptor, length);
  }
  return (int)end(KIND_WRITE, "ftruncate", (long)length, path, outcome, result);
}

int ftruncate64(int descriptor, off64_t length) { return ftruncate(descriptor, length); }

static int rename_or_link(const char *name, const char *from, const char *to) {
  enum outcome outcome = begin(KIND_WRITE, to);
  long result = 0;
  if (outcome == OUTCOME_NORMAL || outcome == OUTCOME_DONE)
    result = name[0] == 'r' ? syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0)
                            : syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
  return (int)end(KIND_WRITE, name, 0, to, outcome, result);
}

int rename(const char *from, const char *to) { return rename_or_link("rename", from, to); }

int link(const char *from, const char *to) { return rename_or_link("link", from, to); }

static int sync_file(const char *name, int descriptor, long number) {
  char path[PATH_MAX];
  enum outcome outcome = begin(KIND_SYNC, path_of(descriptor, path));
  long result = 0;
  if (outcome == OUTCOME_NORMAL || outcome == OUTCOME_DONE) {
    result = syscall(number, descriptor);
    if (is_power(path)) forget(descriptor);
  }
  return (int)end(KIND_SYNC, name, 0, path, outcome, result);
}

int fsync(int descriptor) { return sync_file("fsync", descriptor, SYS_fsync); }

int fdatasync(int descriptor) { return sync_file("fdatasync", descriptor, SYS_fdatasync); }
