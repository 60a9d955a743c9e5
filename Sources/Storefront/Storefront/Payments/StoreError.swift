// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A final error of the store (`SKError`). Nothing was charged.
public struct StoreError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure, with StoreKit's number. Unknown numbers are kept.
  public struct Code: JSONEnumeration, Sendable, Hashable {
    /// StoreKit's number.
    public let rawValue: Int

    /// Creates a code from any number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// An unknown or unexpected error (`SKErrorUnknown`).
    public static let unknown = Code(rawValue: 0)
    /// The client is not allowed to do this (`SKErrorClientInvalid`).
    public static let clientInvalid = Code(rawValue: 1)
    /// The user cancelled (`SKErrorPaymentCancelled`).
    public static let paymentCancelled = Code(rawValue: 2)
    /// A parameter of the payment was not recognised (`SKErrorPaymentInvalid`).
    public static let paymentInvalid = Code(rawValue: 3)
    /// The user may not authorise payments (`SKErrorPaymentNotAllowed`).
    public static let paymentNotAllowed = Code(rawValue: 4)
    /// The product is not for sale in this storefront (`SKErrorStoreProductNotAvailable`).
    public static let storeProductNotAvailable = Code(rawValue: 5)
    /// The offer is unknown or inactive (`SKErrorInvalidOfferIdentifier`).
    public static let invalidOfferIdentifier = Code(rawValue: 11)
    /// The signature of a promotional offer is wrong (`SKErrorInvalidSignature`).
    public static let invalidSignature = Code(rawValue: 12)
    /// Parts of a promotional offer are missing (`SKErrorMissingOfferParams`).
    public static let missingOfferParameters = Code(rawValue: 13)
    /// The offer costs more than the product (`SKErrorInvalidOfferPrice`).
    public static let invalidOfferPrice = Code(rawValue: 14)
    /// The customer is not eligible for the offer (`SKErrorIneligibleForOffer`).
    public static let ineligibleForOffer = Code(rawValue: 18)
  }

  package init() { self.init(.unknown, "") }

  /// The domain of these error numbers (`SKErrorDomain`).
  public static let domain = "SKErrorDomain"

  /// The kind of failure.
  public package(set) var code: Code
  /// A sentence that describes the error and the remedy.
  public package(set) var message: String

  /// Creates an error.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// Domain, number and message, on one line.
  public var description: String { "\(Self.domain) \(code.rawValue): \(message)" }
}

extension StoreUnavailable: CustomStringConvertible {
  /// The message.
  public var description: String { "store unavailable: \(message)" }
}
