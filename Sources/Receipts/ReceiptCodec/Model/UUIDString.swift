// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// A UUID as a payload contains it. The text is kept as it is: in upper or lower case, and even if it is not a UUID.
public struct UUIDString: RawRepresentable, Sendable, Hashable, Codable {
  /// The text in the payload.
  public let rawValue: String

  /// Creates a value from any text.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Creates a value from the 16 bytes of a UUID, in lower case; bytes of another number in plain hexadecimal.
  package init(bytes: [UInt8]) {
    let digits = Hexadecimal.encode(bytes)
    guard bytes.count == 16 else {
      self.init(rawValue: digits)
      return
    }
    var text = ""
    for (index, digit) in digits.enumerated() {
      if [8, 12, 16, 20].contains(index) { text.append("-") }
      text.append(digit)
    }
    self.init(rawValue: text)
  }

  /// Indicates whether the text is a UUID.
  package var isUUID: Bool { Self.isUUID(rawValue) }

  /// The UUID in lower case, as the App Store writes it; `nil` if the text is not a UUID.
  package var canonical: UUIDString? { isUUID ? UUIDString(rawValue: rawValue.lowercased()) : nil }

  /// Returns a UUID in lower case, as the App Store writes it; any other text unchanged.
  package static func canonical(_ text: String) -> String { isUUID(text) ? text.lowercased() : text }

  private static func isUUID(_ text: String) -> Bool {
    text.utf8.count == 36
      && text.utf8.enumerated().allSatisfy { index, byte in
        [8, 13, 18, 23].contains(index) ? byte == UInt8(ascii: "-") : Hexadecimal.value(byte) != nil
      }
  }
}

extension UUIDString: JSONEnumeration {}
