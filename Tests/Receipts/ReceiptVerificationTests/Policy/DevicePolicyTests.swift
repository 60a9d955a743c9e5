// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptTesting
import ReceiptVerification
import Testing

/// Attack 12: the receipt of another device.
@Suite struct DevicePolicyTests {
  private let device = SampleReceipts.deviceIdentifier
  private let other = [UInt8](repeating: 7, count: 16)

  private func verifier(_ device: [UInt8]?) throws -> ReceiptVerifier {
    try Fixture.verifier { $0.deviceIdentifier = device }
  }

  @Test("an app receipt counts for the device that it was made for")
  func appReceipt() throws {
    let receipt = try Fixture.receipts.appReceipt(deviceIdentifier: device)
    expectValid(try verifier(device).verify(receipt))
    expectValid(try verifier(nil).verify(receipt))
    expectInvalid(try verifier(other).verify(receipt), .wrongDevice, at: "attribute 5")
    expectInvalid(try verifier(Array(device.dropLast())).verify(receipt), .wrongDevice, at: "attribute 5")
    expectInvalid(try verifier([]).verify(receipt), .wrongDevice, at: "attribute 5")
  }

  @Test("an app receipt of a Mac is bound to its hardware address")
  func mac() throws {
    let address: [UInt8] = [0x00, 0x1C, 0x42, 0x00, 0x00, 0x09]
    let receipt = try Fixture.receipts.appReceipt(deviceIdentifier: address)
    expectValid(try verifier(address).verify(receipt))
    expectInvalid(try verifier(device).verify(receipt), .wrongDevice, at: "attribute 5")
  }

  @Test("the hash covers the opaque value and the raw bundle identifier")
  func hashCoversAll() throws {
    let receipts = try Fixture.receipts
    let opaque = [UInt8](repeating: 1, count: 16)
    let bundle = SampleReceipts.appReceipt.bundleIdValue
    func hash(_ bytes: [UInt8]) -> [UInt8] { Digest.hash(bytes, using: .sha1) }
    for (expected, hash) in [
      (true, hash(device + opaque + bundle)), (false, hash(device + opaque)),
      (false, hash(device + bundle)), (false, hash(device + opaque + bundle.dropFirst(2))),
      (false, []), (false, hash(device + opaque + bundle) + [0]),
      (false, Array(hash(device + opaque + bundle).dropLast())),
    ] {
      let receipt = try receipts.appReceipt {
        $0.opaqueValue = opaque
        $0.sha1Hash = hash
      }
      let verdict = try verifier(device).verify(receipt)
      if expected {
        expectValid(verdict)
      } else {
        expectInvalid(verdict, .wrongDevice, at: "attribute 5")
      }
    }
  }

  @Test("a JWS with device verification counts for its device alone")
  func jws() throws {
    let nonce = "48C8B92D-CE0D-4229-BEDF-E61B4F9CFC92"
    let text = nonce.lowercased() + "00112233-4455-6677-8899-aabbccddeeff"
    let hash = Base64.encodeToString(Digest.hash(Array(text.utf8), using: .sha384))
    let receipts = try Fixture.receipts
    let transaction = try receipts.signedTransaction {
      $0.deviceVerification = hash
      $0.deviceVerificationNonce = UUIDString(rawValue: nonce)
    }
    let appTransaction = try receipts.signedAppTransaction {
      $0.deviceVerification = hash
      $0.deviceVerificationNonce = UUIDString(rawValue: nonce)
    }
    for receipt in [transaction, appTransaction] {
      expectValid(try verifier(device).verify(receipt))
      expectInvalid(try verifier(other).verify(receipt), .wrongDevice, at: "$.deviceVerification")
      expectInvalid(
        try verifier(Array(device.prefix(6))).verify(receipt), .wrongDevice, at: "$.deviceVerification")
    }
  }

  @Test("a transaction receipt counts for the vendor identifier that it names")
  func transactionReceipt() throws {
    let receipt = try Fixture.sample(.transactionReceipt)
    expectValid(try verifier(device).verify(receipt))
    expectInvalid(
      try verifier(other).verify(receipt), .wrongDevice, at: "key \"unique-vendor-identifier\"")
    expectInvalid(
      try verifier([]).verify(receipt), .wrongDevice, at: "key \"unique-vendor-identifier\"")
    let unbound = try Fixture.receipts.transactionReceipt { $0.uniqueVendorIdentifier = nil }
    expectInvalid(try verifier(device).verify(unbound), .wrongDevice)
  }

  @Test("a receipt that is bound to no device fails a policy that names one")
  func unbound() throws {
    for kind in Fixture.appStoreKinds where kind != .transactionReceipt {
      let place =
        switch kind {
        case .appReceipt: "attribute 5"
        case .signedNotification: "$.data.signedTransactionInfo"
        default: ""
        }
      expectInvalid(
        try verifier(device).verify(try Fixture.sample(kind)), .wrongDevice, at: place, "\(kind)")
    }
  }
}
