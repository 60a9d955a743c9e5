// SPDX-License-Identifier: Apache-2.0

#if THREAD_SANITIZER
  internal import Locking

  /// Replaces Synchronization's `Mutex`; see `PosixMutex`. It is a type of this module, so that its members are
  /// visible in every file.
  struct Mutex<Value>: ~Copyable, Sendable {
    private let mutex: PosixMutex<Value>

    init(_ initialValue: sending Value) { mutex = PosixMutex(initialValue) }

    borrowing func withLock<Result>(_ body: (inout sending Value) -> sending Result) -> sending Result {
      mutex.withLock(body)
    }
  }
#endif
