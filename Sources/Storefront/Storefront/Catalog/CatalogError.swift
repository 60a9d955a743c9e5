// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

extension CatalogError {
  package var path: String { place }

  /// Converts an error of the JSON reader. Its place is always a JSON path, even if the reader states a byte offset.
  init(_ error: MalformedReceipt, in bytes: [UInt8]) {
    switch error.place {
    case .jsonPath(let path): self.init(Self.code(of: error.code, at: path), at: path, error.message)
    case .byteOffset(let offset, _):
      let isTooLarge = error.code == .tooLarge || error.code == .tooDeep
      self.init(
        isTooLarge ? .tooLarge : .notJSON, at: JSONPathFinder.path(at: offset, in: bytes), error.message,
        byteOffset: offset)
    default: self.init(.notJSON, at: "$", error.message)
    }
  }

  private static func code(of code: MalformedReceipt.Code, at path: String) -> Code {
    switch code {
    case .missing: .missing
    case .wrongType: .wrongType
    case .duplicate: path.hasSuffix("]") && !path.hasSuffix("\"]") ? .duplicateIdentifier : .duplicateMember
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

/// Finds the JSON value that contains a byte, in a document that is JSON up to that byte.
///
/// It only follows brackets, commas and strings, so it works up to a syntax error. If the document is malformed before
/// the byte, the path is a guess.
enum JSONPathFinder {
  /// A depth that no reader reaches.
  private static let greatestDepth = 512

  static func path(at offset: Int, in bytes: [UInt8]) -> String {
    // `nil` is a member whose name has not been read yet.
    var steps: [JSONPath.Step?] = []
    var index = 0
    let end = min(offset, bytes.count)
    while index < end, steps.count <= greatestDepth {
      switch bytes[index] {
      case UInt8(ascii: "\""):
        let close = endOfString(from: index + 1, in: bytes)
        // Only a name that ends before the fault is complete.
        if case .some(.none) = steps.last, close < end {
          let name = try? JSONValue(parsing: Array(bytes[index...close])).string
          steps[steps.count - 1] = .member(name ?? String(decoding: bytes[index + 1..<close], as: UTF8.self))
        }
        index = close
      case UInt8(ascii: "{"): steps.append(nil)
      case UInt8(ascii: "["): steps.append(.index(0))
      case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = steps.popLast()
      case UInt8(ascii: ","):
        if case .index(let count)?? = steps.last {
          steps[steps.count - 1] = .index(count + 1)
        } else if !steps.isEmpty {
          steps[steps.count - 1] = nil
        }
      default: break
      }
      index += 1
    }
    return JSONPath.text(steps.compactMap(\.self))
  }

  /// The index of the closing quotation mark, or the count if it is missing.
  private static func endOfString(from start: Int, in bytes: [UInt8]) -> Int {
    var index = start
    while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
      index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(index, bytes.count)
  }
}
