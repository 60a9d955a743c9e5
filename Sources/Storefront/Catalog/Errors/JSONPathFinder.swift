// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Finds the JSON value that a byte belongs to, in a document that is JSON up to that byte.
///
/// It only follows brackets, commas and strings, so that it works up to a syntax error. If the document is malformed
/// before the byte, the path is a guess.
enum JSONPathFinder {
  /// The position of the current value in its container.
  private enum Step {
    case element(Int)
    /// The range of the name between its quotation marks; `nil` until it has been read.
    case member(Range<Int>?)
  }

  /// Deeper than any reader goes.
  private static let greatestDepth = 512

  static func path(at offset: Int, in bytes: [UInt8]) -> String {
    var steps: [Step] = []
    var index = 0
    let end = min(offset, bytes.count)
    while index < end, steps.count <= greatestDepth {
      switch bytes[index] {
      case UInt8(ascii: "\""):
        let close = endOfString(from: index + 1, in: bytes)
        // Only a name that ends before the fault is complete.
        if case .member(.none)? = steps.last, close < end {
          steps[steps.count - 1] = .member(index + 1..<close)
        }
        index = close
      case UInt8(ascii: "{"): steps.append(.member(nil))
      case UInt8(ascii: "["): steps.append(.element(0))
      case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = steps.popLast()
      case UInt8(ascii: ","):
        switch steps.last {
        case .element(let count)?: steps[steps.count - 1] = .element(count + 1)
        case .member?: steps[steps.count - 1] = .member(nil)
        case nil: break
        }
      default: break
      }
      index += 1
    }
    return text(steps, bytes)
  }

  /// Index of the closing quotation mark, or the count.
  private static func endOfString(from start: Int, in bytes: [UInt8]) -> Int {
    var index = start
    while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
      index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(index, bytes.count)
  }

  private static func text(_ steps: [Step], _ bytes: [UInt8]) -> String {
    var text = "$"
    for step in steps {
      switch step {
      case .element(let index): text += "[\(index)]"
      case .member(.none): break
      case .member(.some(let range)):
        let name = String(decoding: bytes[range], as: UTF8.self)
        // A quoted name keeps the escapes that it has in the document.
        text += isPlain(name) ? ".\(name)" : "[\"\(name)\"]"
      }
    }
    return text
  }

  /// Whether a member's name needs no quotation marks in a path.
  static func isPlain(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }
}
