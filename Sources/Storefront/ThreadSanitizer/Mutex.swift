// SPDX-License-Identifier: Apache-2.0

#if THREAD_SANITIZER
  internal import ThreadSanitizing

  /// Stands in for Synchronization's `Mutex`; see `SanitizedMutex`. A type of this module, whose members are at hand in
  /// every file of it.
  struct Mutex<Value>: ~Copyable, Sendable {
    private let mutex: SanitizedMutex<Value>

    init(_ initialValue: sending Value) { mutex = SanitizedMutex(initialValue) }

    borrowing func withLock<Result>(_ body: (inout sending Value) -> sending Result) -> sending Result {
      mutex.withLock(body)
    }
  }
#endif
