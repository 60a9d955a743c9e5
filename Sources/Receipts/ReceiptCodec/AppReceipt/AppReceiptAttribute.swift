// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// One attribute of an app receipt or of an in-app purchase in it.
///
/// ```
/// ReceiptAttribute ::= SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }
/// ```
package struct AppReceiptAttribute: Sendable, Hashable {
  /// The type of the attribute, such as 2 for the bundle identifier.
  package var type: Int
  /// The version of the attribute: 1, except 2 for type 4 from the App Store.
  package var version: Int
  /// The octets of the value. For most types they are an ASN.1 value in DER.
  package var value: ArraySlice<UInt8>

  package init(type: Int, version: Int = 1, value: ArraySlice<UInt8>) {
    self.type = type
    self.version = version
    self.value = value
  }

  func encoded() -> [UInt8] {
    var writer = ASN1Writer()
    writer.write(.sequence) { sequence in
      sequence.write(integer: Int64(type))
      sequence.write(integer: Int64(version))
      sequence.write(octetString: value)
    }
    return writer.bytes
  }

  /// Returns the attributes of a set that has already been decoded.
  static func all(in set: ArraySlice<UInt8>) -> [AppReceiptAttribute] {
    let bytes = set.span
    var attributes: [AppReceiptAttribute] = []
    var top = ReceiptASN1Reader(0..<bytes.count, part: AppReceiptPayload.part)
    do throws(MalformedReceipt) {
      var reader = try top.enter(.set, bytes)
      while try !reader.isAtEnd(bytes) {
        let raw = try RawAttribute(reading: &reader, bytes)
        let range = (set.startIndex + raw.value.lowerBound)..<(set.startIndex + raw.value.upperBound)
        attributes.append(AppReceiptAttribute(type: raw.type, version: raw.version, value: set[range]))
      }
      try top.leave(reader, bytes)
    } catch {
      // Not reached: decoding has rejected a malformed set.
    }
    return attributes
  }
}
