// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// A property list, in XML or binary, that is an array of strings.
///
/// Foundation reads it. These limits are checked first, because Foundation does not check them:
///
/// - Foundation reads XML recursively, so a few thousand nested arrays would overflow its stack.
/// - It reads a text that is not XML as an old-style property list.
/// - All elements of a binary array may refer to one long string. So the number of elements, and the length of each,
///   are checked before the next one is copied.
struct PropertyListStrings: Decodable {
  private var strings: [String] = []

  static func read(_ file: [UInt8]) throws(ProductIdentifierError) -> [String] {
    let isBinary = file.starts(with: "bplist".utf8)
    let list = isBinary ? file[...] : try plistElement(of: file)
    // The trailer of a binary list has 64-bit numbers, so it contains a zero byte.
    guard !isBinary || list.suffix(32).contains(0) else {
      throw ProductIdentifierError(.malformed, at: "byte 0", "The file is no binary property list.")
    }
    do {
      return try PropertyListDecoder().decode(PropertyListStrings.self, from: Data(list)).strings
    } catch let error as ProductIdentifierError {
      throw error
    } catch DecodingError.typeMismatch(_, let context) {
      let path = context.codingPath.reduce("$") { $0 + ($1.intValue.map { "[\($0)]" } ?? "") }
      throw ProductIdentifierError(wrongTypeAt: path)
    } catch DecodingError.dataCorrupted(let context) {
      let cause = unsafe (context.underlyingError as? CocoaError)?.userInfo["NSDebugDescription"] as? String
      // Foundation's line numbers are wrong.
      let words = cause ?? context.debugDescription
      let end = words.firstRange(of: " at line ")?.lowerBound ?? words.endIndex
      throw ProductIdentifierError(.malformed, at: "$", "It is no property list: \(words[..<end]).")
    } catch {
      throw ProductIdentifierError(.malformed, at: "$", "It is no property list: \(error)")
    }
  }

  /// The greatest number of arrays and dictionaries in XML. One is valid; up to this number, the error states the
  /// place.
  private static let maximumNestedCount = 64

  /// The element `plist` of an XML file. The text before it is dropped, because an encoding and a document type have
  /// no effect.
  private static func plistElement(of file: [UInt8]) throws(ProductIdentifierError) -> ArraySlice<UInt8> {
    let tag = Array("<plist".utf8)
    let parts = file.split(separator: tag, maxSplits: 2, omittingEmptySubsequences: false)
    let prolog = String(decoding: parts[0], as: UTF8.self).trimmingPrefix("\u{FEFF}").filter {
      !$0.isWhitespace
    }
    try ProductIdentifierError.require(
      parts.count > 1 || !prolog.isEmpty, .empty, at: "byte 0", "The property list is empty.")
    try ProductIdentifierError.require(
      parts.count == 2 && (prolog.isEmpty || prolog.hasPrefix("<") && prolog.hasSuffix(">"))
        && !prolog.contains("["), .malformed, at: "byte 0",
      "The file is not one property list, without declarations of its own.")
    let attributes = String(decoding: parts[1].prefix { $0 != UInt8(ascii: ">") }, as: UTF8.self)
    try ProductIdentifierError.require(
      ["", " version=\"1.0\""].contains(attributes), .malformed, at: "byte \(parts[1].startIndex)",
      "The property list is not of the version 1.0.")
    let nested = zip(parts[1], parts[1].dropFirst()).count { first, second in
      first == UInt8(ascii: "<") && [UInt8(ascii: "a"), UInt8(ascii: "d")].contains(second)
    }
    guard nested <= maximumNestedCount else { throw ProductIdentifierError(wrongTypeAt: "$") }
    return file[(parts[1].startIndex - tag.count)...]
  }

  init(from decoder: any Decoder) throws {
    var elements = try decoder.unkeyedContainer()
    try ProductIdentifierError.require(
      elements.count ?? 0 <= ProductIdentifierList.maximumCount, .tooLarge, at: "$",
      "The list has more than \(ProductIdentifierList.maximumCount) identifiers.")
    while !elements.isAtEnd {
      let identifier = try elements.decode(String.self)
      try ProductIdentifierError.check(identifier, at: "$[\(strings.count)]")
      strings.append(identifier)
    }
  }
}
