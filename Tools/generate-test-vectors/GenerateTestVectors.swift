// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Writes the vectors to a directory, which is `TestVectors` by default. Keys, serial numbers and dates are fixed.
/// ECDSA signatures are random, so regenerated JWS have different bytes and the same meaning.
@main
struct GenerateTestVectors {
  static func main() {
    do {
      try generate(into: CommandLine.arguments.dropFirst().first ?? "TestVectors")
    } catch {
      print("generate-test-vectors: \(error)")
      exit(1)
    }
  }

  private static func generate(into directory: String) throws {
    var vectors = try KindVectors.transactions()
    vectors += try JWSVectors(.renewalInfo(SampleReceipts.renewalInfo)).list.vectors
    vectors += try KindVectors.appTransactions()
    vectors += try KindVectors.notifications()
    vectors += try JWSVectors(.realtimeRequest(SampleReceipts.realtimeRequest)).list.vectors
    vectors += try AppReceiptVectors().list.vectors
    vectors += try TransactionReceiptVectors().list.vectors
    vectors += try DetachedVectors().list.vectors
    let (es256, rsa) = (try TestAuthority.es256(), try TestAuthority.rsa())
    try VectorWriter(directory: directory).write(
      vectors,
      certificates: [
        ("es256-root", es256.root), ("es256-intermediate", es256.intermediate), ("rsa-root", rsa.root),
        ("rsa-intermediate", rsa.intermediate), ("xcode", SelfSignedTestData().certificate),
      ],
      appKeys: [("app-key", TestKeys.app().publicKey), ("other-app-key", TestKeys.otherRSA().publicKey)])
    print("wrote \(vectors.count) vectors to \(directory)")
  }
}
