// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import Locking

/// Temporary numbers and points for a verification: about 10 KB, whose allocation would take as long as a signature.
@safe
final class FixedKeyScratch {
  /// The number of signatures that share one inversion. An inversion takes a tenth of the time of one verification, so
  /// more than a few dozen signatures gain nothing measurable.
  static let capacity = 32

  let pointer: OpaquePointer

  init?() {
    guard let pointer = unsafe COpenSSL_FixedKey_scratch_new(Self.capacity) else { return nil }
    unsafe self.pointer = pointer
  }

  deinit { unsafe COpenSSL_FixedKey_scratch_free(pointer) }
}

// Only one thread at a time uses a value: the thread that took it from the pool.
extension FixedKeyScratch: @unchecked Sendable {}

/// The scratch values that no thread is using. There are never more values than threads that have verified at the same
/// time.
final class FixedKeyScratchPool: Sendable {
  static let shared = FixedKeyScratchPool()

  private static let maximumIdle = 64

  private let idle = PosixMutex<[FixedKeyScratch]>([])

  /// Takes a value from the pool, or creates one; `nil` if memory cannot be allocated.
  func take() -> FixedKeyScratch? {
    idle.withLock { $0.popLast() } ?? FixedKeyScratch()
  }

  func giveBack(_ scratch: FixedKeyScratch) {
    idle.withLock { idle in
      if idle.count < Self.maximumIdle { idle.append(scratch) }
    }
  }
}
