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
    var entry = Self.texts(["file": vector.path, "kind": vector.kind.rawValue, "summary": vector.summary])
    entry.append(
      JSONMember(name: "policy", value: .array(vector.policy.arguments.map { .string($0) })))
    switch (vector.expectation, verdict) {
    case (.valid(let facts), .valid(let receipt)):
      guard receipt.kind == vector.kind, Set(receipt.transactions) == Set(facts.transactions),
        receipt.environment == facts.environment, receipt.bundleId == facts.bundleId,
        receipt.signedAt == facts.signedAt, receipt.signer.algorithm == facts.algorithm
      else { throw Disagreement(description: "\(vector.path): the verdict reports other facts") }
      entry += Self.members(of: facts)
    case (.failure(let code?), .invalid(let receipt))
    where receipt.reason.code == code && !Self.undetermined.contains(code):
      entry += Self.members(verdict: "invalid", receipt.reason)
    case (.failure(let code?), .undetermined(let receipt))
    where receipt.reason.code == code && Self.undetermined.contains(code):
      entry += Self.members(verdict: "undetermined", receipt.reason)
    default:
      throw Disagreement(
        description: "\(vector.path): expected \(vector.expectation), found "
          + (verdict.reason?.description ?? "valid"))
    }
    return .object(entry)
  }

  /// The codes of verdicts that are not known to be invalid.
  private static let undetermined: Set<ReasonCode> = [
    .environmentUnproven, .signingTimeMissing, .issuerMissing, .keyMissing,
  ]

  private static func members(verdict: String, _ reason: Reason) -> [JSONMember] {
    let place = reason.place.isEmpty ? nil : reason.place
    return texts(["verdict": verdict]) + [
      JSONMember(name: "reason", value: .object(texts(["code": reason.code.rawValue, "place": place])))
    ]
  }

  private static func members(of facts: Vector.Facts) -> [JSONMember] {
    let transactions = facts.transactions.map { transaction in
      JSONValue.object(
        texts([
          "transactionId": transaction.transactionId,
          "originalTransactionId": transaction.originalTransactionId, "productId": transaction.productId,
        ]) + (transaction.quantity.map { [JSONMember(name: "quantity", value: .integer($0))] } ?? [])
          + texts([
            "purchaseDate": transaction.purchaseDate?.iso8601,
            "originalPurchaseDate": transaction.originalPurchaseDate?.iso8601,
            "expiresDate": transaction.expiresDate?.iso8601,
            "revocationDate": transaction.revocationDate?.iso8601,
            "purchaseToken": transaction.purchaseToken,
          ]))
    }
    return texts([
      "verdict": "valid", "environment": facts.environment?.category?.rawValue, "bundleId": facts.bundleId,
      "signedAt": facts.signedAt?.iso8601, "algorithm": facts.algorithm.rawValue,
    ]) + [JSONMember(name: "transactions", value: .array(transactions))]
  }

  /// The members that have a text.
  private static func texts(_ texts: KeyValuePairs<String, String?>) -> [JSONMember] {
    texts.compactMap { name, text in text.map { JSONMember(name: name, value: .string($0)) } }
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
