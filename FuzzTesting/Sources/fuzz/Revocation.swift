// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting

/// OCSP responses and revocation lists. The first byte says what the rest is: 0 a response, 1 a list, 2 and 3
/// how a genuine response or list is damaged, three bytes each time: two for the place, one to combine with it.
func fuzzRevocation(_ bytes: [UInt8]) {
  guard let mode = bytes.first else { return }
  let rest = bytes.dropFirst()
  switch mode {
  case 0: _ = Subject.shared.standing(response: Array(rest))
  case 1: _ = Subject.shared.standing(list: Array(rest))
  case 2:
    let damaged = Subject.damage(Subject.shared.response, by: rest)
    let standing = Subject.shared.standing(response: damaged)
    require(standing == nil || standing == .good, "a damaged response says something else")
  case 3:
    let damaged = Subject.damage(Subject.shared.list, by: rest)
    let standing = Subject.shared.standing(list: damaged)
    require(standing == nil || standing == .good, "a damaged list says something else")
  default: break
  }
}

/// A leaf, its issuer, and what that says of it: that it is good.
private struct Subject {
  static let shared = mustSucceed("the test authority") { try Subject() }

  let leaf: Certificate
  let issuer: Certificate
  let nonce: [UInt8]?
  let response: [UInt8]
  let list: [UInt8]
  private let now = Timestamp(secondsSince1970: 1_750_000_000)

  init() throws {
    let authority = try TestAuthority.es256()
    let chain = try authority.identity(ocspURL: "http://ocsp.example.com").chain
    leaf = chain[0]
    issuer = chain[1]
    var responder = TestRevocationResponder(authority, chain: chain)
    responder.signer = .delegate
    let request = try OCSPRequest(certificate: leaf, issuer: issuer)
    nonce = request.nonce
    response = try responder.response(to: request.der, at: now)
    // A list that names another certificate: one bit, and it would be the leaf.
    let other = try authority.identity(ocspURL: nil, serialNumber: [0x06]).chain
    var issuing = TestRevocationResponder(authority, chain: other)
    issuing.revoke(other[0], at: now, reason: .keyCompromise)
    list = try issuing.list(of: other[1], at: now)
  }

  func standing(response: [UInt8]) -> CertificateStatus.Standing? {
    try? OCSPResponse(der: response).status(
      of: leaf, issuer: issuer, nonce: nonce, at: 1_750_000_000
    ).standing
  }

  func standing(list: [UInt8]) -> CertificateStatus.Standing? {
    try? CertificateRevocationList(der: list).status(of: leaf, issuer: issuer, at: 1_750_000_000).standing
  }

  static func damage(_ genuine: [UInt8], by changes: ArraySlice<UInt8>) -> [UInt8] {
    var damaged = genuine
    var changes = changes
    while changes.count >= 3 {
      let place = Int(changes.removeFirst()) << 8 | Int(changes.removeFirst())
      damaged[place % damaged.count] ^= changes.removeFirst()
    }
    return damaged
  }
}
