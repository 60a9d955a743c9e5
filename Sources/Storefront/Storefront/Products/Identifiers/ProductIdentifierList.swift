// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import ReceiptBytes
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
      try ProductIdentifierError.check(identifier, at: "$[\(index)]")
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
  static func check(_ identifier: String, at path: String) throws(ProductIdentifierError) {
    do { try checkIdentifier(identifier, "product", at: path) } catch {
      throw ProductIdentifierError(.invalidIdentifier, at: path, error.message)
    }
  }

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

extension ProductIdentifierList {
  /// Reads the list that comes with an app: the resource `product_ids`, a property list or a JSON file.
  ///
  /// - Parameters:
  ///   - name: The resource, without its extension.
  ///   - directory: The directory of the app's resources, such as `Bundle.main.resourceURL`.
  /// - Throws: ``ProductIdentifierError`` with `not-found` if there is neither `name.plist` nor `name.json`, and the
  ///   errors of ``init(contentsOf:)``.
  public init(resource name: String = "product_ids", in directory: URL) throws(ProductIdentifierError) {
    for file in ["\(name).plist", "\(name).json"].map({ directory.appending(path: $0) })
    where FileManager.default.fileExists(atPath: file.path) {
      try self.init(contentsOf: file)
      return
    }
    throw ProductIdentifierError(
      .notFound, at: directory.path,
      "There is neither \(name).plist nor \(name).json; add one to the resources.")
  }

  /// Reads a list from a file: a property list in XML or binary, or JSON. The first bytes determine the format.
  ///
  /// - Throws: ``ProductIdentifierError`` with the place in the file.
  public init(contentsOf file: URL) throws(ProductIdentifierError) {
    do throws(ProductIdentifierError) {
      let bytes = try SmallFile(path: file.path).read(limit: Self.maximumByteCount)
      let first = bytes.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
      if first == UInt8(ascii: "[") || first == UInt8(ascii: "{") {
        try self.init(json: bytes)
      } else {
        try self.init(propertyList: bytes)
      }
    } catch {
      throw error.inside(file.path)
    }
  }
}

/// A file that is read and written as a whole.
struct SmallFile {
  let path: String

  var exists: Bool { FileManager.default.fileExists(atPath: path) }

  func read(limit: Int) throws(ProductIdentifierError) -> [UInt8] {
    let status: File.Status?
    let bytes: [UInt8]?
    do throws(SystemError) {
      status = try FileSystem.status(path)
      bytes = status?.isRegularFile == true ? try FileSystem.read(path, limit: limit) : []
    } catch {
      throw ProductIdentifierError(.unreadable, at: "", "The file cannot be read: \(error.reason)")
    }
    guard let status else { throw ProductIdentifierError(.notFound, at: "", "There is no such file.") }
    try ProductIdentifierError.require(status.isRegularFile, .unreadable, at: "", "It is not a regular file.")
    guard let bytes else {
      throw ProductIdentifierError(.tooLarge, at: "", "The file has more than \(limit) bytes.")
    }
    return bytes
  }

  /// Replaces the file atomically. A reader sees the old file or the new one.
  func replace(with bytes: [UInt8]) throws(ProductIdentifierError) {
    do { try Data(bytes).write(to: URL(filePath: path), options: .atomic) } catch {
      throw ProductIdentifierError(.unreadable, at: "", "The file cannot be written: \(error)")
    }
  }
}
