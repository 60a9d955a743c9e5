// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CChildProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int spawn(char *const arguments[], int input, int output, int errors, pid_t *identifier) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t defaults;
  int failure = posix_spawn_file_actions_init(&actions);
  if (failure != 0) return failure;
  failure = posix_spawnattr_init(&attributes);
  if (failure != 0) {
    posix_spawn_file_actions_destroy(&actions);
    return failure;
  }
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  sigaddset(&defaults, SIGXFSZ);
  if ((failure = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)) == 0 &&
      (failure = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)) == 0 &&
      (failure = posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)) == 0 &&
      (failure = posix_spawnattr_setsigdefault(&attributes, &defaults)) == 0 &&
      (failure = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID)) == 0) {
    failure = posix_spawnp(identifier, arguments[0], &actions, &attributes, arguments, environ);
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failure;
}

int CChildProcess_start(char *const arguments[], uint64_t memory_limit, struct CChildProcess *child) {
  int to_child[2] = {-1, -1}, from_child[2] = {-1, -1};
  int errors = memfd_create("standard error", MFD_CLOEXEC);
  int failure = 0;
  if (errors < 0 || pipe2(to_child, O_CLOEXEC) != 0 || pipe2(from_child, O_CLOEXEC) != 0 ||
      fcntl(to_child[1], F_SETFL, O_NONBLOCK) != 0) {
    failure = errno;
  } else {
    failure = spawn(arguments, to_child[0], from_child[1], errors, &child->identifier);
  }
  if (to_child[0] >= 0) close(to_child[0]);
  if (from_child[1] >= 0) close(from_child[1]);
  if (failure != 0) {
    if (errors >= 0) close(errors);
    if (to_child[1] >= 0) close(to_child[1]);
    if (from_child[0] >= 0) close(from_child[0]);
    return failure;
  }
  child->input = to_child[1];
  child->output = from_child[0];
  child->errors = errors;
  if (memory_limit != 0) {
    const struct rlimit limit = {memory_limit, memory_limit};
    if (prlimit(child->identifier, RLIMIT_AS, &limit, NULL) != 0) {
      failure = errno;
      kill(child->identifier, SIGKILL);
      waitpid(child->identifier, NULL, 0);
      close(child->input);
      close(child->output);
      close(child->errors);
    }
  }
  return failure;
}
