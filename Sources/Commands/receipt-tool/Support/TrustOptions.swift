// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiptBytes
import ReceiptCrypto
import ReceiptVerification

extension TrustOptions {
  struct Resolved {
    var anchors: TrustAnchors
    var intermediates: [Certificate]
    var selfSignedTesting: SelfSignedTesting
  }

  func resolve() throws -> Resolved {
    let trustsApple = trusted.isEmpty || trusted.contains("apple")
    var anchors = trustsApple ? TrustAnchors.apple : TrustAnchors()
    var intermediates = trustsApple ? TrustAnchors.appleIntermediates : []
    var pinned: [Certificate] = []
    for file in trusted where file != "apple" {
      let certificates = try Self.certificates(in: file)
      let roots = certificates.filter(\.isSelfIssued)
      guard !roots.isEmpty else {
        throw ToolExit.failure(
          .usage,
          "--trust \(file): there is no root (self-issued) certificate in it; use --intermediate for others")
      }
      // Xcode's certificate is self-signed, and may or may not be a certificate authority. As a pinned certificate, it
      // is trusted only for test data; as a root, only for certificates that it issued.
      let authorities = roots.filter(\.isCertificateAuthority)
      guard admitsXcode || authorities.count == roots.count else {
        throw ToolExit.failure(
          .usage,
          "--trust \(file): a self-signed certificate that is no authority can only be pinned for test data, "
            + "with --admit-xcode")
      }
      anchors = anchors.union(TrustAnchors(certificates: authorities))
      if admitsXcode { pinned += roots }
      intermediates += certificates.filter { !$0.isSelfIssued }
    }
    for path in intermediateFiles {
      for file in try Self.certificateFiles(at: path) { intermediates += try Self.certificates(in: file) }
    }
    return Resolved(
      anchors: anchors, intermediates: intermediates,
      selfSignedTesting: admitsXcode ? .pinned(certificates: pinned) : .refused)
  }

  /// The path itself if it is a file; for a folder, its certificate files, which are found by extension and sorted by
  /// name.
  private static func certificateFiles(at path: String) throws -> [String] {
    guard (try? FileSystem.status(path))?.isDirectory == true else { return [path] }
    let names = (try? FileSystem.names(in: path)) ?? []
    let files = names.sorted().filter { name in
      [".cer", ".crt", ".der", ".pem"].contains { name.lowercased().hasSuffix($0) }
    }
    guard !files.isEmpty else {
      throw ToolExit.failure(
        .unreadableInput,
        "--intermediate \(path): there is no file in this folder whose name ends in .cer, .crt, .der or .pem")
    }
    return files.map { "\(path)/\($0)" }
  }

  static func certificates(in file: String) throws -> [Certificate] {
    let bytes = try InputFile.contents(of: file)
    do throws(CryptoError) {
      return try Certificate.certificates(in: bytes)
    } catch {
      throw ToolExit.failure(
        .unreadableInput, "\(GivenValue.described(file)) holds no certificate in PEM or DER: \(error.message)"
      )
    }
  }
}
