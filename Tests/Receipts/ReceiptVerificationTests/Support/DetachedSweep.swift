// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptVerification

/// Changes what is signed, and the signature beside it, each by itself and wrapped anew, so that no other spelling of
/// JSON or base64 is among the cases: none may be valid.
struct DetachedSweep: Sendable {
  let verifier: ReceiptVerifier
  let receipt: UnverifiedDetachedReceipt

  private struct Case: Sendable {
    enum Part: String { case data, signature, text = "signature's text" }
    var part: Part
    var byte: Int
    /// The bit that is flipped; `nil` where the part ends before the byte.
    var bit: Int?
  }

  /// The cases that are accepted: each bit of each byte and each truncation of the data, of the signature's bytes and of
  /// its base64; of every thirteenth byte one, unless all are asked for.
  func accepted() async -> [String] {
    let text = Base64.encode(receipt.signature)
    let parts: [(Case.Part, [UInt8])] = [
      (.data, receipt.signedBytes), (.signature, receipt.signature), (.text, text),
    ]
    let cases = parts.flatMap { part, bytes in
      stride(from: 0, to: bytes.count, by: Sweep.isFull ? 1 : 13).flatMap { byte in
        let bits = Sweep.isFull ? Array(0..<8) : [byte % 8]
        return [Case(part: part, byte: byte, bit: nil)] + bits.map { Case(part: part, byte: byte, bit: $0) }
      }
    }
    let accepted = await Sweep.spread(over: cases) { change in
      var (data, text) = (receipt.signedBytes, text)
      switch change.part {
      case .data: apply(change, to: &data)
      case .text: apply(change, to: &text)
      case .signature:
        var signature = receipt.signature
        apply(change, to: &signature)
        text = Base64.encode(signature)
      }
      let isValid = verifier.verify(wrapped(data, text)).isValid
      return isValid ? ["\(change.part.rawValue) \(change.byte).\(change.bit.map { "\($0)" } ?? "cut")"] : []
    }
    Sweep.count(cases.count, accepted: accepted.count)
    return accepted
  }

  /// The receipt with nothing changed, as it is wrapped here.
  var unchanged: [UInt8] { wrapped(receipt.signedBytes, Base64.encode(receipt.signature)) }

  private func apply(_ change: Case, to bytes: inout [UInt8]) {
    if let bit = change.bit {
      bytes[change.byte] ^= 1 << UInt8(bit)
    } else {
      bytes = Array(bytes[..<change.byte])
    }
  }

  /// Any bytes: a JSON writer takes no text that is not UTF-8.
  private func wrapped(_ data: [UInt8], _ signature: [UInt8]) -> [UInt8] {
    var json = Array("{\"data\":".utf8) + quoted(data) + Array(",\"signature\":".utf8) + quoted(signature)
    if let algorithm = receipt.statedAlgorithm {
      json += Array(",\"signatureAlgorithm\":".utf8) + quoted(Array(algorithm.utf8))
    }
    return json + [UInt8(ascii: "}")]
  }

  private func quoted(_ bytes: [UInt8]) -> [UInt8] {
    let quote = UInt8(ascii: "\"")
    let contents = bytes.flatMap { byte -> [UInt8] in
      switch byte {
      case quote, UInt8(ascii: "\\"): [UInt8(ascii: "\\"), byte]
      case ..<0x20: Array("\\u00".utf8) + Hexadecimal.encode([byte]).utf8
      default: [byte]
      }
    }
    return [quote] + contents + [quote]
  }
}
