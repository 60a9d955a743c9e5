// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The first stage: tells the format of bytes, and has its adapter make evidence of them.
struct Recognizer: Sendable {
  /// Bounds on size and nesting.
  let limits: ReceiptLimits
  /// The keys that tell the store of a receipt that does not say.
  let appKeys: AppKeys

  /// Recognizes a receipt in any of the wrappings that ``/ReceiptCodec/UnverifiedReceipt`` reads.
  func recognize(_ bytes: [UInt8]) -> RecognizedReceipt {
    do throws(MalformedReceipt) {
      return recognize(try UnverifiedReceipt(parsing: bytes, limits: limits))
    } catch {
      return .malformed(.malformed(error))
    }
  }

  /// Makes evidence of a receipt that is parsed already.
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

/// What recognition makes of bytes.
enum RecognizedReceipt {
  /// A receipt, and what it offers to be authenticated.
  case evidence(any Evidence)
  /// A receipt that offers nothing to be authenticated, and why.
  indirect case withoutEvidence(UnverifiedReceipt, ValidationError)
  /// Bytes that are no receipt, and why.
  indirect case malformed(ValidationError)

  /// The evidence.
  func requireEvidence() throws(ValidationError) -> any Evidence {
    switch self {
    case .evidence(let evidence): return evidence
    case .withoutEvidence(_, let error), .malformed(let error): throw error
    }
  }

  /// The receipt; `nil` if the bytes are none.
  var receipt: UnverifiedReceipt? {
    switch self {
    case .evidence(let evidence): evidence.receipt
    case .withoutEvidence(let receipt, _): receipt
    case .malformed: nil
    }
  }
}
