// SPDX-License-Identifier: Apache-2.0

/// A path to a JSON value, such as `$.data.items[0].price`, for error messages.
package enum JSONPath {
  /// A step from an array or an object to one of its values.
  package enum Step {
    case index(Int)
    case member(String)
  }

  package static func text(_ steps: [Step]) -> String {
    var text = "$"
    for step in steps {
      switch step {
      case .index(let index): text += "[\(index)]"
      case .member(let name) where isPlain(name): text += ".\(name)"
      case .member(let name):
        var writer = JSONWriter()
        writer.string(name)
        text += "[" + String(decoding: writer.bytes, as: UTF8.self) + "]"
      }
    }
    return text
  }

  private static func isPlain(_ name: String) -> Bool {
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
