// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
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

/// Work that is shared among all processors.
package enum AllProcessors {
  /// Their number. Determined once, since it takes reading files.
  package static let count = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))

  /// Does some work part by part, and puts the results together in order. Little work is done on this thread.
  ///
  /// - Parameters:
  ///   - count: How many records there are.
  ///   - share: How many of them a processor takes at a time.
  ///   - part: Does a part of them.
  /// - Returns: The results.
  /// - Throws: What a part threw, of several the first.
  package static func map<Element: Sendable, Failure: Error>(
    _ count: Int, share: Int = 128, _ part: @Sendable (Range<Int>) throws(Failure) -> [Element]
  ) throws(Failure) -> [Element] {
    let parts = (count + share - 1) / share
    guard parts > 1 else { return count == 0 ? [] : try part(0..<count) }
    let results = Mutex<[Int: Result<[Element], Failure>]>([:])
    DispatchQueue.concurrentPerform(iterations: parts) { number in
      let range = number * share..<min((number + 1) * share, count)
      let result = Result { () throws(Failure) in try part(range) }
      results.withLock { $0[number] = result }
    }
    var all: [Element] = []
    all.reserveCapacity(count)
    let finished = results.withLock { $0 }
    for number in 0..<parts {
      if let result = finished[number] { all += try result.get() }
    }
    return all
  }
}
