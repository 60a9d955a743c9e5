// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// The pages of a run that were read and found undamaged, to be looked up in again: they never change.
///
/// Those of kinds whose records can be removed do, and are not kept.
final class KeptPages: Sendable {
  /// What a page takes: a page of the system's memory, so that what is not kept takes none.
  static let pageByteCount = 4096

  private let memory: IndexMemory
  private let state: Mutex<State>

  @safe
  private struct State {
    /// The bytes of each page; 0 where it is not kept.
    var byteCounts: [UInt16]
    /// Mapped, so that all of it goes back to the system: the heap would keep it.
    var region: UnsafeMutableRawPointer?

    var keptCount: Int { byteCounts.reduce(0) { $0 + ($1 > 0 ? 1 : 0) } }
    var regionByteCount: Int { byteCounts.count * KeptPages.pageByteCount }

    mutating func map() -> UnsafeMutableRawPointer? {
      if let region = unsafe region { return unsafe region }
      let mapped = unsafe mmap(
        nil, regionByteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      guard let mapped = unsafe mapped, unsafe mapped != MAP_FAILED else { return nil }
      unsafe region = mapped
      return unsafe mapped
    }

    mutating func unmap() {
      guard let region = unsafe region else { return }
      unsafe munmap(region, regionByteCount)
      unsafe self.region = nil
      for number in byteCounts.indices { byteCounts[number] = 0 }
    }
  }

  init(count: Int, in memory: IndexMemory) {
    self.memory = memory
    state = unsafe Mutex(State(byteCounts: [UInt16](repeating: 0, count: count)))
  }

  deinit { forgetAll() }

  /// What `body` makes of the bytes of the page, if it is kept. They are looked at where they lie: a lookup needs a few
  /// of them.
  func withPage<Result: Sendable>(_ number: Int, _ body: (Span<UInt8>) throws -> Result) rethrows -> Result? {
    try state.withLock { state in
      let byteCount = Int(state.byteCounts[number])
      guard byteCount > 0, let region = unsafe state.region else { return nil }
      let start = unsafe (region + number * Self.pageByteCount).assumingMemoryBound(to: UInt8.self)
      let page = unsafe UnsafeBufferPointer(start: start, count: byteCount)
      return try body(unsafe page.span)
    }
  }

  /// Keeps a page, if there is memory left for it.
  func keep(_ bytes: [UInt8], number: Int) {
    guard !bytes.isEmpty, bytes.count <= Self.pageByteCount, memory.takeIfLeft(Self.pageByteCount) else {
      return
    }
    let isKept = state.withLock { state in
      guard state.byteCounts[number] == 0, let region = unsafe state.map() else { return false }
      let page = unsafe UnsafeMutableRawBufferPointer(
        start: region + number * Self.pageByteCount, count: Self.pageByteCount)
      unsafe page.copyBytes(from: bytes)
      state.byteCounts[number] = UInt16(bytes.count)
      return true
    }
    if !isKept { memory.giveBack(Self.pageByteCount) }
  }

  /// Gives all memory back.
  func forgetAll() {
    let count = state.withLock { state in
      defer { state.unmap() }
      return state.keptCount
    }
    memory.giveBack(count * Self.pageByteCount)
  }
}
