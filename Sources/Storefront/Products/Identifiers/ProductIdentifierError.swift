// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// Why there is no list of product identifiers.
public struct ProductIdentifierError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of fault it is.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// There is no such file or resource.
    case notFound = "not-found"
    /// The file cannot be read.
    case unreadable
    /// There is nothing in it.
    case empty
    /// It is longer, or has more identifiers, than is allowed.
    case tooLarge = "too-large"
    /// It is neither JSON nor a property list in XML, or not a well-formed one.
    case malformed
    /// It is no array of strings.
    case wrongType = "wrong-type"
    /// One of the strings is no identifier.
    case invalidIdentifier = "invalid-identifier"
    /// The server refused.
    case refused
    /// The server's answer makes no sense.
    case invalidResponse = "invalid-response"
    /// The server could not be reached, or could not answer.
    case unavailable
    /// The task was cancelled.
    case cancelled
  }

  /// The kind of fault.
  public let code: Code
  /// Where: a file, an address, a JSON path, a byte.
  public let place: String
  /// What was found and what to do, in a sentence.
  public let message: String

  /// Creates an error.
  public init(_ code: Code, at place: String, _ message: String) {
    self.code = code
    self.place = ShownText.plain(place, limit: 1000)
    self.message = ShownText.plain(message, limit: 1000)
  }

  /// Code, place and message, on one line.
  public var description: String { "\(code.rawValue) at \(place): \(message)" }

  /// The same fault, of something in a file or at an address.
  func inside(_ container: String) -> ProductIdentifierError {
    ProductIdentifierError(code, at: place.isEmpty ? container : "\(container): \(place)", message)
  }
}
