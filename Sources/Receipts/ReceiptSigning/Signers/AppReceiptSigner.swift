// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCodec
package import ReceiptCrypto

/// Signs app receipts as the App Store does.
///
/// The result is PKCS#7 (CMS SignedData, RFC 5652) with RSA and SHA-256, without signed attributes, with the whole
/// chain embedded.
public struct AppReceiptSigner: Sendable {
  package let identity: SigningIdentity

  /// Creates a signer.
  ///
  /// - Throws: ``SigningError`` with `unsuitable-key` unless the key is RSA of 2048 bits or more, or
  ///   `chain-length` unless the chain has three certificates.
  public init(identity: SigningIdentity) throws(SigningError) {
    try identity.requireRSA(atLeast: 2048, for: "An app receipt")
    guard identity.chain.count == 3 else {
      throw SigningError(
        .chainLength,
        "An app receipt carries leaf, intermediate and root, and this identity's chain has "
          + "\(identity.chain.count) certificate(s).")
    }
    self.init(unchecked: identity)
  }

  /// Creates a signer with any chain, to produce receipts that verifiers must refuse.
  package init(unchecked identity: SigningIdentity) { self.identity = identity }

  /// Signs a receipt.
  ///
  /// - Parameters:
  ///   - payload: The content.
  ///   - deviceIdentifier: The device to which the receipt is bound: the 16 bytes of `identifierForVendor`, or the 6
  ///     bytes of a Mac's hardware address. Attribute 5 is then the SHA-1 of these bytes, attribute 4 and the value of
  ///     attribute 2. Attribute 4 is 16 random bytes unless the payload has one.
  /// - Returns: The receipt in DER. Apps deliver it to servers in base64.
  /// - Throws: ``SigningError`` with `invalid-value` if the device identifier has another length, `missing-field` if
  ///   the payload of a device has no bundle identifier, or `crypto-failure`.
  public func sign(
    _ payload: AppReceiptPayload, deviceIdentifier: [UInt8]? = nil
  ) throws(SigningError) -> [UInt8] {
    var payload = payload
    if let deviceIdentifier { try payload.bind(to: deviceIdentifier) }
    return try sign(content: payload.encoded())
  }

  /// Signs content that is already encoded.
  package func sign(
    content: [UInt8], digest: DigestAlgorithm = .sha256, certificates: [Certificate]? = nil
  ) throws(SigningError) -> [UInt8] {
    guard let leaf = identity.leaf else {
      throw SigningError(.emptyChain, "The identity has no certificate.")
    }
    let signature = try identity.privateKey.sign(content, using: .rsaPKCS1v15(digest))
    let container = CMSSignedData(
      content: content[...],
      digestAlgorithm: digest == .sha1 ? ObjectIdentifiers.sha1 : ObjectIdentifiers.sha256,
      certificates: (certificates ?? identity.chain).map { $0.der[...] }, issuer: leaf.issuerDER[...],
      serialNumber: leaf.serialNumber[...], signature: signature[...])
    return container.encoded()
  }
}

extension AppReceiptPayload {
  /// Binds the receipt to a device with attributes 4 and 5.
  fileprivate mutating func bind(to deviceIdentifier: [UInt8]) throws(SigningError) {
    guard deviceIdentifier.count == 16 || deviceIdentifier.count == 6 else {
      throw SigningError(
        .invalidValue, at: "device identifier",
        "It has \(deviceIdentifier.count) bytes. identifierForVendor is a UUID of 16 bytes, the hardware "
          + "address of a Mac has 6.")
    }
    guard !bundleIdValue.isEmpty else {
      throw SigningError(
        .missingField, at: "bundleId", "A receipt that is bound to a device needs a bundle identifier.")
    }
    let opaque = opaqueValue ?? Random.bytes(16)
    opaqueValue = opaque
    sha1Hash = Digest.hash(deviceIdentifier + opaque + bundleIdValue, using: .sha1)
  }
}

extension SigningIdentity {
  func requireRSA(atLeast bits: Int, for receipt: String) throws(SigningError) {
    guard case .rsa(let found) = privateKey.publicKey.kind, found >= bits else {
      throw SigningError(
        .unsuitableKey,
        "\(receipt) is signed with RSA of \(bits) bits, and this identity's key is of the kind "
          + "\(privateKey.publicKey.kind). Create one with: receipt-tool identity create --algorithm rsa2048")
    }
  }
}
