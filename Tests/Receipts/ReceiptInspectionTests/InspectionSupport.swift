// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptInspection
import ReceiptTesting

extension Inspection {
  /// The sample of a kind.
  init(of kind: ReceiptKind) throws { try self.init(of: TestReceipts().receipt(of: kind)) }

  /// A JWS with this payload and these certificates, which nobody signed.
  init(jws payload: String, certificates: [[UInt8]]) throws {
    let chain = certificates.map { "\"\(Base64.encodeToString($0))\"" }.joined(separator: ",")
    let parts = [#"{"alg":"ES256","x5c":[\#(chain)]}"#, payload, "signature"]
    let compact = parts.map { Base64URL.encodeToString(Array($0.utf8)) }.joined(separator: ".")
    try self.init(of: Array(compact.utf8))
  }

  /// Returns the output of ``write(to:redacting:)``, parsed.
  func json(redacting: Bool = false) throws -> JSONValue {
    var object = JSONWriter(type: "inspection")
    write(to: &object, redacting: redacting)
    object.endObject()
    return try JSONValue(parsing: object.bytes)
  }
}
