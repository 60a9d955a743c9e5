// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import FoundationEssentials
  internal import HTTPTypes
  internal import Hummingbird
  internal import NIOCore
  internal import ReceiptCodec
  internal import ReceiptVerification
  internal import Synchronization

  extension ReceiptAPI {
    /// Answers a verdict a line while lines arrive. Where a verdict cannot be recorded the answer breaks off after a line
    /// that says so: what was answered before is recorded.
    func verifyBatch(_ request: Request, _ context: ServiceContext) async throws -> Response {
      let verification = try verification(request, context)
      let count = batchCount.add(1, ordering: .relaxed).newValue
      guard count <= configuration.limits.maximumConcurrentBatches else {
        batchCount.subtract(1, ordering: .relaxed)
        throw Problem(
          .serviceUnavailable, "overloaded", "Too many batches are being served. Try again.", retryAfter: 1)
      }
      let slot = BatchSlot(self)
      let limit = configuration.limits.maximumLineByteCount
      return Response(
        status: .ok, headers: [.contentType: "application/jsonl"],
        body: ResponseBody { writer in
          defer { withExtendedLifetime(slot) {} }
          let batch = BatchVerification(verification: verification, maximumLineByteCount: limit)
          do {
            try await batch.run(request.body) { try await writer.write(ByteBuffer(bytes: $0)) }
          } catch {
            var object = JSONWriter(type: "error")
            object.member("code", "unavailable")
            object.member("message", "The batch was not verified to its end. What was answered holds.")
            object.endObject()
            try await writer.write(ByteBuffer(bytes: object.bytes + [0x0A]))
            // Ends the connection without the end of the body, so that no client takes this for the end of the batch.
            throw error
          }
          try await writer.finish(nil)
        })
    }
  }

  /// A place among the batches that are served at once, given back when the answer is written or dropped.
  private final class BatchSlot: Sendable {
    private let api: ReceiptAPI

    init(_ api: ReceiptAPI) { self.api = api }
    deinit { api.batchCount.subtract(1, ordering: .relaxed) }
  }

  /// Verifies a stream of one receipt a line on all cores, in constant memory, with results in the order of the lines.
  struct BatchVerification: Sendable {
    let verification: Verification
    let maximumLineByteCount: Int

    private static let linesInRun = 64
    private static let bytesInRun = 1 << 20

    func run(
      _ body: some AsyncSequence<ByteBuffer, any Error>, _ write: ([UInt8]) async throws -> Void
    ) async throws {
      let inFlight = max(2, 2 * ProcessInfo.processInfo.activeProcessorCount)
      var splitter = LineSplitter(maximumLineLength: maximumLineByteCount)
      try await withThrowingTaskGroup(of: (Int, [UInt8]).self) { group in
        var lines: [[UInt8]] = []
        var byteCount = 0
        var nextIndex = 0
        var started = 0
        var written = 0
        var finished: [Int: [UInt8]] = [:]

        func submit() {
          let (number, first, runLines) = (started, nextIndex, lines)
          started += 1
          nextIndex += lines.count
          lines = []
          byteCount = 0
          group.addTask { (number, try await self.verified(runLines, from: first)) }
        }
        func writeNext() async throws {
          while finished[written] == nil, let (number, output) = try await group.next() {
            finished[number] = output
          }
          if let output = finished.removeValue(forKey: written) {
            written += 1
            try await write(output)
          }
        }

        for try await buffer in body {
          for line in splitter.split(
            buffer.getBytes(at: buffer.readerIndex, length: buffer.readableBytes) ?? [])
          {
            lines.append(line)
            byteCount += line.count
            guard lines.count >= Self.linesInRun || byteCount >= Self.bytesInRun else { continue }
            submit()
            while started - written >= inFlight { try await writeNext() }
          }
        }
        lines += splitter.finish()
        if !lines.isEmpty { submit() }
        while written < started { try await writeNext() }
      }
    }

    private func verified(_ lines: [[UInt8]], from first: Int) async throws -> [UInt8] {
      var output: [UInt8] = []
      output.reserveCapacity(lines.count * 1024)
      for (offset, outcome) in try await verification.verdicts(on: lines).enumerated() {
        output += verification.report(outcome.verdict, outcome.acknowledgement, index: first + offset).bytes
        output.append(0x0A)
      }
      return output
    }
  }
#endif
