// SPDX-License-Identifier: Apache-2.0

internal import CReceiptKit
internal import CommandOutput
internal import Locking
internal import PolicyDocuments
internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptVerification
internal import Synchronization

/// The receipts of a batch, which threads take in chunks. Those of a chunk are verified together.
@safe final class BatchCall: Sendable {
  /// As many as the verifier verifies together at best.
  private static let chunkCount = 64
  /// Nearly all verdicts are shorter, in bytes.
  private static let usualLineLength = 1536

  private struct Results {
    /// The lines of each chunk.
    var pieces: [[UInt8]]
    var statuses: [UInt8]
  }

  private let verifier: ReceiptVerifier
  private let instant: Timestamp
  // The caller's memory, which stays as it is until the call returns.
  private nonisolated(unsafe) let receipts: UnsafeRawPointer?
  private nonisolated(unsafe) let offsets: UnsafePointer<UInt64>
  private let count: Int
  private let next = Atomic(0)
  private let results: PosixMutex<Results>

  /// Creates a batch.
  ///
  /// - Throws: ``DocumentError`` if an argument is NULL, or an offset would lead out of the receipts.
  init(
    _ verifier: ReceiptVerifier, _ receipts: UnsafeRawPointer?, _ offsets: UnsafePointer<UInt64>?, count: Int
  ) throws(DocumentError) {
    guard 0...(Int.max / 16) ~= count else { throw DocumentError(.usage, "count is no count of receipts.") }
    guard let offsets = unsafe offsets else { throw DocumentError(.usage, "offsets is NULL.") }
    for index in 0..<count where unsafe offsets[index] > offsets[index + 1] {
      throw DocumentError(.usage, "The offsets do not ascend at \(index).")
    }
    guard let end = unsafe Int(exactly: offsets[count]) else {
      throw DocumentError(.usage, "The last offset is no offset: more than half of the address space.")
    }
    guard unsafe receipts != nil || end == 0 else { throw DocumentError(.usage, "receipts is NULL.") }
    self.verifier = verifier
    instant = verifier.policy.instant
    unsafe self.receipts = unsafe receipts
    unsafe self.offsets = unsafe offsets
    self.count = count
    let chunks = (count + Self.chunkCount - 1) / Self.chunkCount
    results = PosixMutex(
      Results(
        pieces: Array(repeating: [], count: chunks),
        statuses: Array(repeating: UInt8(ExitStatus.undetermined.rawValue), count: count)))
  }

  /// The verdicts, each on a line, in pieces.
  var pieces: [[UInt8]] { results.withLock(\.pieces) }

  /// The status of each receipt.
  var statuses: [UInt8] { results.withLock(\.statuses) }

  /// Verifies all, on as many threads as there are processors.
  func run() {
    let chunks = (count + Self.chunkCount - 1) / Self.chunkCount
    let context = unsafe Unmanaged.passUnretained(self)
    unsafe receiptkit_on_threads(
      min(AllProcessors.count, chunks),
      { context in
        guard let context = unsafe context else { return }
        unsafe Unmanaged<BatchCall>.fromOpaque(context).takeUnretainedValue().takeChunks()
      }, context.toOpaque())
  }

  private func takeChunks() {
    while true {
      let chunk = next.wrappingAdd(1, ordering: .relaxed).oldValue
      let start = chunk * Self.chunkCount
      guard start < count else { return }
      receiptkit_work_begin()
      defer { receiptkit_work_end() }
      verify(chunk, start..<min(count, start + Self.chunkCount))
    }
  }

  private func verify(_ chunk: Int, _ range: Range<Int>) {
    let inputs = range.map { (index: Int) -> [UInt8] in
      let start = Int(unsafe offsets[index])
      let length = Int(unsafe offsets[index + 1]) - start
      guard let receipts = unsafe receipts else { return [] }
      return ReceiptInputText.stripped(
        unsafe CallerMemory.copy(receipts + start, length, limit: verifier.limits.maximumByteCount))
    }
    let verdicts = verifier.verifyTogether(inputs[...])
    var lines = JSONWriter()
    lines.reserveCapacity(Self.usualLineLength * verdicts.count)
    let statuses = verdicts.map { verdict in
      verdict.append(to: &lines, at: instant)
      lines.endLine()
      return UInt8(verdict.status.rawValue)
    }
    results.withLock { results in
      results.pieces[chunk] = lines.bytes
      results.statuses.replaceSubrange(range, with: statuses)
    }
  }
}
