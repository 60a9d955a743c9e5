// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import ReceiptBytes

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
  /// - Parameter file: The file.
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
