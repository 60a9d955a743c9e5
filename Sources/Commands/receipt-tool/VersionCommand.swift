// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CBuild
import ReceiptCrypto
import ReceiptHTTP
import ReceiptHTTPCurl
import ReceiptVerification
import SQLite

let toolVersion = UserAgent.version

struct VersionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "version",
    abstract: "Show the version, how it was built, and the libraries that it runs with.",
    discussion: """
      The commit is known in packages that scripts/package made. The configuration
      is "release", "debug", or "quickstart": a release whose commands that sell or
      ask servers are not optimized. Traits are options of the build: PostgreSQL is
      for audit trails in a database.

      --self-test takes longer than all else: it loads libcurl, which only asking a
      server needs, and computes with the tables by which signatures of a key that
      is met often are verified faster, where libcrypto allows it. Without them the
      answers are the same.

      EXAMPLE:
        receipt-tool version --json --self-test

      EXIT CODES:
        0 shown; 64 wrong command line; 74 the output cannot be written.
      """)

  @Flag("json", "Print one JSON object.") var json = false

  @Flag(
    "self-test", "Also load libcurl and try the tables for fixed keys, and show whether they can be used.")
  var testsItself = false

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

private enum Build {
  static var commit: String? {
    let commit = unsafe String(cString: CBuild_commit())
    return commit.isEmpty ? nil : commit
  }

  static var configuration: String {
    #if DEBUG
      "debug"
    #else
      CBuild_is_quickstart() ? "quickstart" : "release"
    #endif
  }

  static var traits: [String] {
    var traits: [String] = []
    #if PostgreSQL
      traits.append("PostgreSQL")
    #endif
    #if SwiftNIO
      traits.append("SwiftNIO")
    #endif
    return traits
  }
}
