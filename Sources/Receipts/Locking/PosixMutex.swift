// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  package import Glibc
#elseif canImport(Musl)
  package import Musl
#elseif canImport(Android)
  package import Android
#else
  package import Darwin
#endif

/// A value behind a `pthread_mutex_t`, for two cases in which Synchronization's `Mutex` does not work on Linux.
///
/// - In a child of `fork`. `Mutex` writes the number of its thread into the lock, and remembers that number in the thread.
///   The child's thread has another number and does not know it, so that the system refuses the lock to the child's other
///   threads, which ends the process. All that libreceiptkit.so locks is locked by this type.
/// - Under the thread sanitizer, which does not see `Mutex` when threads really wait: its slow path is in a library without
///   instrumentation.
@safe
package struct PosixMutex<Value>: ~Copyable, @unchecked Sendable {
  @usableFromInline let lock: UnsafeMutablePointer<pthread_mutex_t>
  @usableFromInline let value: UnsafeMutablePointer<Value>

  @inlinable package init(_ initialValue: sending Value) {
    unsafe lock = .allocate(capacity: 1)
    unsafe value = .allocate(capacity: 1)
    #if canImport(Glibc)
      // A thread spins for a moment before it sleeps: what is done under such a lock takes less than that.
      var attributes = pthread_mutexattr_t()
      unsafe pthread_mutexattr_init(&attributes)
      unsafe pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
      unsafe pthread_mutex_init(lock, &attributes)
      unsafe pthread_mutexattr_destroy(&attributes)
    #else
      unsafe pthread_mutex_init(lock, nil)
    #endif
    unsafe value.initialize(to: initialValue)
  }

  @inlinable deinit {
    unsafe value.deinitialize(count: 1)
    unsafe value.deallocate()
    unsafe pthread_mutex_destroy(lock)
    unsafe lock.deallocate()
  }

  @inlinable package borrowing func withLock<Result>(_ body: (inout sending Value) -> sending Result)
    -> sending Result
  {
    unsafe pthread_mutex_lock(lock)
    defer { unsafe pthread_mutex_unlock(lock) }
    return unsafe body(&value.pointee)
  }
}
