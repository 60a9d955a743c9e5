// SPDX-License-Identifier: Apache-2.0

/// Members of objects that ReceiptKit itself defines. Absent ones are left out.
extension JSONWriter {
  /// The version of these objects, their member `version`. It changes where a member changes its meaning or is left
  /// out; members are added without.
  package static let formatVersion: Int64 = 1

  /// Begins an object with the members `type` and `version`.
  package init(type: String) {
    self.init()
    beginObject(type: type)
  }

  /// Begins an object with the members `type` and `version`.
  package mutating func beginObject(type: String) {
    // No object of ours has much less, and a verdict has not much more: its memory is not allocated six times.
    reserveCapacity(1024)
    beginObject()
    member("type", type)
    member("version", Self.formatVersion)
  }

  package mutating func member(_ name: String, _ value: String?) {
    guard let value else { return }
    self.name(name)
    string(value)
  }

  package mutating func member(_ name: String, _ value: Int64?) {
    guard let value else { return }
    self.name(name)
    integer(value)
  }

  package mutating func member(_ name: String, _ value: Bool?) {
    guard let value else { return }
    self.name(name)
    bool(value)
  }

  /// ISO 8601 with milliseconds.
  package mutating func member(_ name: String, _ value: Timestamp?) {
    guard let value else { return }
    self.name(name)
    timestamp(value)
  }

  package mutating func member(_ name: String, _ value: ReceiptEnvironment?) {
    member(name, value?.plainName)
  }
}
