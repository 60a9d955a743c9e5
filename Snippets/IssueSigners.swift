// SPDX-License-Identifier: Apache-2.0
// Keep the root of a store, issue a second signer, revoke the first, and answer for both.

import Foundation
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptVerification
import RemoteChecks

let folder = FileManager.default.temporaryDirectory.appending(path: "authority-\(UUID())").path
let passphrase = Array("correct horse battery staple".utf8)

// snippet.issue
let authority = AuthorityDirectory(folder)
let root = try authority.create(
  CertificateAuthority.Options(organization: "My Store", start: SystemClock.now()), passphrase: passphrase)
let first = try authority.issueSigner(at: SystemClock.now(), passphrase: passphrase)
let second = try authority.issueSigner(
  SignerOptions(commonName: "My Store 2027", days: 400), at: SystemClock.now(), passphrase: passphrase)
// snippet.end

// snippet.revoke
let revoked: IssuedCertificate = try authority.revoke(
  first.chain[0], reason: CRLReason.superseded, at: SystemClock.now())
let lists: [IssuedRevocationList] = [
  try authority.revocationList(of: "root", days: 365, at: SystemClock.now(), passphrase: passphrase),
  try authority.revocationList(at: SystemClock.now(), passphrase: passphrase),
]
let checker = try RevocationChecker(lists: lists.map(\.der))
// snippet.end

// snippet.respond
let signer = try authority.issueResponder(at: SystemClock.now(), passphrase: passphrase)
let responder = OCSPResponder(authority, signers: [signer])
func answer(_ body: [UInt8]) throws -> [UInt8] { try responder.response(to: body, at: SystemClock.now()) }
// snippet.end

print(revoked.subject, lists.map(\.number), second.chain[0].subject, root.subject)
print(try answer([]).count, checker.name)
try FileManager.default.removeItem(atPath: folder)
