// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import Entitlements
  internal import ReceiptBytes
  internal import ReceiptCodec

  /// Finds the names of customers in a receipt, which may be unverified or damaged.
  ///
  /// It searches the bytes, and the bytes decoded from base64 in them, such as the parts of a JWS, also if they are
  /// nested.
  enum ReceiptNames {
    private static let members = EntitlementLedger.customerMembers.map { Array($0.utf8) }
    /// The maximum number of accounts that are taken from one receipt.
    private static let maximumAccountCount = 64

    /// Returns `true` if a receipt contains a customer's name, in plain text or base64.
    ///
    /// UUIDs are compared case-insensitively.
    static func contain(_ customer: String, in receipt: [UInt8]) -> Bool {
      let isUUID = isUUID(customer)
      let name = isUUID ? customer.utf8.map(lowercased) : Array(customer.utf8)
      var layers = EncodedLayers(receipt, minimumRunByteCount: name.count + 1)
      while let layer = layers.next() {
        if (isUUID ? layer.map(lowercased) : layer).place(of: name) != nil { return true }
      }
      // JSON may spell the name with escape sequences.
      return accounts(in: receipt).contains(customer)
    }

    /// The accounts that a receipt names, in canonical spelling (``RecordingOptions/canonicalCustomer(_:)``) and in the
    /// order of occurrence.
    ///
    /// If no member names an account by a UUID, perhaps because the receipt is damaged, every UUID counts as an
    /// account.
    static func accounts(in receipt: [UInt8]) -> [String] {
      var named: [String] = []
      var others: [String] = []
      func add(_ text: String?, to accounts: inout [String]) {
        guard let text, 1...512 ~= text.utf8.count, accounts.count < maximumAccountCount else { return }
        let account = RecordingOptions.canonicalCustomer(text)
        if !accounts.contains(account) { accounts.append(account) }
      }
      var layers = EncodedLayers(receipt, minimumRunByteCount: 20)
      while let layer = layers.next() {
        for member in members {
          for place in layer.places(of: member) {
            add(text(after: place + member.count, in: layer), to: &named)
          }
        }
        // A UUID has 36 bytes, and its first hyphen follows the first eight.
        for dash in layer.places(of: [UInt8(ascii: "-")])
        where dash >= 8 && dash + 28 <= layer.count && layer[dash + 5] == UInt8(ascii: "-") {
          let text = String(decoding: layer[dash - 8..<dash + 28], as: UTF8.self)
          if isUUID(text) { add(text, to: &others) }
        }
      }
      return named.contains(where: isUUID) ? named : named + others.filter { !named.contains($0) }
    }

    /// The string value of the member whose name ends at a place, cut off if the input is.
    ///
    /// The object may itself be inside a string, with its quotation marks escaped.
    private static func text(after place: Int, in bytes: [UInt8]) -> String? {
      var rest = bytes[place...]
      rest = rest.drop { $0 == UInt8(ascii: "\\") }
      guard rest.popFirst() == UInt8(ascii: "\"") else { return nil }
      rest = rest.drop { $0 == UInt8(ascii: " ") }
      guard rest.popFirst() == UInt8(ascii: ":") else { return nil }
      rest = rest.drop { $0 == UInt8(ascii: " ") }
      let isEscaped = rest.first == UInt8(ascii: "\\")
      rest = rest.drop { $0 == UInt8(ascii: "\\") }
      guard rest.popFirst() == UInt8(ascii: "\"") else { return nil }
      var end = rest.startIndex
      while end < rest.endIndex, rest[end] != UInt8(ascii: "\"") {
        guard rest[end] == UInt8(ascii: "\\") else {
          end += 1
          continue
        }
        if isEscaped { break }
        end = min(end + 2, rest.endIndex)
      }
      let spelled = Array(rest[..<end])
      let quoted = [UInt8(ascii: "\"")] + spelled + [UInt8(ascii: "\"")]
      return (try? JSONValue(parsing: quoted))?.string ?? String(validating: spelled, as: UTF8.self)
    }

    /// Returns `true` for a UUID: only the canonical spelling of UUIDs is in lower case.
    private static func isUUID(_ text: String) -> Bool {
      RecordingOptions.canonicalCustomer(text.uppercased()) != text.uppercased()
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
      UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
    }
  }

  extension [UInt8] {
    /// The first place, from an index on, at which other bytes occur; `nil` for no bytes.
    func place(of pattern: [UInt8], from start: Int = 0) -> Int? {
      ByteSearch.firstIndex(of: pattern.span, in: span, from: start)
    }

    /// Every place at which other bytes occur.
    fileprivate func places(of pattern: [UInt8]) -> some Sequence<Int> {
      sequence(state: 0) { start in
        let place = place(of: pattern, from: start)
        start = (place ?? count) + 1
        return place
      }
    }
  }

  /// The layers of nested base64: the bytes themselves, the bytes decoded from them, and so on.
  struct EncodedLayers: IteratorProtocol {
    /// The maximum nesting: a notification contains transactions, which is a JWS in a JWS, and the whole may be in
    /// base64.
    private static let maximumNesting = 4
    /// The maximum number of decoded bytes for each input byte, so that the work is linear in the size of any input.
    ///
    /// Base64 nested four times, tried at four offsets, decodes to 4 × (1 + 3/4 + 9/16 + 27/64) bytes for each input
    /// byte.
    static let maximumDecodedBytesPerByte = 11

    private var pending: [(bytes: [UInt8], nesting: Int)]
    private let minimumRunByteCount: Int
    /// The number of bytes that may still be decoded.
    private var budget: Int

    init(_ bytes: [UInt8], minimumRunByteCount: Int) {
      pending = [(bytes, 0)]
      self.minimumRunByteCount = minimumRunByteCount
      budget = Self.maximumDecodedBytesPerByte * bytes.count
    }

    mutating func next() -> [UInt8]? {
      guard let (bytes, nesting) = pending.popLast() else { return nil }
      guard nesting < Self.maximumNesting else { return bytes }
      var decoded: [(bytes: [UInt8], nesting: Int)] = []
      // Base64 may be split into lines.
      let text = bytes.filter { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
      for run in text.split(whereSeparator: { !Self.isBase64($0) }) where run.count >= minimumRunByteCount {
        // After a lost or added digit, the base64 groups begin at another offset. Plain text is not affected.
        for shift in 0..<4 where budget >= run.count {
          budget -= run.count
          guard let layer = Self.decode(run.dropFirst(shift)) else { continue }
          decoded.append((layer, nesting + 1))
          if layer.allSatisfy({ $0 < 0x80 }) { break }
        }
      }
      pending += decoded.reversed()
      return bytes
    }

    private static func isBase64(_ byte: UInt8) -> Bool {
      byte.isASCIILetterOrDigit || "+/-_".utf8.contains(byte)
    }

    /// Decodes base64 of both alphabets, without padding.
    ///
    /// A damaged text is decoded up to its last whole group.
    private static func decode(_ run: ArraySlice<UInt8>) -> [UInt8]? {
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
