// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec

/// What is wrong with a catalogue: a word that stays stable, the place, and what to do.
public struct CatalogError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of fault it is.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// It is not JSON: empty, cut off, or wrongly spelt.
    case notJSON = "not-json"
    /// More bytes, elements or levels than the limits allow.
    case tooLarge = "too-large"
    /// It is JSON, but not a catalogue of a version that this build reads.
    case unsupportedVersion = "unsupported-version"
    /// A required member is absent.
    case missing
    /// A value has the wrong type for its member.
    case wrongType = "wrong-type"
    /// A member that the format does not have: most likely misspelt.
    case unknownMember = "unknown-member"
    /// A member occurs twice in one object.
    case duplicateMember = "duplicate-member"
    /// A value that its member does not allow.
    case invalidValue = "invalid-value"
    /// Two products, groups, contents or codes share an identifier.
    case duplicateIdentifier = "duplicate-identifier"
    /// A type of product, offer or payment that does not exist.
    case unknownType = "unknown-type"
    /// A price that is not a decimal number, is negative or too high, or has more than three decimal places.
    case invalidPrice = "invalid-price"
    /// A currency that is not three capital letters.
    case invalidCurrency = "invalid-currency"
    /// A period that is not a number from 1 to 999 of days, weeks, months or years.
    case invalidPeriod = "invalid-period"
    /// A number of periods outside 1 to 999.
    case invalidQuantity = "invalid-quantity"
    /// A level of service below 1.
    case invalidLevel = "invalid-level"
    /// An auto-renewable subscription without terms.
    case missingSubscription = "missing-subscription"
    /// Terms of a subscription on a product that is not a subscription.
    case unexpectedSubscription = "unexpected-subscription"
    /// A subscription is in a group that does not exist.
    case unknownGroup = "unknown-group"
    /// A required offer identifier is missing, or an introductory offer has one.
    case offerIdentifier = "offer-identifier"
    /// Two offers of a subscription have the same type and identifier.
    case duplicateOffer = "duplicate-offer"
    /// Content without a usable address, length or SHA-256.
    case invalidDownload = "invalid-download"
  }

  /// The kind of fault.
  public let code: Code
  /// The JSON path, such as `$.products[2].price`; in a file that is not JSON, that of the value with the syntax error.
  public let path: String
  /// The offset of the syntax error, if the file is not JSON.
  public let byteOffset: Int?
  /// What was found and what to do, in a sentence.
  public let message: String

  /// Creates an error.
  package init(_ code: Code, at path: String, byteOffset: Int? = nil, _ message: String) {
    self.code = code
    self.path = ShownText.plain(path, limit: 1000)
    self.byteOffset = byteOffset
    self.message = ShownText.plain(message, limit: 1000)
  }

  /// Code, place and message, on one line.
  public var description: String {
    let place = byteOffset.map { "\(path) (byte \($0))" } ?? path
    return "\(code.rawValue) at \(place): \(message)"
  }
}

extension CatalogError {
  /// Converts an error of the JSON reader. Its place is always a JSON path, also where the reader states a byte offset.
  init(_ error: MalformedReceipt, in bytes: [UInt8]) {
    switch error.place {
    case .jsonPath(let path): self.init(Self.code(of: error.code, at: path), at: path, error.message)
    case .byteOffset(let offset, _):
      let isTooLarge = error.code == .tooLarge || error.code == .tooDeep
      self.init(
        isTooLarge ? .tooLarge : .notJSON, at: JSONPathFinder.path(at: offset, in: bytes), byteOffset: offset,
        error.message)
    default: self.init(.notJSON, at: "$", error.message)
    }
  }

  private static func code(of code: MalformedReceipt.Code, at path: String) -> Code {
    switch code {
    case .missing: .missing
    case .wrongType: .wrongType
    case .duplicate: path.hasSuffix("]") ? .duplicateIdentifier : .duplicateMember
    case .tooLarge, .tooDeep: .tooLarge
    case .unexpected: .unknownMember
    case .outOfRange, .invalidValue:
      switch path.split(separator: ".").last {
      case "type": .unknownType
      case "price": .invalidPrice
      case "period": .invalidPeriod
      case "sha256": .invalidDownload
      default: .invalidValue
      }
    default: .notJSON
    }
  }
}
