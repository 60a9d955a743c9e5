// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec

/// Optional members, which are omitted if absent.
extension JSONWriter {
  mutating func member(_ name: String, _ value: String?) {
    guard let value else { return }
    self.name(name)
    string(value)
  }

  mutating func member(_ name: String, _ value: Int64?) {
    guard let value else { return }
    self.name(name)
    integer(value)
  }

  mutating func member(_ name: String, _ value: Bool) {
    self.name(name)
    bool(value)
  }
}
