// SPDX-License-Identifier: Apache-2.0

/// Bytes that are not a receipt, or not a well-formed one: what is wrong, where, and what to do about it.
public struct MalformedReceipt: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of fault, as a word that stays stable.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// There are no bytes, or only white space.
    case empty
    /// The bytes are of no kind that is known.
    case unrecognized
    /// The input ends in the middle of a value.
    case truncated
    /// Bytes follow where the receipt should have ended.
    case trailingData = "trailing-data"
    /// A byte or token that the format does not allow here.
    case unexpected
    /// A value breaks its format: a bad length, date, number or encoding.
    case invalidValue = "invalid-value"
    /// A value is of another type than the field has.
    case wrongType = "wrong-type"
    /// A field or attribute that may occur once occurs again.
    case duplicate
    /// A field or attribute that the format requires is absent.
    case missing
    /// Nested deeper than the limit.
    case tooDeep = "too-deep"
    /// More bytes or more elements than the limit.
    case tooLarge = "too-large"
    /// A number outside the range of its type.
    case outOfRange = "out-of-range"
    /// Not valid base64 or base64url.
    case invalidBase64 = "invalid-base64"
    /// Not valid UTF-8.
    case invalidUTF8 = "invalid-utf8"
    /// Well formed, but of a version or shape that this codec does not accept.
    case unsupported
  }

  /// The place of the fault in the input.
  public enum Place: Sendable, Hashable, CustomStringConvertible {
    /// A byte offset into the receipt after any base64 around it was removed; `within` names the part
    /// (for example "JWS header", "purchase-info").
    case byteOffset(Int, within: String)
    /// A JSON path such as `$.data.signedTransactionInfo`.
    case jsonPath(String)
    /// An attribute of an app receipt, and for an attribute of an in-app purchase the index of the purchase.
    case attribute(type: Int, inAppIndex: Int?)
    /// A key of a property list.
    case propertyListKey(String)
    /// A certificate of the embedded chain; 0 is the leaf.
    case certificate(index: Int)
    /// The receipt as a whole.
    case whole

    /// The place in words, as it stands in an error message.
    public var description: String {
      switch self {
      case .byteOffset(let offset, let part): "byte \(offset) of the \(part)"
      case .jsonPath(let path): path
      case .attribute(let type, nil): "attribute \(type)"
      case .attribute(let type, .some(let index)): "attribute \(type) of in-app purchase \(index)"
      case .propertyListKey(let key): "key \"\(key)\""
      case .certificate(let index): "certificate \(index)"
      case .whole: "the receipt"
      }
    }
  }

  /// The kind of fault.
  public let code: Code
  /// The place of the fault.
  public let place: Place
  /// One sentence for a person: what was found, what was expected, what to do.
  public let message: String

  /// Creates an error.
  package init(_ code: Code, at place: Place, _ message: String) {
    self.code = code
    self.place = place
    self.message = message
  }

  /// The message with its place.
  public var description: String { "\(message) (\(place))" }
}
