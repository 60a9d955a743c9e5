// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptInspection

/// Fuzzes the description of a receipt that nobody verified. The first byte says what the rest is:
/// - 0: a receipt as it comes;
/// - 1: a certificate in DER or PEM, whose extensions are described.
func fuzzInspect(_ bytes: [UInt8]) {
  guard let mode = bytes.first else { return }
  let rest = Array(bytes.dropFirst())
  switch mode {
  case 0: if let inspection = try? Inspection(of: rest) { show(inspection) }
  case 1:
    for certificate in (try? Certificate.certificates(in: rest)) ?? [] {
      let extensions = certificate.jsonValue["extensions"]?.array
      require(extensions?.count == certificate.extensions.count, "an extension is left out")
    }
  default: break
  }
}

private func show(_ inspection: Inspection) {
  var object = JSONWriter(type: "inspection")
  inspection.write(to: &object)
  object.endObject()
  let json = object.bytes
  // A signed part may stand at the deepest level of the payload, and be as deep itself.
  var limits = ReceiptLimits.standard
  limits.maximumDepth = 2 * limits.maximumDepth + 4
  limits.maximumByteCount = .max
  let value = mustSucceed("the JSON cannot be read") { try JSONValue(parsing: json, limits: limits) }
  require(value["verified"] == .bool(false), "it does not say that nothing was verified")

  let text = InspectionText(of: inspection, source: "-")
  for shown in [text.full, text.certificates, text.summary(at: Timestamp(secondsSince1970: 1_759_302_552))] {
    require(!shown.utf8.contains { $0 < 0x20 && $0 != 0x0A }, "control characters are shown")
    require(shown.hasPrefix("UNVERIFIED  ") && shown.contains("\nUNVERIFIED: "), "a frame is missing")
  }
}
