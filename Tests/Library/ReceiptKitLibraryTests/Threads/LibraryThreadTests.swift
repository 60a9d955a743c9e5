// SPDX-License-Identifier: Apache-2.0

import CReceiptKit
import ReceiptKitLibrary
import Testing

@Suite("libreceiptkit: from many threads")
struct LibraryThreadTests {
  #if THREAD_SANITIZER || ADDRESS_SANITIZER
    // Two batches of each thread; a verification costs many times as much.
    private static let rounds = 16
  #else
    private static let rounds = 40
  #endif

  @Test(
    "eight threads create, use and free verifiers, one another's too, and each verdict is right or the handle is gone"
  )
  func threads() async throws {
    let samples = try Samples()
    let policy = samples.policy()
    let (shared, created) = Library.createVerifier(policy)
    #expect(created.status == 0)
    // Other tests have handles, too: a thread frees no others than these. Each round of a thread has one.
    let handles = (0..<8).map { _ in (0..<Self.rounds).map { _ in Library.createVerifier(policy).0 } }
    await withTaskGroup(of: [String].self) { group in
      for thread in 0..<8 {
        group.addTask {
          var wrong: [String] = []
          func expect(_ outcome: Outcome, _ status: Int32) {
            if outcome.status != status { wrong.append("\(status): \(outcome)") }
          }
          for round in 0..<Self.rounds {
            expect(Library.verify(samples.receipt, shared), 0)
            expect(Library.verify(samples.forged, shared), 1)
            let (own, _) = Library.createVerifier(policy)
            expect(Library.verify(samples.receipt, own), 0)
            expect(Outcome(status: receiptkit_handle_free(own), text: ""), 0)
            expect(Library.verify(samples.receipt, own), 64)
            if round % 8 == 0 {
              let (batch, statuses) = Library.verify(
                batch: Array(repeating: samples.receipt, count: 130) + [samples.forged], shared)
              expect(batch, 0)
              if statuses.dropLast().contains(where: { $0 != 0 }) || statuses.last != 1 {
                wrong.append("\(statuses)")
              }
            }
            expect(Library.inspect(samples.receipt), 0)
            // The next thread frees it at about this time.
            let raced = Library.verify(samples.receipt, handles[thread][round])
            if raced.status != 0, raced.status != 64 { wrong.append("\(raced)") }
            expect(
              Outcome(status: receiptkit_handle_free(handles[(thread + 7) % 8][round]), text: ""), 0)
          }
          return wrong
        }
      }
      for await wrong in group { #expect(wrong.isEmpty) }
    }
    #expect(receiptkit_handle_free(shared) == 0)
  }
}
