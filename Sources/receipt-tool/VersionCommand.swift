// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiptCodec
import ReceiptHTTP
import ReceiptVerification

/// The version of the whole toolkit.
let toolVersion = UserAgent.version

/// `receipt-tool version`: the version, and the capabilities of libcrypto.
struct VersionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "version",
    abstract:
      "Show the version, that of libcrypto, and whether signatures are verified with tables of a fixed key.",
    discussion: """
      EXAMPLE:
        receipt-tool version --json

      EXIT CODES:
        0 shown; 64 wrong command line; 74 the output cannot be written.
      """)

  @Flag(name: .customLong("json"), help: "Print one JSON object.")
  var json = false

  func run() throws {
    let capabilities = VerificationCapabilities.current
    if json {
      var object = JSONWriter()
      object.beginObject()
      object.member("version", toolVersion)
      object.member("libcrypto", capabilities.libcryptoVersion)
      object.member("fixedKeyTables", capabilities.hasFixedKeyTables)
      object.endObject()
      try writeLine(object)
    } else {
      let tables = capabilities.hasFixedKeyTables ? "available" : "not available: the ordinary call is used"
      let text = """
        receipt-tool      \(toolVersion)
        libcrypto         \(capabilities.libcryptoVersion)
        fixed-key tables  \(tables)

        """
      try writeAll(text)
    }
  }
}
