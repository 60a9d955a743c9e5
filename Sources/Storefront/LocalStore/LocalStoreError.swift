// SPDX-License-Identifier: Apache-2.0

public import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptSigning

/// Why a local store did not perform an operation.
public struct LocalStoreError: PlacedError, Error, Sendable, Hashable, CustomStringConvertible {
  /// A stable code.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// There is no such transaction, subscription, product or pending purchase.
    case notFound = "not-found"
    /// The rules of the store do not allow it. Nothing was changed.
    case refused
    /// The storage failed. An operation that was not acknowledged may be repeated.
    case storage
    /// The stored records are damaged.
    case corrupt
    /// The identity cannot sign what the store issues.
    case signing
    /// An option is out of bounds.
    case invalidOption = "invalid-option"
  }

  /// What is wrong.
  public let code: Code
  /// Where: an identifier, or a record.
  public let place: String
  /// What was found, and what to do, in a sentence.
  public let message: String

  /// Creates an error.
  public init(_ code: Code, at place: String = "", _ message: String) {
    self.code = code
    self.place = place
    self.message = message
  }

  /// The code, the place and the message, on one line.
  public var description: String { line }

  init(_ error: RecordStorageError) {
    self.init(error.code == .corrupt ? .corrupt : .storage, at: error.place, error.description)
  }

  init(_ error: SigningError) { self.init(.signing, at: error.place, error.message) }

  init(_ error: SubscriptionError) {
    switch error.code {
    case .unknownSubscription, .unknownTransaction, .unknownProduct:
      self.init(.notFound, at: error.place, error.message)
    case .notActive, .alreadyRefunded, .notRefunded, .notEligible, .familyShared, .invalidValue:
      self.init(.refused, at: error.place, error.message)
    }
  }

  init(_ error: MalformedReceipt, at place: String) {
    self.init(.corrupt, at: place, "The record is not what a store has written: \(error.description)")
  }

  /// The error as the customer receives it.
  var unavailable: StoreUnavailable { StoreUnavailable(description) }
}
