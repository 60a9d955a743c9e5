// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiptCrypto
import ReceiptVerification

/// The trusted roots and additional intermediate certificates.
struct TrustOptions: ParsableArguments {
  @Option(
    name: .customLong("trust"),
    help: ArgumentHelp(
      "A trusted root: \"apple\" for Apple's published roots, or a certificate file (PEM or DER).",
      discussion: "May be repeated. Without it only Apple is trusted.", valueName: "apple|FILE"))
  var trusted: [String] = []

  @Option(
    name: .customLong("intermediate"),
    help: ArgumentHelp(
      "A certificate (PEM or DER) of an issuer that receipts do not embed; transaction receipts need it.",
      valueName: "FILE"))
  var intermediateFiles: [String] = []

  @Flag(
    name: .customLong("admit-xcode"),
    help: ArgumentHelp(
      "Admit test data that Xcode or a unit test signed with its own certificate.",
      discussion: """
        Such data does not prove a purchase: never use this in production. Xcode's app receipts have the same
        certificate on every machine; its JWS have a different one on each machine, which --trust must name.
        """))
  var admitsXcode = false

  struct Resolved {
    var anchors: TrustAnchors
    var intermediates: [Certificate]
    var selfSignedTesting: SelfSignedTesting
  }

  func resolve() throws -> Resolved {
    var anchors = trusted.isEmpty || trusted.contains("apple") ? TrustAnchors.apple : TrustAnchors()
    var intermediates: [Certificate] = []
    var pinned: [Certificate] = []
    for file in trusted where file != "apple" {
      let certificates = try Self.certificates(in: file)
      let roots = certificates.filter(\.isSelfIssued)
      guard !roots.isEmpty else {
        throw ToolExit.failure(
          ToolExit.usage,
          "--trust \(file): there is no root (self-issued) certificate in it; use --intermediate for others")
      }
      // Xcode's certificate is self-signed, and may or may not be a certificate authority. If pinned, it is trusted
      // only for test data; as a root, only for certificates that it issued.
      let authorities = roots.filter(\.isCertificateAuthority)
      guard admitsXcode || authorities.count == roots.count else {
        throw ToolExit.failure(
          ToolExit.usage,
          "--trust \(file): a self-signed certificate that is no authority can only be pinned for test data, "
            + "with --admit-xcode")
      }
      anchors = anchors.union(TrustAnchors(certificates: authorities))
      if admitsXcode { pinned += roots }
      intermediates += certificates.filter { !$0.isSelfIssued }
    }
    for file in intermediateFiles { intermediates += try Self.certificates(in: file) }
    return Resolved(
      anchors: anchors, intermediates: intermediates,
      selfSignedTesting: admitsXcode ? .pinned(certificates: pinned) : .refused)
  }

  static func certificates(in file: String) throws -> [Certificate] {
    let bytes = try InputFile.contents(of: file)
    do throws(CryptoError) {
      return try Certificate.certificates(in: bytes)
    } catch {
      throw ToolExit.failure(
        ToolExit.unreadableInput, "\(file) holds no certificate in PEM or DER: \(error.message)")
    }
  }
}
