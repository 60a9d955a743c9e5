// SPDX-License-Identifier: Apache-2.0

#ifndef CCHILDPROCESS_H
#define CCHILDPROCESS_H

#include <stdint.h>
#include <sys/types.h>

/// A child process, in a session of its own. The descriptors are the parent's ends.
struct CChildProcess {
  pid_t identifier;
  /// Its standard input, for writing, which does not block.
  int input;
  /// Its standard output, for reading.
  int output;
  /// A file in memory with what it writes to standard error.
  int errors;
};

/// Starts a program, which is searched for in PATH, with the arguments up to NULL. Signals that the parent ignores have
/// their default action in it. A memory_limit other than 0 is the maximum size of its address space, in bytes; if it
/// cannot be set, the program is ended.
///
/// Returns 0, or the error number; then nothing is open.
int CChildProcess_start(
    char *const _Nullable arguments[_Nonnull], uint64_t memory_limit, struct CChildProcess *_Nonnull child);

#endif
