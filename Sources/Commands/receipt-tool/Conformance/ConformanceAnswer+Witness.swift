// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import TransparencyLog

/// The refusal of a witness to cosign.
struct WitnessRefusal: Error, CustomStringConvertible {
  let reason: String
  let description: String
}

extension ConformanceAnswer {
  /// The answer of a witness to a log's request, given the last checkpoint that it cosigned.
  static func witness(_ asked: ConformanceCase) throws -> JSONValue {
    let input = asked.input
    let key = try NoteSignerKey(name: input.text("witnessName"), pem: input.text("witnessKey"))
    let rules = WitnessRules(key: key, logs: try keys(input, "logKeys"))
    let decision = try rules.decide(
      body: input.octets("request"),
      latest: { origin in
        guard input["latestSize"] != nil else { return nil }
        return try Checkpoint(origin: origin, size: input.size("latestSize"), root: input.hash("latestRoot"))
      }, at: UInt64(asked.time.millisecondsSince1970 / 1000))
    switch decision {
    case .cosign(let verified, let line):
      let checkpoint = verified.checkpoint
      return .members(
        ("size", number(checkpoint.size)), ("rootHash", .string(checkpoint.root.base64)),
        ("cosignature", .string(line.line)))
    case .refuse(let response, let text):
      let reason =
        switch response {
        case .badRequest: "malformed"
        case .notSigned: "not-signed"
        case .unknownLog: "unknown-log"
        case .conflict: "conflict"
        case .inconsistent: "inconsistent"
        case .cosigned, .other: "internal-fault"
        }
      throw WitnessRefusal(reason: reason, description: text)
    }
  }
}
