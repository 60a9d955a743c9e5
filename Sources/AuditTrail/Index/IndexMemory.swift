// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// How much memory the runs of one index may take: filters have what they need, and pages that were read once are kept
/// in what that leaves. A trail of a million entries is looked up in without reading; one of ten million reads, as its
/// filters take up all of it.
final class IndexMemory: Sendable {
  /// In bytes, found by measurement: a process with ten million entries stays below 128 MB.
  static let limit = 24 << 20

  private let limit: Int
  private let used = Atomic<Int>(0)

  init(limit: Int = IndexMemory.limit) { self.limit = limit }

  /// Takes what a filter needs.
  func take(_ byteCount: Int) { used.add(byteCount, ordering: .relaxed) }

  func giveBack(_ byteCount: Int) { used.subtract(byteCount, ordering: .relaxed) }

  /// Takes what a page needs; `false` where there is not as much left.
  func takeIfLeft(_ byteCount: Int) -> Bool {
    guard used.add(byteCount, ordering: .relaxed).newValue > limit else { return true }
    giveBack(byteCount)
    return false
  }

  /// Whether filters took what pages have.
  var isExceeded: Bool { used.load(ordering: .relaxed) > limit }
}
