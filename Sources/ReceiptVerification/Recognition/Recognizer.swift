// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The first stage: tells the format of bytes, and has its adapter make evidence of them.
struct Recognizer: Sendable {
  /// Bounds on size and nesting.
  let limits: ReceiptLimits

  /// Recognizes a receipt in any of the wrappings that ``/ReceiptCodec/UnverifiedReceipt`` reads.
  func recognize(_ bytes: [UInt8]) -> RecognizedReceipt {
    do throws(MalformedReceipt) {
      return recognize(try UnverifiedReceipt(parsing: bytes, limits: limits))
    } catch {
      return RecognizedReceipt(receipt: nil, evidence: .failure(.malformed(error)))
    }
  }

  /// Makes evidence of a receipt that is parsed already.
  func recognize(_ receipt: UnverifiedReceipt) -> RecognizedReceipt {
    RecognizedReceipt(
      receipt: receipt,
      evidence: Result { () throws(ValidationError) in
        switch receipt {
        case .jws(let jws): JWSAdapter.evidence(in: jws, limits: limits)
        case .appReceipt(let appReceipt): try AppReceiptAdapter.evidence(in: appReceipt, limits: limits)
        case .transactionReceipt(let transactionReceipt):
          try TransactionReceiptAdapter.evidence(in: transactionReceipt, limits: limits)
        }
      })
  }

  /// Recognizes a signed part of a notification, which is a JWS without any wrapping.
  func recognize(_ part: SignedPart) -> RecognizedReceipt {
    do throws(MalformedReceipt) {
      return recognize(.jws(try UnverifiedJWS(parsing: Array(part.compact.utf8), limits: limits)))
    } catch {
      return RecognizedReceipt(receipt: nil, evidence: .failure(.malformed(error)))
    }
  }
}

/// What recognition makes of bytes.
struct RecognizedReceipt {
  /// The receipt; `nil` where the bytes are none.
  let receipt: UnverifiedReceipt?
  /// What it offers to be authenticated, or why it offers nothing.
  let evidence: Result<Evidence, ValidationError>
}
