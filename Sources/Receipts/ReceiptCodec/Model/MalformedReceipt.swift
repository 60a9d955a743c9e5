// SPDX-License-Identifier: Apache-2.0

extension MalformedReceipt {
  /// The place of the error in the input.
  public enum Place: Sendable, Hashable, CustomStringConvertible {
    /// A byte offset into the receipt, after any base64 around it has been decoded.
    ///
    /// `within` names the part of the receipt, such as "JWS header" or "purchase-info".
    case byteOffset(Int, within: String)
    /// A JSON path such as `$.data.signedTransactionInfo`.
    case jsonPath(String)
    /// An attribute of an app receipt, with the index of the in-app purchase if it belongs to one.
    case attribute(type: Int, inAppIndex: Int?)
    /// A key of a property list.
    case propertyListKey(String)
    /// A certificate of the embedded chain; index 0 is the leaf.
    case certificate(index: Int)
    /// The receipt as a whole.
    case whole

    /// The place as it appears in an error message.
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

  /// The message with its place.
  public var description: String { "\(message) (\(place))" }
}
