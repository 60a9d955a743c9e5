// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The first stage: turns bytes into a signed message.
struct Recognizer: Sendable {
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

  func recognize(_ receipt: UnverifiedReceipt) -> RecognizedReceipt {
    do throws(ValidationError) {
      switch receipt {
      case .jws(let jws): return .message(SignedMessage(jws, limits: limits))
      case .appReceipt(let appReceipt):
        return .message(try SignedMessage(appReceipt, limits: limits))
      case .transactionReceipt(let transactionReceipt):
        return .message(try SignedMessage(transactionReceipt, limits: limits))
      case .detached(let detached):
        return .message(try SignedMessage(detached, appKeys: appKeys, limits: limits))
      }
    } catch {
      return .refused(receipt, error)
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
  /// A message whose signature can be verified.
  case message(SignedMessage)
  /// A receipt that cannot be authenticated, with the reason.
  indirect case refused(UnverifiedReceipt, ValidationError)
  /// Bytes that are not a receipt, with the reason.
  indirect case malformed(ValidationError)

  func requireMessage() throws(ValidationError) -> SignedMessage {
    switch self {
    case .message(let message): return message
    case .refused(_, let error), .malformed(let error): throw error
    }
  }

  /// The receipt; `nil` if the bytes are not a receipt.
  var receipt: UnverifiedReceipt? {
    switch self {
    case .message(let message): message.receipt
    case .refused(let receipt, _): receipt
    case .malformed: nil
    }
  }
}
