// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptVerification

extension ConformanceAnswer {
  /// The verdicts on receipts that one verifier verifies together, as often as the case says: those of the first round
  /// that differs from the one before it, or of the last.
  init(together asked: ConformanceCase, by verifier: ReceiptVerifier) async throws {
    guard let rounds = asked.input["rounds"]?.int64, let encoded = asked.input["receipts"]?.array else {
      throw MalformedReceipt.missing("rounds")
    }
    let receipts = try encoded.map {
      ReceiptInputText.stripped(try JSONValue.members(("receipt", $0)).base64("receipt"))
    }
    // The table of a signer's key is then in use from an exact receipt on.
    let verifier = verifier.withoutBackgroundWork
    var answers: [JSONValue] = []
    for round in 0..<rounds {
      let verdicts = try await verifier.verify(receipts)
      let found = verdicts.enumerated().map { index, verdict in
        Self.value(of: ConformanceAnswer(verdict, at: asked.time), at: index)
      }
      let isOther = round > 0 && found != answers
      answers = found
      if isOther { break }
    }
    self.init(verdict: "valid", values: .members(("verdicts", .array(answers))))
  }

  private static func value(of answer: ConformanceAnswer, at index: Int) -> JSONValue {
    .members(
      ("index", .integer(Int64(index))), ("verdict", .string(answer.verdict)),
      ("reason", answer.reason.map { .string($0) }))
  }
}
