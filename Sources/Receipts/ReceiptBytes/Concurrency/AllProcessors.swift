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

/// Runs work on all processors.
package enum AllProcessors {
  /// The number of processors that are online. It is determined once, because the system reads files to determine it.
  package static let count = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))

  /// Maps records part by part on all processors and joins the results in order. If all records fit in one part, the
  /// calling thread does the work.
  ///
  /// - Throws: The error of a part; if several throw, that of the first of them.
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
