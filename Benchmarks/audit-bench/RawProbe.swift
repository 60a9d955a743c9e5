// SPDX-License-Identifier: Apache-2.0

import Glibc
import Measuring
import ReceiptCrypto

/// Measures the most that a disk and a processor can do: hashes records, writes them one after the other, and syncs
/// them in batches. Its file is beside the trail's.
final class RawProbe {
  private let descriptor: Int32
  private var batch: [UInt8]
  private var written = 0
  private(set) var seconds = 0.0
  private(set) var records = 0

  static let recordByteCount = 1024
  static let batchCount = 1024

  init(path: String) throws {
    descriptor = unsafe open(path, O_CREAT | O_TRUNC | O_WRONLY, 0o600)
    guard descriptor >= 0 else { throw Failure("\(path) cannot be written.") }
    batch = Random.bytes(Self.recordByteCount * Self.batchCount)
  }

  deinit { close(descriptor) }

  /// Writes batches, and counts the time.
  func run(batches: Int) throws {
    let start = Clock.seconds()
    var sum: UInt8 = 0
    for number in 0..<batches {
      batch[number % batch.count] &+= 1
      for record in 0..<Self.batchCount {
        let start = record * Self.recordByteCount
        sum &+= Digest.hash(batch.span.extracting(start..<start + Self.recordByteCount), using: .sha256)[0]
      }
      // The file goes round, so that a long measurement does not fill the disk.
      if written >= 1 << 30 {
        guard lseek(descriptor, 0, SEEK_SET) == 0, ftruncate(descriptor, 0) == 0 else {
          throw Failure("The probe's file cannot be rewound.")
        }
        written = 0
      }
      guard unsafe write(descriptor, batch, batch.count) == batch.count, fdatasync(descriptor) == 0 else {
        throw Failure("The probe's file cannot be written.")
      }
      written += batch.count
    }
    seconds += Clock.seconds() - start + (sum == 1 ? 1e-12 : 0)
    records += batches * Self.batchCount
  }

  /// Records a second since the last call.
  func takeRate() -> Double {
    defer {
      seconds = 0
      records = 0
    }
    return Double(records) / seconds
  }
}
