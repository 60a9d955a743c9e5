// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto

/// Private keys: PKCS#8, SEC1, PKCS#1, encrypted PKCS#8, in PEM and DER.
func fuzzPrivateKey(_ bytes: [UInt8]) {
  if let key = try? PrivateKey(der: bytes) { _ = key.publicKey.kind }
  let text = String(decoding: bytes, as: UTF8.self)
  if let key = try? PrivateKey(pem: text) { _ = key.publicKey.kind }
  if let key = try? PrivateKey(pem: text, passphrase: Array("fuzz".utf8)) { _ = key.publicKey.kind }
}
