// SPDX-License-Identifier: Apache-2.0

package import ReceiptCrypto
package import ReceiptSigning

extension TestKeys {
  /// TEST KEYS, P-256, PKCS#8. They are published and protect nothing.
  enum ES256 {
    /// The root of the ES256 authority. TEST KEY.
    static let root = """
      -----BEGIN PRIVATE KEY-----
      MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg/4olcGntZ0m937Ep
      +mPszwMzVw/0sQiZOK8p8ZXUCm+hRANCAAThRlglDbEjUeMQ0QNy7PsvbmwId3Qo
      1F1irtwYkeezZkXOyeiG8fi9Ux6lDMCRavnXAdhep2mljP5Gy+OsradS
      -----END PRIVATE KEY-----
      """

    /// The intermediate of the ES256 authority. TEST KEY.
    static let intermediate = """
      -----BEGIN PRIVATE KEY-----
      MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgdHsNHIG0G+kPci16
      NPmCSUr5zuBaG/io9aKYSmMOpNahRANCAAQ3BIqun2Oy4kZ3dnihhny7Rh0eUZUe
      lpL31+wYwW+8A+7+6PNYfr2xBIW4YG4Xu/Wjja/8hmMheoitgLmOpoTQ
      -----END PRIVATE KEY-----
      """

    /// The leaf of the ES256 authority, which signs JWS. TEST KEY.
    static let leaf = """
      -----BEGIN PRIVATE KEY-----
      MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg1l3/rUt05doQZF0R
      ff7Vcg/rNbNCPzfGH59wzbGWPWmhRANCAATmNl3sdkwHOywsRI6PVTwu1kM3kDc1
      SaCdEzmmtsvbT+HgrZf+dKkZUBll19n+92WNkagISWX80R86Oob9XOFb
      -----END PRIVATE KEY-----
      """

    /// The root of an untrusted authority. TEST KEY.
    static let foreign = """
      -----BEGIN PRIVATE KEY-----
      MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg9+Y6p4/bs+mG7rVc
      Z5mU15S85L8ts6s9SlqMWFu7+bChRANCAATheBmJHR3APLIyZdzf28gn6MU/w7gG
      /i7QSmZA1X8cTFYBsZ8hDsVwaTScAocUPKrOfejTbfLqIHrCdMFcJTg2
      -----END PRIVATE KEY-----
      """

    /// A key in place of one from App Store Connect. TEST KEY.
    static let developer = """
      -----BEGIN PRIVATE KEY-----
      MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgDodU+PfX0lBb5iO2
      EhtDGtZWOFEj+PMC2jzX71QeZyahRANCAAQwv1z4n/UqzMJbGGWKVio4lZ1+r/4j
      6u5wRjBAtQ7NellS6bH12cp2ZWEK5O6q9QP6qfneyLfazvurseo4hBDo
      -----END PRIVATE KEY-----
      """

    /// The key for a certificate in place of the one that Xcode makes on each machine. TEST KEY.
    static let selfSigned = """
      -----BEGIN PRIVATE KEY-----
      MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgLZNnjuZ4GDcWaITq
      jr4KBp6VRwLCGTnB/vI7amvPYeChRANCAASrsVD9C7PFSA4/CeTow/IVNgBb3Gq5
      L+xTp73kM3bYvT1WT76HXdmOjxTB7G/6KS2dyqJEwqgc3DKpvH+TgJmY
      -----END PRIVATE KEY-----
      """
  }
}

/// TEST KEYS: they are compiled in and published, so they protect nothing. They give test receipts and vectors the
/// same certificates on every machine. Never trust them outside a test.
package enum TestKeys {
  /// A key in place of one from App Store Connect, for tests of developer signatures.
  package static func developer() throws(SigningError) -> PrivateKey { try key(ES256.developer) }

  /// The key that signs the purchases of `com.example.app` at Google Play and Huawei: see ``TestReceipts``.
  package static func app() throws(SigningError) -> PrivateKey { try key(RSA.app) }

  /// An RSA key that is not the key of any certificate of the test authority.
  package static func otherRSA() throws(SigningError) -> PrivateKey { try key(RSA.foreign) }

  static func key(_ pem: String) throws(SigningError) -> PrivateKey {
    try SigningIdentity.privateKey(inFile: Array(pem.utf8))
  }
}
