// SPDX-License-Identifier: Apache-2.0

import FuzzSupport
import ReceiptCrypto

/// Private keys: PKCS#8, SEC1, PKCS#1, encrypted PKCS#8, in PEM and DER.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = input(start, count)
  if let key = try? PrivateKey(der: bytes) { _ = key.publicKey.kind }
  let text = String(decoding: bytes, as: UTF8.self)
  if let key = try? PrivateKey(pem: text) { _ = key.publicKey.kind }
  if let key = try? PrivateKey(pem: text, passphrase: Array("fuzz".utf8)) { _ = key.publicKey.kind }
  return 0
}
