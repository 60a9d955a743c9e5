// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandOutput
import ReceiptCrypto
import ReceiptBytes
import ReceiptHTTPCurl
import ReceiptVerification
import SQLite

let toolVersion = ToolkitVersion.current

extension VersionCommand {
  func run() throws {
    let capabilities = testsItself ? VerificationCapabilities.current : nil
    let libcurl = testsItself ? CurlTransport.libraryVersion : nil
    let libcrypto = Libcrypto.version
    if json {
      let object = Output.Version(
        toolVersion: toolVersion, commit: Build.commit, configuration: Build.configuration,
        traits: Build.traits, libcrypto: libcrypto, sqlite: Database.libraryVersion,
        fixedKeyTables: capabilities?.hasFixedKeyTables, libcurl: libcurl)
      try writeAll(object.line())
    } else {
      var text = """
        receipt-tool      \(toolVersion)
        commit            \(Build.commit ?? "unknown: built by hand")
        configuration     \(Build.configuration)
        traits            \(Build.traits.isEmpty ? "none" : Build.traits.joined(separator: ", "))
        libcrypto         \(libcrypto)
        SQLite            \(Database.libraryVersion)

        """
      if let capabilities {
        let tables = capabilities.hasFixedKeyTables ? "available" : "not available: the ordinary call is used"
        text += """
          fixed-key tables  \(tables)
          libcurl           \(libcurl ?? "not installed: nobody can be asked")

          """
      }
      try writeAll(text)
    }
  }
}
