// SPDX-License-Identifier: Apache-2.0

public import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptSigning

/// Why a store in this process did not do what its operator asked.
public struct LocalStoreError: PlacedError, Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong, in a word that stays stable.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// There is no such transaction, subscription, product or waiting purchase.
    case notFound = "not-found"
    /// The rules of the store do not allow it. Nothing was changed.
    case refused
    /// The storage failed. What was not acknowledged may be asked for again.
    case storage
    /// What is stored is not what a store has written.
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

  /// As a customer is told: nothing is known but that it did not work.
  var unavailable: StoreUnavailable { StoreUnavailable(description) }
}
