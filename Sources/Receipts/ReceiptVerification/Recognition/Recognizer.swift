// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The first stage: recognizes the format of bytes and creates the evidence.
struct Recognizer: Sendable {
  /// The bounds on size and nesting.
  let limits: ReceiptLimits
  /// The keys that determine the store of a receipt that does not state it.
  let appKeys: AppKeys

  /// Recognizes a receipt in any of the wrappings that ``/ReceiptCodec/UnverifiedReceipt`` reads.
  func recognize(_ bytes: [UInt8]) -> RecognizedReceipt {
    do throws(MalformedReceipt) {
      return recognize(try UnverifiedReceipt(parsing: bytes, limits: limits))
    } catch {
      return .malformed(.malformed(error))
    }
  }

  /// Creates the evidence of a receipt that is already parsed.
  func recognize(_ receipt: UnverifiedReceipt) -> RecognizedReceipt {
    do throws(ValidationError) {
      switch receipt {
      case .jws(let jws): return .evidence(JWSEvidence(jws, limits: limits))
      case .appReceipt(let appReceipt):
        return .evidence(try AppReceiptEvidence(appReceipt, limits: limits))
      case .transactionReceipt(let transactionReceipt):
        return .evidence(try TransactionReceiptEvidence(transactionReceipt, limits: limits))
      case .detached(let detached):
        return .evidence(try DetachedEvidence(detached, appKeys: appKeys, limits: limits))
      }
    } catch {
      return .withoutEvidence(receipt, error)
    }
  }

  /// Recognizes a signed part of a notification, which is a JWS without any wrapping.
  func recognize(_ part: SignedPart) -> RecognizedReceipt {
    do throws(MalformedReceipt) {
      return recognize(.jws(try UnverifiedJWS(parsing: Array(part.compact.utf8), limits: limits)))
    } catch {
      return .malformed(.malformed(error))
    }
  }
}

/// The result of recognition.
enum RecognizedReceipt {
  /// The evidence of a receipt.
  case evidence(any Evidence)
  /// A receipt that cannot be authenticated, with the reason.
  indirect case withoutEvidence(UnverifiedReceipt, ValidationError)
  /// Bytes that are not a receipt, with the reason.
  indirect case malformed(ValidationError)

  /// Returns the evidence, or throws the reason that there is no evidence.
  func requireEvidence() throws(ValidationError) -> any Evidence {
    switch self {
    case .evidence(let evidence): return evidence
    case .withoutEvidence(_, let error), .malformed(let error): throw error
    }
  }

  /// The receipt; `nil` if the bytes are not a receipt.
  var receipt: UnverifiedReceipt? {
    switch self {
    case .evidence(let evidence): evidence.receipt
    case .withoutEvidence(let receipt, _): receipt
    case .malformed: nil
    }
  }
}
