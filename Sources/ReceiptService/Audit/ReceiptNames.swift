// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import ReceiptBytes

  /// Looks whether a text can be read in a receipt, verified or not, whole or damaged: in its bytes, or in what they are the
  /// base64 of, as the parts of a JWS, also within one another.
  enum ReceiptNames {
    /// A notification has transactions in it: a JWS in a JWS, and perhaps the whole in base64.
    private static let maximumNesting = 4

    /// Whether the name of a customer can be read in a receipt. Letters of a UUID count in both cases.
    static func contain(_ customer: String, in receipt: [UInt8]) -> Bool {
      let isUUID = RecordingOptions.canonicalCustomer(customer.uppercased()) != customer.uppercased()
      let name = Array(customer.utf8)
      return !name.isEmpty && contain(isUUID ? name.map(lowercased) : name, in: receipt, isUUID, nesting: 0)
    }

    private static func contain(_ name: [UInt8], in bytes: [UInt8], _ ignoresCase: Bool, nesting: Int) -> Bool
    {
      if has(name, in: ignoresCase ? bytes.map(lowercased) : bytes) { return true }
      guard nesting < maximumNesting else { return false }
      return bytes.split(whereSeparator: { !isBase64($0) }).contains { run in
        // Base64 of the name is longer than the name.
        guard run.count > name.count, let decoded = decode(Array(run)) else { return false }
        return contain(name, in: decoded, ignoresCase, nesting: nesting + 1)
      }
    }

    private static func has(_ name: [UInt8], in bytes: [UInt8]) -> Bool {
      guard let first = name.first, bytes.count >= name.count else { return false }
      return (0...bytes.count - name.count).contains { start in
        bytes[start] == first && bytes[start..<start + name.count].elementsEqual(name)
      }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
      UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
    }

    private static func isBase64(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "-"),
        UInt8(ascii: "_"):
        true
      default: false
      }
    }

    /// Decodes base64 of both alphabets, without padding; of a damaged text as much as whole groups have.
    private static func decode(_ run: [UInt8]) -> [UInt8]? {
      let text = run.map { byte in
        switch byte {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        default: byte
        }
      }
      if let decoded = try? Base64URL.decode(text) { return decoded }
      return try? Base64URL.decode(Array(text.prefix(text.count / 4 * 4)))
    }
  }
#endif
