// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCodec
import ReceiptVerification
import Synchronization
import Testing

/// Puts a receipt through a verifier with each of its bits flipped, and cut off at each byte, on all cores.
struct Sweep: Sendable {
  let verifier: ReceiptVerifier
  let sample: [UInt8]

  /// All eight bits of each byte instead of one of them.
  static let isFull = ProcessInfo.processInfo.environment["RECEIPTKIT_FULL_SWEEPS"] != nil

  #if ADDRESS_SANITIZER
    // Each verification costs several; the ordinary run takes all of these samples.
    static let thinning = 16
  #else
    static let thinning = 1
  #endif

  /// One flipped bit that left the verdict valid.
  struct Accepted: Sendable, Hashable {
    var byte: Int
    var bit: Int
    /// The receipt of the verdict; `nil` if it is the same as the sample's. Tens of thousands of flips in a certificate
    /// that is not needed are accepted: a receipt kept for each would take gigabytes.
    var change: VerifiedReceipt?
  }

  /// The flips that are accepted. One bit of each chosen byte, another for the next one, unless all are asked for;
  /// all where the sample is very short. `step` leaves bytes out, unless all are asked for.
  func acceptedFlips(_ bytes: Range<Int>? = nil, step: Int = 1) async -> [Accepted] {
    let bytes = bytes ?? sample.indices
    let isFull = Self.isFull || bytes.count < 500
    let step = Self.isFull ? 1 : step * Self.thinning
    let chosen = Array(stride(from: bytes.lowerBound, to: bytes.upperBound, by: step).enumerated())
    let genuine = verifier.verify(sample).receipt
    let accepted = await Self.spread(over: chosen) { number, byte in
      let bits = isFull ? 0..<8 : (number % 8)..<(number % 8 + 1)
      return bits.compactMap { bit in
        var flipped = sample
        flipped[byte] ^= 1 << UInt8(bit)
        return verifier.verify(flipped).receipt.map {
          Accepted(byte: byte, bit: bit, change: $0 == genuine && $0.identity == genuine?.identity ? nil : $0)
        }
      }
    }
    Self.count(chosen.count * (isFull ? 8 : 1), accepted: accepted.count)
    return accepted
  }

  /// The lengths to which the sample can be cut and stay valid: every third and the last ones, unless all are asked for.
  func acceptedTruncations() async -> [Int] {
    let lengths = sample.indices.filter {
      Self.isFull || $0 % (3 * Self.thinning) == 0 || $0 >= sample.count - 16
    }
    let accepted = await Self.spread(over: lengths) { length in
      verifier.verify(Array(sample[..<length])).isValid ? [length] : []
    }
    Self.count(lengths.count, accepted: accepted.count)
    return accepted
  }

  static func spread<Item: Sendable, Result: Sendable>(
    over items: [Item], _ body: @escaping @Sendable (Item) -> [Result]
  ) async -> [Result] {
    // As many parts at a time as there are cores, and short ones: tests that wait for something of theirs until some
    // time do not have to wait for a whole sweep.
    let share = 16
    let width = ProcessInfo.processInfo.activeProcessorCount
    return await withTaskGroup(of: [Result].self) { group in
      var results: [Result] = []
      for (number, start) in stride(from: 0, to: items.count, by: share).enumerated() {
        if number >= width, let finished = await group.next() { results += finished }
        group.addTask { items[start..<min(start + share, items.count)].flatMap(body) }
      }
      return await group.reduce(into: results) { $0 += $1 }
    }
  }

  private static let cases = Mutex(0)

  /// Prints the number of cases, if all cases are asked for.
  static func count(_ cases: Int, accepted: Int, _ test: String = Test.current?.name ?? "") {
    guard isFull else { return }
    let total = Self.cases.withLock { total in
      total += cases
      return total
    }
    FileHandle.standardError.write(
      Data("SWEEP: \(cases) cases, \(accepted) accepted: \(test). So far \(total) cases.\n".utf8))
  }
}
