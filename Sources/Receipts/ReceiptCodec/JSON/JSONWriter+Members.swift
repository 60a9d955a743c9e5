// SPDX-License-Identifier: Apache-2.0

/// Writes the members of objects that ReceiptKit itself defines; members without a value are omitted.
extension JSONWriter {
  /// The value of the `version` member of these objects. It increases if a member is removed or changes its meaning,
  /// but not if a member is added.
  package static let formatVersion: Int64 = 1

  /// Begins an object with the members `type` and `version`.
  package init(type: String) {
    self.init()
    beginObject(type: type)
  }

  /// Begins an object with the members `type` and `version`.
  package mutating func beginObject(type: String) {
    // Few objects are much smaller, and a verdict is not much larger. Without this, a verdict's buffer would be
    // allocated six times.
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

  /// Writes a member in ISO 8601 with milliseconds.
  package mutating func member(_ name: String, _ value: Timestamp?) {
    guard let value else { return }
    self.name(name)
    timestamp(value)
  }

  package mutating func member(_ name: String, _ value: ReceiptEnvironment?) {
    member(name, value?.plainName)
  }
}
