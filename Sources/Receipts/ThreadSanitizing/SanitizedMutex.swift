// SPDX-License-Identifier: Apache-2.0

#if THREAD_SANITIZER
  internal import Glibc

  /// Replaces Synchronization's `Mutex` under the thread sanitizer. The sanitizer does not see that `Mutex` when
  /// threads really wait: its slow path is in a library without instrumentation. It does understand `pthread_mutex_t`.
  @safe
  package struct SanitizedMutex<Value>: ~Copyable, @unchecked Sendable {
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    package init(_ initialValue: sending Value) {
      unsafe lock = .allocate(capacity: 1)
      unsafe value = .allocate(capacity: 1)
      unsafe pthread_mutex_init(lock, nil)
      unsafe value.initialize(to: initialValue)
    }

    deinit {
      unsafe value.deinitialize(count: 1)
      unsafe value.deallocate()
      unsafe pthread_mutex_destroy(lock)
      unsafe lock.deallocate()
    }

    package borrowing func withLock<Result>(_ body: (inout sending Value) -> sending Result) -> sending Result
    {
      unsafe pthread_mutex_lock(lock)
      defer { unsafe pthread_mutex_unlock(lock) }
      return unsafe body(&value.pointee)
    }
  }
#endif
