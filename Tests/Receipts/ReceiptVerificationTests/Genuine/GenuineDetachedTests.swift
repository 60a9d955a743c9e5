// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptVerification
import Testing

/// Receipts that Google Play and Huawei signed, and altered versions of some of them.
@Suite(.enabled(if: !OtherStoreSamples.all.isEmpty, GenuineReceipts.absence))
struct GenuineDetachedTests {
  @Test("every sample has its stated verdict", arguments: OtherStoreSamples.all)
  func verdict(sample: OtherStoreSamples.Sample) {
    let verdict = sample.verifier().verify(sample.receipt)
    switch verdict {
    case .valid(let receipt):
      #expect(sample.isExpectedValid)
      #expect(receipt.bundleId == sample.package)
      #expect(receipt.assurance == .appKey)
      #expect(receipt.signer.certificates.isEmpty)
      #expect(receipt.signer.involvesSHA1 == (sample.store == .googlePlay))
      #expect(receipt.signer.sha256 == sample.key.sha256FingerprintHex)
      #expect(receipt.transactions.count == 1)
      #expect(receipt.transactions.first?.productId?.isEmpty == false)
      #expect(Array(receipt.signedContent) == Array(sample.data.utf8))
    case .invalid(let receipt):
      #expect(!sample.isExpectedValid, "\(receipt.reason)")
      #expect(
        [.signatureMismatch, .malformed, .unsigned].contains(receipt.reason.code), "\(receipt.reason)")
    case .undetermined(let receipt): Issue.record("\(receipt.reason)")
    }
  }

  @Test("a short key is refused unless the policy admits it by name", arguments: OtherStoreSamples.valid)
  func shortKey(sample: OtherStoreSamples.Sample) {
    let verdict = sample.verifier { $0.admitsShortKeys = false }.verify(sample.receipt)
    if sample.isShortKey { expectInvalid(verdict, .unsupportedAlgorithm) } else { expectValid(verdict) }
  }

  @Test(
    "of the wrappings of frameworks the same is read", arguments: OtherStoreSamples.valid)
  func wrappings(sample: OtherStoreSamples.Sample) {
    func object(_ members: [(String, JSONValue)]) -> JSONValue {
      .object(members.map { JSONMember(name: $0, value: $1) })
    }
    let (data, signature) = (JSONValue.string(sample.data), JSONValue.string(sample.signature))
    let unity = object([("json", data), ("signature", signature), ("skuDetails", .array([]))])
    let wrapped = [
      object([
        ("Store", .string("GooglePlay")), ("TransactionID", .string("1")),
        ("Payload", .string(String(decoding: unity.encoded(), as: UTF8.self))),
      ]),
      object([("type", .string("android-playstore")), ("receipt", data), ("signature", signature)]),
      object([
        ("id", .string("1")),
        ("transaction", object([("receipt", data), ("signature", signature)])),
      ]),
      object([("INAPP_PURCHASE_DATA", data), ("INAPP_DATA_SIGNATURE", signature)]),
      object([("signature", signature), ("data", data), ("productId", .string("other"))]),
    ]
    let verifier = sample.verifier()
    let identity = verifier.verify(sample.receipt).receipt?.identity
    for value in wrapped {
      let receipt = expectValid(verifier.verify(value.encoded()))
      #expect(receipt?.identity == identity)
      #expect(receipt?.encoded == sample.receipt)
    }
  }

  @Test("no flipped bit and no truncation of a genuine one is accepted", arguments: OtherStoreSamples.valid)
  func sweep(sample: OtherStoreSamples.Sample) async throws {
    let receipt = try UnverifiedDetachedReceipt(
      signedBytes: Array(sample.data.utf8), signature: sample.signature)
    let changes = DetachedSweep(verifier: sample.verifier(), receipt: receipt)
    expectValid(changes.verifier.verify(changes.unchanged))
    #expect(await changes.accepted() == [])
    let file = Sweep(verifier: sample.verifier(), sample: sample.receipt)
    // Of the JSON around them other spellings of the same strings are accepted, and of the names of members.
    #expect(await file.acceptedFlips(step: 20).filter { $0.change != nil } == [])
    #expect(await file.acceptedTruncations() == [])
  }

  @Test(
    "damage that was seen in the wild is named",
    arguments: [
      ("google-play/NEG-signature-plus-to-space.json", "A space stands where \"+\" belongs"),
      ("google-play/NEG-trailing-newline.json", "white space, such as a line end, was put around"),
      ("google-play/NEG-synthetic-mokelab-LF-stripped.json", "is signed and was removed"),
      ("google-play/NEG-reserialized-spaces.json", "white space was added"),
      ("google-play/NEG-reserialized-sorted-keys.json", "the members were reordered"),
      ("google-play/NEG-payload-unescaped.json", "the nested payload was unescaped"),
      ("google-play/NEG-nonce-rounded-by-javascript.json", "has been rounded"),
      ("google-play/NEG-bom-prefixed.json", "byte order mark"),
      ("google-play/NEG-product-edited.json", "signed other data than this"),
      ("google-play/NEG-wrong-app-key.json", "no key that the policy names"),
      ("huawei/NEG-productName-ascii-escaped.json", "characters were escaped otherwise"),
    ])
  func diagnosis(file: String, words: String) throws {
    guard let sample = OtherStoreSamples.all.first(where: { $0.file == file }) else { return }
    let reason = try #require(sample.verifier().verify(sample.receipt).reason)
    #expect(reason.message.contains(words), "\(reason)")
  }

  @Test("the key of another app is named")
  func otherAppsKey() throws {
    let samples = OtherStoreSamples.valid.filter { $0.store == .googlePlay && !$0.isShortKey }
    let (one, other) = (try #require(samples.first), try #require(samples.last))
    let verifier = GenuineReceipts.verifier(intermediates: []) {
      $0.appKeys = [
        AppKey(.googlePlay, package: one.package ?? "", publicKey: other.key),
        AppKey(.googlePlay, package: "com.example.real", publicKey: one.key),
      ]
    }
    let reason = try #require(verifier.verify(one.receipt).reason)
    #expect(reason.code == .signatureMismatch)
    #expect(reason.message.contains("the key of com.example.real at Google Play made it"), "\(reason)")
  }
}
