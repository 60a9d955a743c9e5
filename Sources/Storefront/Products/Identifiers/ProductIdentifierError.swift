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
    /// It is empty.
    case empty
    /// It is too long, or has too many identifiers.
    case tooLarge = "too-large"
    /// It is neither JSON nor a property list in XML, or not a well-formed one.
    case malformed
    /// It is not an array of strings.
    case wrongType = "wrong-type"
    /// One of the strings is not a valid identifier.
    case invalidIdentifier = "invalid-identifier"
    /// The server refused.
    case refused
    /// The server's answer is invalid.
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
  package init(_ code: Code, at place: String, _ message: String) {
    self.code = code
    self.place = ShownText.plain(place, limit: 1000)
    self.message = ShownText.plain(message, limit: 1000)
  }

  /// Code, place and message, on one line.
  public var description: String { "\(code.rawValue) at \(place): \(message)" }

  /// The same error with the file or address that contains the place.
  func inside(_ container: String) -> ProductIdentifierError {
    ProductIdentifierError(code, at: place.isEmpty ? container : "\(container): \(place)", message)
  }
}
