// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#else
  internal import Darwin
#endif
internal import Synchronization

/// A file under a temporary name, which is removed if a signal ends the process. Until the file is finished, the
/// signal's handler can remove it with ``removeAll()``.
@safe
package struct UnfinishedFile: Sendable {
  /// An element of a list that only grows, so that a signal handler can read it at any time.
  @safe
  private struct Node {
    /// `nil` once the file is finished. The string is never freed, because a handler on another thread may be reading
    /// it.
    var path: UnsafeMutablePointer<CChar>?
    let next: UInt
  }

  /// The address of the first element; 0 if the list is empty.
  private static let first = Atomic<UInt>(0)

  private nonisolated(unsafe) let node: UnsafeMutablePointer<Node>

  /// Registers a file that is about to be created.
  package init(_ path: String) {
    unsafe node = .allocate(capacity: 1)
    var isAdded = false
    while !isAdded {
      let next = Self.first.load(ordering: .acquiring)
      unsafe node.initialize(to: Node(path: strdup(path), next: next))
      isAdded =
        unsafe Self.first.compareExchange(
          expected: next, desired: UInt(bitPattern: node), ordering: .acquiringAndReleasing
        ).exchanged
    }
  }

  /// Unregisters the file, after it was removed or got its final name.
  package func finish() { unsafe node.pointee.path = nil }

  /// Removes all unfinished files. It neither allocates nor locks, as a signal handler requires (signal-safety(7)).
  package static func removeAll() {
    var next = first.load(ordering: .acquiring)
    while let node = unsafe UnsafeMutablePointer<Node>(bitPattern: next) {
      if let path = unsafe node.pointee.path { unsafe unlink(path) }
      next = unsafe node.pointee.next
    }
  }
}
