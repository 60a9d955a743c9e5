// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Testing

/// Every vector of `TestVectors/` gets the verdict that its manifest states, for the reason and at the place.
@Suite struct TestVectorTests {
  private static let directory: String = {
    let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    return parts.dropLast(4).joined(separator: "/") + "/TestVectors"
  }()

  private static func vectors() throws -> [JSONValue] {
    let manifest = try JSONValue(parsing: FileStore.read("\(directory)/manifest.json"))
    #expect(manifest["format"]?.string == "receipt-test-vectors-1")
    return try #require(manifest["vectors"]?.array)
  }

  @Test func everyVectorGetsItsVerdict() throws {
    var certificates: [String: Certificate] = [:]
    for vector in try Self.vectors() {
      let file = try #require(vector["file"]?.string)
      let policy = try Self.policy(of: vector, &certificates)
      let verdict = policy.verifier.verify(try FileStore.read("\(Self.directory)/\(file)"))
      switch verdict {
      case .valid(let receipt):
        #expect(vector["verdict"]?.string == "valid", "\(file)")
        Self.compare(receipt, with: vector, file)
      case .invalid(let receipt):
        #expect(vector["verdict"]?.string == "invalid", "\(file): \(receipt.reason)")
        Self.compare(receipt.reason, with: vector, file)
      case .undetermined(let receipt):
        #expect(vector["verdict"]?.string == "undetermined", "\(file): \(receipt.reason)")
        Self.compare(receipt.reason, with: vector, file)
      }
    }
  }

  @Test("verdicts and payloads are encoded as the reports of verdicts have them, and payloads decoded again")
  func coding() throws {
    func encoded(_ value: some Encodable) throws -> JSONValue {
      try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value)).sorted
    }
    func decoded<Payload: Codable>(_ payload: Payload) throws -> Payload {
      try JSONDecoder().decode(Payload.self, from: JSONEncoder().encode(payload))
    }
    var certificates: [String: Certificate] = [:]
    for vector in try Self.vectors() {
      let file = try #require(vector["file"]?.string)
      let verdict = try Self.policy(of: vector, &certificates).verifier.verify(
        try FileStore.read("\(Self.directory)/\(file)"))
      let json = try encoded(verdict)
      #expect(json["type"]?.string == "verdict", "\(file)")
      #expect(json["verdict"] == vector["verdict"], "\(file)")
      #expect(json["reason"]?["code"] == vector["reason"]?["code"], "\(file)")
      guard let receipt = verdict.receipt else {
        #expect(json["transactions"] == nil, "\(file)")
        continue
      }
      #expect(json["transactions"]?.array?.count == receipt.transactions.count, "\(file)")
      #expect(json["bundleId"]?.string == receipt.bundleId, "\(file)")
      #expect(try encoded(receipt.content) == JSONValue(parsing: receipt.payloadJSON()).sorted, "\(file)")
      switch receipt.content {
      case .jws(.transaction(let payload)): #expect(try decoded(payload) == payload, "\(file)")
      case .jws(.renewalInfo(let payload)): #expect(try decoded(payload) == payload, "\(file)")
      case .jws(.appTransaction(let payload)): #expect(try decoded(payload) == payload, "\(file)")
      case .jws(.notification(let payload)): #expect(try decoded(payload) == payload, "\(file)")
      case .jws(.realtimeRequest(let payload)): #expect(try decoded(payload) == payload, "\(file)")
      case .detached(.googlePlayPurchase(let payload)): #expect(try decoded(payload) == payload, "\(file)")
      case .detached(.huaweiPurchase(let payload)): #expect(try decoded(payload) == payload, "\(file)")
      case .detached, .appReceipt, .transactionReceipt: break
      }
    }
  }

  @Test("a payload with a member of the wrong type is refused by a decoder as by verification")
  func decodingRefuses() throws {
    let error = #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(JWSTransaction.self, from: Data(#"{"transactionId":1}"#.utf8))
    }
    guard case .dataCorrupted(let context)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(context.underlyingError is MalformedReceipt)
    #expect(context.debugDescription.contains("$.transactionId"))
  }

  private static func policy(
    of vector: JSONValue, _ certificates: inout [String: Certificate]
  ) throws -> VectorPolicy {
    try VectorPolicy(
      arguments: try #require(vector["policy"]?.array).compactMap(\.string),
      certificate: { path in
        if certificates[path] == nil {
          let contents = try FileStore.read("\(directory)/\(path)")
          certificates[path] = try Certificate.certificates(in: contents).first
        }
        return certificates[path]
      }, appKey: { path in try PublicKey(inFile: FileStore.read("\(directory)/\(path)")) })
  }

  @Test("no flipped bit and no truncation of what Google Play and Huawei sign is accepted")
  func detachedSweep() async throws {
    var certificates: [String: Certificate] = [:]
    let kinds = Set(Fixture.detachedKinds.map(\.rawValue))
    let valid = try Self.vectors().filter {
      $0["verdict"]?.string == "valid" && kinds.contains($0["kind"]?.string ?? "")
    }
    #expect(valid.count > 5)
    for vector in valid {
      let file = try #require(vector["file"]?.string)
      let verifier = try Self.policy(of: vector, &certificates).verifier
      let contents = try FileStore.read("\(Self.directory)/\(file)")
      let changes = DetachedSweep(
        verifier: verifier, receipt: try UnverifiedDetachedReceipt(parsing: contents))
      expectValid(verifier.verify(changes.unchanged), "\(file)")
      #expect(await changes.accepted() == [], "\(file)")
    }
  }

  private static func compare(_ reason: Reason, with vector: JSONValue, _ file: String) {
    #expect(vector["reason"]?["code"]?.string == reason.code.rawValue, "\(file): \(reason)")
    #expect((vector["reason"]?["place"]?.string ?? "") == reason.place, "\(file): \(reason)")
  }

  private static func compare(_ receipt: VerifiedReceipt, with vector: JSONValue, _ file: String) {
    #expect(vector["kind"]?.string == receipt.kind.rawValue, "\(file)")
    #expect(vector["environment"]?.string == receipt.environment?.category?.rawValue, "\(file)")
    #expect(vector["bundleId"]?.string == receipt.bundleId, "\(file)")
    #expect(vector["signedAt"]?.string == receipt.signedAt?.iso8601, "\(file)")
    #expect(vector["algorithm"]?.string == receipt.signer.algorithm.rawValue, "\(file)")
    let stated = (vector["transactions"]?.array ?? []).map { json in
      [
        json["transactionId"]?.string, json["originalTransactionId"]?.string, json["productId"]?.string,
        json["quantity"]?.int64.map { String($0) }, json["purchaseDate"]?.string,
        json["originalPurchaseDate"]?.string, json["expiresDate"]?.string, json["revocationDate"]?.string,
        json["purchaseToken"]?.string,
      ]
    }
    let found = receipt.transactions.map { transaction in
      [
        transaction.transactionId, transaction.originalTransactionId, transaction.productId,
        transaction.quantity.map { String($0) }, transaction.purchaseDate?.iso8601,
        transaction.originalPurchaseDate?.iso8601, transaction.expiresDate?.iso8601,
        transaction.revocationDate?.iso8601, transaction.purchaseToken,
      ]
    }
    #expect(Set(stated) == Set(found), "\(file)")
    #expect(stated.count == found.count, "\(file)")
  }

  @Test func everyReasonOfALocalVerificationOccurs() throws {
    let others: Set<ReasonCode> = [
      .revoked, .checkerRefused, .checkerUnavailable, .internalFault, .notCurrent, .standingUnknown,
    ]
    let codes = try Self.vectors().compactMap { $0["reason"]?["code"]?.string }
    for code in ReasonCode.allCases where !others.contains(code) {
      #expect(codes.contains(code.rawValue), "no vector for \(code.rawValue)")
    }
  }

  @Test func everyKindHasValidVectorsAndFaultyOnes() throws {
    let vectors = try Self.vectors()
    for kind in ReceiptKind.allCases {
      let verdicts = vectors.filter { $0["kind"]?.string == kind.rawValue }
        .compactMap { $0["verdict"]?.string }
      #expect(verdicts.contains("valid"), "\(kind)")
      #expect(verdicts.contains("invalid"), "\(kind)")
    }
  }
}

extension JSONValue {
  /// The value with the members of each object in the order of their names: encoders keep none.
  fileprivate var sorted: JSONValue {
    switch self {
    case .object(let members):
      .object(
        members.sorted { $0.name < $1.name }.map { JSONMember(name: $0.name, value: $0.value.sorted) })
    case .array(let elements): .array(elements.map(\.sorted))
    case .null, .bool, .number, .string: self
    }
  }
}
