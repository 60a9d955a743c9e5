// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Finds the JSON value that a byte belongs to, in a document that is JSON up to that byte.
///
/// It only follows brackets, commas and strings, so that it works up to a syntax error. If the document is malformed
/// before the byte, the path is a guess.
enum JSONPathFinder {
  /// Deeper than any reader goes.
  private static let greatestDepth = 512

  static func path(at offset: Int, in bytes: [UInt8]) -> String {
    // A member without a name is one whose name has not been read.
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

  /// Index of the closing quotation mark, or the count.
  private static func endOfString(from start: Int, in bytes: [UInt8]) -> Int {
    var index = start
    while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
      index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(index, bytes.count)
  }
}
