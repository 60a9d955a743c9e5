// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import ReceiptCodec

/// The identifiers of the products that an app sells, from its resources or its server. An app must know them, because
/// no call lists the products of a store.
public struct ProductIdentifierList: Sendable, Hashable {
  /// The identifiers in the order of the list, without duplicates.
  public let identifiers: [String]
  /// Identifiers that occur more than once in the list, which is a harmless error.
  package let duplicates: [String]

  package static let maximumCount = 100_000
  package static let maximumByteCount = 4 << 20

  /// Creates a list.
  ///
  /// - Parameter identifiers: The identifiers. Duplicates are removed and recorded.
  /// - Throws: ``ProductIdentifierError`` with `invalid-identifier` if one is empty, is longer than 255 bytes, or
  ///   contains control characters, and `too-large` if there are too many.
  public init(_ identifiers: [String]) throws(ProductIdentifierError) {
    try ProductIdentifierError.require(
      identifiers.count <= Self.maximumCount, .tooLarge, at: "$",
      "The list has more than \(Self.maximumCount) identifiers.")
    var seen: Set<String> = []
    var unique: [String] = []
    var repeated: [String] = []
    for (index, identifier) in identifiers.enumerated() {
      do throws(CatalogError) { try checkIdentifier(identifier, "product", at: "$[\(index)]") } catch {
        throw ProductIdentifierError(.invalidIdentifier, at: error.path, error.message)
      }
      if seen.insert(identifier).inserted {
        unique.append(identifier)
      } else if !repeated.contains(identifier) {
        repeated.append(identifier)
      }
    }
    self.identifiers = unique
    duplicates = repeated
  }

  /// Reads a JSON array of strings. The error has a JSON path or byte offset.
  package init(json: [UInt8]) throws(ProductIdentifierError) {
    let value: JSONValue
    do throws(MalformedReceipt) {
      let limits = ReceiptLimits(
        maximumByteCount: Self.maximumByteCount, maximumDepth: 4, maximumElementCount: Self.maximumCount)
      value = try JSONValue(parsing: json, limits: limits)
    } catch {
      throw ProductIdentifierError(error)
    }
    guard let elements = value.array else { throw ProductIdentifierError(wrongTypeAt: "$") }
    var identifiers: [String] = []
    for (index, element) in elements.enumerated() {
      guard let identifier = element.string else { throw ProductIdentifierError(wrongTypeAt: "$[\(index)]") }
      identifiers.append(identifier)
    }
    try self.init(identifiers)
  }

  /// Reads a property list in XML or binary: an array of strings. The error has a path or byte offset.
  package init(propertyList: [UInt8]) throws(ProductIdentifierError) {
    try ProductIdentifierError.require(
      propertyList.count <= Self.maximumByteCount, .tooLarge, at: "byte \(Self.maximumByteCount)",
      "The property list has \(propertyList.count) bytes; the limit is \(Self.maximumByteCount).")
    try self.init(try PropertyListStrings.read(propertyList))
  }
}

extension ProductIdentifierError {
  init(wrongTypeAt path: String) {
    self.init(
      .wrongType, at: path, "A list of product identifiers is an array of strings; here is something else.")
  }

  init(_ error: MalformedReceipt) {
    let code: Code =
      switch error.code {
      case .empty: .empty
      case .tooLarge, .tooDeep: .tooLarge
      default: .malformed
      }
    self.init(code, at: error.place.description, error.message)
  }

  /// The same error with the file or address that contains the place.
  func inside(_ container: String) -> ProductIdentifierError {
    ProductIdentifierError(code, at: place.isEmpty ? container : "\(container): \(place)", message)
  }
}
