// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import ReceiptCodec

/// The identifiers of the products that an app sells, from its resources or its server. An app must know them: no call
/// lists the products of a store.
public struct ProductIdentifierList: Sendable, Hashable {
  /// The identifiers in the order of the list, each once.
  public let identifiers: [String]
  /// Identifiers that occur more than once in the list, which is a harmless mistake.
  public let duplicates: [String]

  /// The greatest number of identifiers: 100,000.
  package static let maximumCount = 100_000
  /// The longest list, in bytes: 4 MiB.
  package static let maximumByteCount = 4 << 20

  /// Creates a list.
  ///
  /// - Parameter identifiers: The identifiers; duplicates are removed and recorded.
  /// - Throws: ``ProductIdentifierError`` with `invalid-identifier` for one that is empty, longer than 255 bytes, or
  ///   contains control characters, and `too-large` for too many.
  public init(_ identifiers: [String]) throws(ProductIdentifierError) {
    guard identifiers.count <= Self.maximumCount else {
      throw ProductIdentifierError(
        .tooLarge, at: "$", "The list has more than \(Self.maximumCount) identifiers.")
    }
    var seen: Set<String> = []
    var unique: [String] = []
    var repeated: [String] = []
    for (index, identifier) in identifiers.enumerated() {
      do throws(CatalogError) {
        try checkIdentifier(identifier, "product", at: "$[\(index)]")
      } catch {
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

  /// Reads a JSON array of strings.
  ///
  /// - Parameter json: The whole file.
  /// - Throws: ``ProductIdentifierError`` with a JSON path or byte offset.
  public init(json: [UInt8]) throws(ProductIdentifierError) {
    let value: JSONValue
    do throws(MalformedReceipt) {
      value = try JSONValue(
        parsing: json,
        limits: ReceiptLimits(
          maximumByteCount: Self.maximumByteCount, maximumDepth: 4, maximumElementCount: Self.maximumCount))
    } catch {
      throw ProductIdentifierError(error)
    }
    guard let elements = value.array else {
      throw ProductIdentifierError(
        .wrongType, at: "$", "A list of product identifiers is an array of strings.")
    }
    var identifiers: [String] = []
    identifiers.reserveCapacity(elements.count)
    for (index, element) in elements.enumerated() {
      guard let identifier = element.string else {
        throw ProductIdentifierError(.wrongType, at: "$[\(index)]", "A product identifier is a string.")
      }
      identifiers.append(identifier)
    }
    try self.init(identifiers)
  }

  /// Reads a property list in XML or binary: an array of strings.
  ///
  /// - Parameter propertyList: The whole file.
  /// - Throws: ``ProductIdentifierError`` with a path or byte offset.
  public init(propertyList: [UInt8]) throws(ProductIdentifierError) {
    guard propertyList.count <= Self.maximumByteCount else {
      throw ProductIdentifierError(
        .tooLarge, at: "byte \(Self.maximumByteCount)",
        "The property list has \(propertyList.count) bytes; the limit is \(Self.maximumByteCount).")
    }
    if propertyList.starts(with: "bplist".utf8) {
      try self.init(try BinaryIdentifierList.strings(propertyList))
    } else {
      var reader = PropertyListArrayReader(propertyList, maximumCount: Self.maximumCount)
      try self.init(try reader.strings())
    }
  }

  /// The list as a JSON array.
  public func encodedJSON() -> [UInt8] { JSONValue.array(identifiers.map(JSONValue.string)).encoded() }
}

/// A binary property list that is an array of strings.
///
/// All elements of an array may refer to one long string, so that the number of elements and the length of each are
/// checked before the next one is copied.
private struct BinaryIdentifierList: Decodable {
  private var strings: [String] = []

  static func strings(_ bytes: [UInt8]) throws(ProductIdentifierError) -> [String] {
    let malformed = ProductIdentifierError(
      .malformed, at: "byte 0", "The file is no binary property list.")
    // The trailer has 64-bit numbers. Foundation would read a text that begins alike as an old-style property list.
    guard bytes.suffix(32).contains(0) else { throw malformed }
    do {
      return try PropertyListDecoder().decode(BinaryIdentifierList.self, from: Data(bytes)).strings
    } catch let error as ProductIdentifierError {
      throw error
    } catch DecodingError.typeMismatch(_, let context) {
      let path = context.codingPath.reduce("$") { $0 + ($1.intValue.map { "[\($0)]" } ?? "") }
      throw ProductIdentifierError(
        .wrongType, at: path, "A list of product identifiers is an array of strings; here is something else.")
    } catch {
      throw malformed
    }
  }

  init(from decoder: any Decoder) throws {
    var elements = try decoder.unkeyedContainer()
    guard elements.count ?? 0 <= ProductIdentifierList.maximumCount else {
      throw ProductIdentifierError(
        .tooLarge, at: "$", "The list has more than \(ProductIdentifierList.maximumCount) identifiers.")
    }
    while !elements.isAtEnd {
      let path = "$[\(strings.count)]"
      let identifier = try elements.decode(String.self)
      do throws(CatalogError) {
        try checkIdentifier(identifier, "product", at: path)
      } catch {
        throw ProductIdentifierError(.invalidIdentifier, at: path, error.message)
      }
      strings.append(identifier)
    }
  }
}

extension ProductIdentifierError {
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
