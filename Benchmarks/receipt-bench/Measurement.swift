// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Measuring

/// Operations a second, taken in rounds: these machines are noisy, so what is compared is measured in turn
/// within each round, and medians are quoted.
struct Measurement {
  let name: String
  /// Operations a second, one figure a round.
  var rates: [Double] = []

  var median: Double {
    let sorted = rates.sorted()
    guard !sorted.isEmpty else { return 0 }
    let middle = sorted.count / 2
    return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
  }
}

/// One thing to measure: a batch of work that returns how many operations it did.
struct Subject {
  let name: String
  /// The subject that this one is compared with, by name.
  let reference: String?
  /// The number of threads that run it side by side.
  let threads: Int
  let work: @Sendable () -> Int
}

/// Runs a subject for about the given time on its threads and returns operations a second: of processor time
/// where one thread works, so that what else the machine does counts less, and of elapsed time otherwise.
func rate(of subject: Subject, seconds: Double) -> Double {
  guard subject.threads > 1 else {
    let start = Clock.seconds()
    let processorStart = Clock.seconds(CLOCK_THREAD_CPUTIME_ID)
    var count = 0
    repeat { count += subject.work() } while Clock.seconds() - start < seconds
    return Double(count) / (Clock.seconds(CLOCK_THREAD_CPUTIME_ID) - processorStart)
  }
  let counts = UnsafeMutableBufferPointer<Int>.allocate(capacity: subject.threads * 16)
  unsafe counts.initialize(repeating: 0)
  defer { unsafe counts.deallocate() }
  nonisolated(unsafe) let slots = unsafe counts
  let start = Clock.seconds()
  DispatchQueue.concurrentPerform(iterations: subject.threads) { thread in
    var count = 0
    repeat { count += subject.work() } while Clock.seconds() - start < seconds
    // Sixteen words apart: threads must not share a cache line.
    unsafe slots[thread * 16] = count
  }
  let elapsed = Clock.seconds() - start
  var total = 0
  for thread in 0..<subject.threads { total += unsafe counts[thread * 16] }
  return Double(total) / elapsed
}

/// Resident memory of this process, in bytes.
func residentByteCount() -> Int {
  guard let file = unsafe fopen("/proc/self/statm", "r") else { return 0 }
  defer { unsafe fclose(file) }
  var line = [CChar](repeating: 0, count: 128)
  guard unsafe fgets(&line, 128, file) != nil else { return 0 }
  let fields = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    .split(separator: " ")
  return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * Int(getpagesize())
}
