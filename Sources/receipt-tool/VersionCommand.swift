// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CBuild
import ReceiptCodec
import ReceiptHTTP
import ReceiptHTTPCurl
import ReceiptVerification
import SQLite

/// The version of the whole toolkit.
let toolVersion = UserAgent.version

/// `receipt-tool version`: the version, how it was built, and the libraries that it runs with.
struct VersionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "version",
    abstract: "Show the version, how it was built, and the libraries that it runs with.",
    discussion: """
      The commit is known in packages that scripts/package made. The configuration is "release", "debug", or
      "quickstart": a release whose commands that sell or ask servers are not optimized. Traits are options of the build: PostgreSQL is for
      audit trails in a database. Signatures of a key that is met often are verified faster with tables for that key,
      where libcrypto allows it; the answers are the same. libcurl is only needed to ask a server.

      EXAMPLE:
        receipt-tool version --json

      EXIT CODES:
        0 shown; 64 wrong command line; 74 the output cannot be written.
      """)

  @Flag(name: .customLong("json"), help: "Print one JSON object.")
  var json = false

  func run() throws {
    let capabilities = VerificationCapabilities.current
    let libcurl = CurlTransport.libraryVersion
    if json {
      var object = JSONWriter()
      object.beginObject()
      object.member("version", toolVersion)
      object.member("commit", Build.commit)
      object.member("configuration", Build.configuration)
      object.name("traits")
      object.beginArray()
      for trait in Build.traits { object.string(trait) }
      object.endArray()
      object.member("libcrypto", capabilities.libcryptoVersion)
      object.member("fixedKeyTables", capabilities.hasFixedKeyTables)
      object.member("sqlite", Database.libraryVersion)
      object.member("libcurl", libcurl)
      object.endObject()
      try writeLine(object)
    } else {
      let tables = capabilities.hasFixedKeyTables ? "available" : "not available: the ordinary call is used"
      let text = """
        receipt-tool      \(toolVersion)
        commit            \(Build.commit ?? "unknown: built by hand")
        configuration     \(Build.configuration)
        traits            \(Build.traits.isEmpty ? "none" : Build.traits.joined(separator: ", "))
        libcrypto         \(capabilities.libcryptoVersion)
        fixed-key tables  \(tables)
        SQLite            \(Database.libraryVersion)
        libcurl           \(libcurl ?? "not installed: nobody can be asked")

        """
      try writeAll(text)
    }
  }
}

/// How this executable was built.
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
