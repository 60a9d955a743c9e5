// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import Synchronization

#if THREAD_SANITIZER
  internal import ThreadSanitizing

  typealias Mutex = SanitizedMutex
#endif

/// Numbers and points to calculate with: some 10 KB, whose allocation would cost as much as a signature does.
@safe
final class FixedKeyScratch {
  /// So many signatures share one inversion. It takes a tenth of the time of one verification, so that more
  /// than a few dozen gain nothing that can be measured.
  static let capacity = 32

  let pointer: OpaquePointer

  init?() {
    guard let pointer = unsafe COpenSSL_FixedKey_scratch_new(Self.capacity) else { return nil }
    unsafe self.pointer = pointer
  }

  deinit { unsafe COpenSSL_FixedKey_scratch_free(pointer) }
}

// It is used by one thread at a time: the one that took it from the pool.
extension FixedKeyScratch: @unchecked Sendable {}

/// The scratch that no thread is using. There is never more of it than threads that verified at one time.
final class FixedKeyScratchPool: Sendable {
  static let shared = FixedKeyScratchPool()

  private static let maximumIdle = 64

  private let idle = Mutex<[FixedKeyScratch]>([])

  /// `nil` if there is no memory for more.
  func take() -> FixedKeyScratch? {
    idle.withLock { $0.popLast() } ?? FixedKeyScratch()
  }

  func giveBack(_ scratch: FixedKeyScratch) {
    idle.withLock { idle in
      if idle.count < Self.maximumIdle { idle.append(scratch) }
    }
  }
}
