// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification

/// Writes vectors, certificates and manifest, if the verifier agrees with every expectation.
struct VectorWriter {
  struct Disagreement: Error, CustomStringConvertible {
    let description: String
  }

  let directory: String

  func write(
    _ vectors: [Vector], certificates: [(name: String, certificate: Certificate)],
    appKeys: [(name: String, key: PublicKey)]
  ) throws {
    try FileStore.ensureDirectory(directory)
    try FileStore.ensureDirectory("\(directory)/certificates")
    for kind in Set(vectors.map(\.kind)) { try FileStore.ensureDirectory("\(directory)/\(kind.rawValue)") }
    for (name, certificate) in certificates {
      try put("certificates/\(name).pem", Array(certificate.pem.utf8))
    }
    // Keys are written as a store's console shows them.
    for (name, key) in appKeys {
      try put("certificates/\(name).txt", Base64.encode(key.subjectPublicKeyInfo) + [UInt8(ascii: "\n")])
    }
    var entries: [JSONValue] = []
    var disagreements: [String] = []
    for vector in vectors {
      do {
        entries.append(try entry(of: vector, certificates: certificates, appKeys: appKeys))
        try put(vector.path, vector.contents)
      } catch let error as Disagreement {
        disagreements.append(error.description)
      }
    }
    guard disagreements.isEmpty else {
      throw Disagreement(description: disagreements.joined(separator: "\n"))
    }
    let manifest = JSONValue.object([
      JSONMember(name: "format", value: .string("receipt-test-vectors-1")),
      JSONMember(name: "vectors", value: .array(entries)),
    ])
    try put("manifest.json", IndentedJSON.text(manifest))
  }

  private func put(_ path: String, _ contents: [UInt8]) throws {
    try FileStore.replace("\(directory)/\(path)", mode: 0o644, contents: contents)
  }

  private func entry(
    of vector: Vector, certificates: [(name: String, certificate: Certificate)],
    appKeys: [(name: String, key: PublicKey)]
  ) throws -> JSONValue {
    let policy = try VectorPolicy(
      arguments: vector.policy.arguments,
      certificate: { path in certificates.first { "certificates/\($0.name).pem" == path }?.certificate },
      appKey: { path in appKeys.first { "certificates/\($0.name).txt" == path }?.key })
    let verdict = policy.verifier.verify(vector.contents)
    var members = [
      JSONMember(name: "file", value: .string(vector.path)),
      JSONMember(name: "kind", value: .string(vector.kind.rawValue)),
      JSONMember(name: "summary", value: .string(vector.summary)),
      JSONMember(name: "policy", value: .array(vector.policy.arguments.map { .string($0) })),
    ]
    switch (vector.expectation, verdict) {
    case (.valid(let facts), .valid(let receipt)):
      guard receipt.kind == vector.kind, Set(receipt.transactions) == Set(facts.transactions),
        receipt.environment == facts.environment, receipt.bundleId == facts.bundleId,
        receipt.signedAt == facts.signedAt, receipt.signer.algorithm == facts.algorithm
      else { throw Disagreement(description: "\(vector.path): the verdict reports other facts") }
      members += Self.members(of: facts)
    case (.failure(let code?), .invalid(let receipt))
    where receipt.reason.code == code && !Self.undetermined.contains(code):
      members += Self.members(verdict: "invalid", receipt.reason)
    case (.failure(let code?), .undetermined(let receipt))
    where receipt.reason.code == code && Self.undetermined.contains(code):
      members += Self.members(verdict: "undetermined", receipt.reason)
    default:
      throw Disagreement(
        description: "\(vector.path): expected \(vector.expectation), found "
          + (verdict.reason?.description ?? "valid"))
    }
    return .object(members)
  }

  /// The codes of verdicts that are not known to be invalid.
  private static let undetermined: Set<ReasonCode> = [
    .environmentUnproven, .signingTimeMissing, .issuerMissing, .keyMissing,
  ]

  private static func members(verdict: String, _ reason: Reason) -> [JSONMember] {
    var inner = [JSONMember(name: "code", value: .string(reason.code.rawValue))]
    if !reason.place.isEmpty { inner.append(JSONMember(name: "place", value: .string(reason.place))) }
    return [
      JSONMember(name: "verdict", value: .string(verdict)), JSONMember(name: "reason", value: .object(inner)),
    ]
  }

  private static func members(of facts: Vector.Facts) -> [JSONMember] {
    var members = [JSONMember(name: "verdict", value: .string("valid"))]
    func add(_ name: String, _ text: String?, to list: inout [JSONMember]) {
      if let text { list.append(JSONMember(name: name, value: .string(text))) }
    }
    add("environment", facts.environment?.category?.rawValue, to: &members)
    add("bundleId", facts.bundleId, to: &members)
    add("signedAt", facts.signedAt?.iso8601, to: &members)
    add("algorithm", facts.algorithm.rawValue, to: &members)
    let transactions = facts.transactions.map { transaction in
      var list: [JSONMember] = []
      add("transactionId", transaction.transactionId, to: &list)
      add("originalTransactionId", transaction.originalTransactionId, to: &list)
      add("productId", transaction.productId, to: &list)
      if let quantity = transaction.quantity {
        list.append(JSONMember(name: "quantity", value: .integer(quantity)))
      }
      add("purchaseDate", transaction.purchaseDate?.iso8601, to: &list)
      add("originalPurchaseDate", transaction.originalPurchaseDate?.iso8601, to: &list)
      add("expiresDate", transaction.expiresDate?.iso8601, to: &list)
      add("revocationDate", transaction.revocationDate?.iso8601, to: &list)
      add("purchaseToken", transaction.purchaseToken, to: &list)
      return JSONValue.object(list)
    }
    members.append(JSONMember(name: "transactions", value: .array(transactions)))
    return members
  }
}

/// JSON for people: one member per line, indented by two spaces at each level; arrays of strings on one line.
enum IndentedJSON {
  static func text(_ value: JSONValue) -> [UInt8] { Array((text(value, indent: "") + "\n").utf8) }

  private static func text(_ value: JSONValue, indent: String) -> String {
    let deeper = indent + "  "
    switch value {
    case .object(let members) where !members.isEmpty:
      let lines = members.map { "\(deeper)\(plain(.string($0.name))): \(text($0.value, indent: deeper))" }
      return "{\n" + lines.joined(separator: ",\n") + "\n\(indent)}"
    case .array(let elements) where elements.contains { $0.object != nil }:
      let lines = elements.map { deeper + text($0, indent: deeper) }
      return "[\n" + lines.joined(separator: ",\n") + "\n\(indent)]"
    case .array(let elements):
      return "[" + elements.map(plain).joined(separator: ", ") + "]"
    default: return plain(value)
    }
  }

  private static func plain(_ value: JSONValue) -> String { String(decoding: value.encoded(), as: UTF8.self) }
}
