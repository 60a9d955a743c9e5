// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec

/// Other spellings of a transaction receipt, whose property list is not signed as a whole.
enum TransactionReceiptSpellings {
  /// At least 40 spellings.
  static func all(of receipt: [UInt8]) throws -> [[UInt8]] {
    let list = try PropertyList(parsing: receipt)
    var spellings: [[UInt8]] = []
    func add(_ change: (inout PropertyList) -> Void) {
      var changed = list
      change(&changed)
      spellings.append(changed.encoded())
    }
    for pod in 0..<20 { add { $0["pod"] = "pod \(pod)" } }
    for status in 1...5 { add { $0["signing-status"] = "\(status)" } }
    for count in 1..<list.entries.count {
      add { $0.entries = Array($0.entries.dropFirst(count) + $0.entries.prefix(count)) }
    }
    add { $0.entries.reverse() }
    add { $0["pod"] = nil }
    add { $0["another-key"] = "value" }
    for key in ["signature", "purchase-info"] {
      for length in [64, 76] { add { $0[key] = lines($0[key], length) } }
    }
    // White space between tokens, and values without quotation marks.
    for space in [" ", "\t", "\n", "\r\n"] {
      let text = list.entries.map { "\(space)\"\($0.key)\"\(space)=\(space)\"\($0.value)\"\(space);" }
        .joined()
      spellings.append(Array("\(space){\(text)\(space)}".utf8))
    }
    for number in 0..<5 {
      let text = list.entries.map { entry in
        entry.key == "pod" ? "pod = \(number);" : "\"\(entry.key)\" = \"\(entry.value)\";"
      }
      spellings.append(Array("{\(text.joined())}".utf8))
    }
    return spellings
  }

  private static func lines(_ value: String?, _ length: Int) -> String? {
    guard var rest = value?[...] else { return nil }
    var lines: [Substring] = []
    while !rest.isEmpty {
      lines.append(rest.prefix(length))
      rest = rest.dropFirst(length)
    }
    return lines.joined(separator: "\n")
  }
}
