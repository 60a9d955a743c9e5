// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
import ReceiptCodec
import ReceiptCrypto
public import ReceiptSigning
import ReceiptVerification

extension CertificateAuthority.Algorithm: ExpressibleByArgument {}

/// `receipt-tool identity`: keys and certificates to sign with.
struct IdentityCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "identity", abstract: "Create and show identities that sign receipts.",
    subcommands: [IdentityCreateCommand.self, IdentityShowCommand.self])
}

/// `receipt-tool identity create`.
struct IdentityCreateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create",
    abstract: "Create a root, an intermediate and a signing certificate, and the signing key.",
    discussion: """
      Writes root.cer (DER; give it to those who verify), chain.pem (leaf, intermediate, root) and key.pem
      (PKCS#8, mode 0600). The keys of root and intermediate are destroyed after use: nobody can issue another
      certificate under this root.

      The certificates are valid from 2008, so that receipts of past purchases verify at their own dates;
      --valid-from sets another beginning.

      EXAMPLES:
        receipt-tool identity create my-store --organization "My Store"
        receipt-tool identity create my-rsa-store --algorithm rsa2048   (app and transaction receipts)

      EXIT CODES:
        0 created; 64 wrong command line; 66 the passphrase cannot be read; 73 a file is there already or cannot
        be written; 74 the output cannot be written.
      """)

  @Argument(
    help: ArgumentHelp("The directory to write to; it is created if it does not exist.", valueName: "dir"))
  var directory: String

  @Option(help: "es256 for JWS kinds; rsa2048 for app receipts and transaction receipts.")
  var algorithm = CertificateAuthority.Algorithm.es256

  @Option(help: ArgumentHelp("The organization that the certificates name.", valueName: "NAME"))
  var organization = "ReceiptKit"

  @Option(help: ArgumentHelp("How many days from now the signing certificate is valid.", valueName: "N"))
  var days = 3650

  @Option(
    name: .customLong("valid-from"),
    help: ArgumentHelp(
      "When the certificates begin to be valid: an instant, or \"now\".", valueName: "ISO8601|now"))
  var validFrom = "2008-01-01T00:00:00Z"

  @Option(
    name: .customLong("marker"),
    help: ArgumentHelp(
      "Object identifiers that mark leaf and intermediate, in place of Apple's.",
      valueName: "LEAF-OID,INTERMEDIATE-OID"))
  var marker: String?

  @Flag(name: .customLong("overwrite"), help: "Replace existing files.")
  var overwrites = false

  @Flag(name: .customLong("json"), help: "Print one JSON object.")
  var json = false

  @OptionGroup var passphraseOptions: PassphraseOptions

  func run() throws {
    guard days > 0 else { throw ValidationError("--days takes a positive number.") }
    var options = CertificateAuthority.Options(
      organization: organization, algorithm: algorithm, start: SystemClock.now(), days: days)
    if validFrom != "now" {
      do throws(MalformedReceipt) {
        options.validFrom = try Timestamp(iso8601: validFrom)
      } catch {
        throw ValidationError("--valid-from takes \"now\" or an instant such as 2025-10-01T07:09:12Z.")
      }
    }
    if let marker {
      let markers = try PolicyOptions.markers(marker)
      options.leafMarker = markers.leaf
      options.intermediateMarker = markers.intermediate
    }
    let passphrase = try passphraseOptions.passphrase()
    let identity: SigningIdentity
    do throws(SigningError) {
      identity = try SigningIdentity.create(options)
      try IdentityDirectory(directory).write(identity, passphrase: passphrase, overwriting: overwrites)
    } catch {
      throw ToolExit.failure(ToolExit.code(for: error), error.description)
    }
    try IdentityReport(directory: directory, chain: identity.chain).write(json: json)
  }
}

/// `receipt-tool identity show`.
struct IdentityShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show the certificates of an identity; the key is not read.",
    discussion: """
      EXAMPLE:
        receipt-tool identity show my-store

      EXIT CODES:
        0 shown; 64 wrong command line; 66 the identity cannot be read; 74 the output cannot be written.
      """)

  @Argument(help: ArgumentHelp("The identity's directory.", valueName: "dir"))
  var directory: String

  @Flag(name: .customLong("json"), help: "Print one JSON object.")
  var json = false

  func run() throws {
    let chain: [Certificate]
    do throws(SigningError) { chain = try IdentityDirectory(directory).loadChain() } catch {
      throw ToolExit.failure(ToolExit.code(for: error), error.description)
    }
    try IdentityReport(directory: directory, chain: chain).write(json: json)
  }
}
