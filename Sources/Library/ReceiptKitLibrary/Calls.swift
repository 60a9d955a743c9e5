// SPDX-License-Identifier: Apache-2.0

internal import AuditTrail
internal import CommandOutput
internal import PolicyDocuments
internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto
internal import ReceiptInspection
internal import ReceiptSigning
internal import ReceiptVerification
internal import TransparencyLog

/// What a call answers: its status and a text.
struct CallResult {
  var status = ExitStatus.done
  /// The text, in pieces, since that of a batch is long.
  var pieces: [[UInt8]] = []

  init(status: ExitStatus = .done, pieces: [[UInt8]] = []) {
    self.status = status
    self.pieces = pieces
  }

  init(status: ExitStatus = .done, text: [UInt8]) { self.init(status: status, pieces: [text]) }
}

/// What the functions of the header do, in Swift.
enum Calls {
  /// The longest document that a caller writes, in bytes.
  static let longestDocument = 1 << 26
  private static let documents = ReceiptLimits(maximumByteCount: longestDocument)

  /// Reads a document that the caller wrote. An unknown member is an error.
  private static func read<Document: JSONObject>(
    _ json: [UInt8], _ part: String
  ) throws(DocumentError) -> Document {
    do throws(MalformedReceipt) {
      return try Document(json: json, part: part, limits: documents, isStrict: true)
    } catch {
      throw DocumentError(error)
    }
  }

  static func version() -> CallResult {
    CallResult(
      text: Output.Version(
        toolVersion: ToolkitVersion.current, commit: Build.commit, configuration: Build.configuration,
        traits: Build.traits, libcrypto: Libcrypto.version, sqlite: nil,
        fixedKeyTables: VerificationCapabilities.current.hasFixedKeyTables, libcurl: nil
      ).object)
  }

  static func createVerifier(_ policy: [UInt8]) throws(DocumentError) -> UInt64 {
    let document: PolicyDocument = try read(policy, "policy")
    return Handles.add(.verifier(try document.verifier().withoutBackgroundWork))
  }

  static func verify(_ receipt: [UInt8], with verifier: ReceiptVerifier) -> CallResult {
    let verdict = verifier.verify(ReceiptInputText.stripped(receipt))
    return CallResult(status: verdict.status, text: verdict.json(at: verifier.policy.instant))
  }

  static func payload(of receipt: [UInt8], by verifier: ReceiptVerifier) throws(DocumentError) -> CallResult {
    let verdict = verifier.verify(ReceiptInputText.stripped(receipt))
    guard case .valid(let verified) = verdict else {
      return CallResult(status: verdict.status, text: verdict.json(at: verifier.policy.instant))
    }
    do { return CallResult(text: try verified.payloadJSON()) } catch {
      throw DocumentError(.internalFault, "The payload of a valid receipt cannot be read again: \(error)")
    }
  }

  static func inspect(_ receipt: [UInt8], redacting: Bool) throws(DocumentError) -> CallResult {
    let inspection: Inspection
    do throws(MalformedReceipt) {
      inspection = try Inspection(of: ReceiptInputText.stripped(receipt))
    } catch {
      // The command, too, refuses with 1 what is no receipt.
      throw DocumentError(
        .invalid, error.message, code: error.code.rawValue, at: error.place.description)
    }
    return CallResult(
      text: JSONWriter.object("inspection") { inspection.write(to: &$0, redacting: redacting) })
  }

  static func createSigner(_ identity: [UInt8]) throws(DocumentError) -> UInt64 {
    let document: IdentityDocument = try read(identity, "identity")
    var chain: [Certificate] = []
    for (index, text) in document.certificates.enumerated() {
      chain += try PolicyDocument.certificates(in: text, at: "$.certificates[\(index)]")
    }
    do throws(SigningError) {
      let key = try SigningIdentity.privateKey(
        inFile: Array(document.privateKey.utf8), passphrase: document.passphrase.map { Array($0.utf8) })
      let identity =
        chain.isEmpty
        ? SigningIdentity(appKey: key) : try SigningIdentity(privateKey: key, chain: chain)
      return Handles.add(.signer(ReceiptSigner(identity: identity)))
    } catch {
      throw DocumentError(error)
    }
  }

  static func sign(_ request: [UInt8], with signer: ReceiptSigner) throws(DocumentError) -> CallResult {
    let document: SigningRequest = try read(request, "request")
    let kind: ReceiptKind = try .named(document.format, at: "$.format")
    guard !document.pss || kind == .huaweiPurchase else {
      throw .invalid("$.pss", "Only purchases of Huawei are signed with RSASSA-PSS.")
    }
    guard !document.base64 || !kind.isDetached else {
      throw .invalid("$.base64", "This kind of receipt is JSON.")
    }
    do throws(SigningError) {
      let input = try ReceiptInput(
        decoding: document.receipt.encoded(), as: kind, signedAt: SystemClock.now(), limits: documents)
      let receipt = try signer.sign(input, usesPSS: document.pss)
      let isEncoded = document.base64 || kind == .appReceipt
      return CallResult(
        text: Output.SignedReceipt(
          format: kind.rawValue, signedDate: input.signedAt,
          receipt: String(decoding: isEncoded ? Base64.encode(receipt) : receipt, as: UTF8.self)
        ).object)
    } catch {
      throw DocumentError(error)
    }
  }

  static func check(proof: [UInt8], _ request: [UInt8]) throws(DocumentError) -> CallResult {
    let document: ProofRequest = try read(request, "request")
    let check = ProofCheck(try document.trust(), receipt: try document.digests())
    do {
      let proven = try check.check(proof)
      let checkpoint = proven.proof.checkpoint.checkpoint
      return CallResult(
        text: Output.AuditCheck(
          source: nil, proven: true, message: nil, origin: checkpoint.origin, treeSize: checkpoint.size,
          rootHash: checkpoint.root.hexadecimal,
          entry: EntryReport(index: proven.proof.index, entry: proven.entry)
        ).object)
    } catch  where error.isFailureToCheckNote {
      throw DocumentError(.internalFault, "\(error)")
    } catch {
      return CallResult(
        status: .invalid,
        text: Output.AuditCheck(
          source: nil, proven: false, message: "\(error)", origin: nil, treeSize: nil, rootHash: nil,
          entry: nil
        ).object)
    }
  }
}

extension JSONValue {
  /// What a member holds until it is read.
  static let unread = JSONValue.null
}

extension ProofRequest {
  fileprivate func trust() throws(DocumentError) -> ProofCheck.Trust {
    guard (key == nil) != (policy == nil) else {
      throw DocumentError(.usage, "Give key or policy, and not both.", code: "missing", at: "$.key")
    }
    guard replacedKeys == nil || key != nil else {
      throw .invalid("$.replacedKeys", "It needs key, the key that is trusted.")
    }
    if let policy {
      do { return .policy(try WitnessPolicy(parsing: Array(policy.utf8))) } catch {
        throw DocumentError(.unreadableInput, "\(error)", at: "$.policy")
      }
    }
    let first: NoteVerifierKey
    do { first = try NoteVerifierKey(key ?? "") } catch {
      throw DocumentError(.unreadableInput, "\(error)", at: "$.key")
    }
    do {
      return .keys(
        try replacedKeys.map { try KeyChain(first, parsing: Array($0.utf8)) } ?? KeyChain(first))
    } catch {
      throw DocumentError(.unreadableInput, "\(error)", at: "$.replacedKeys")
    }
  }

  fileprivate func digests() throws(DocumentError) -> ReceiptDigests? {
    guard let receipt else { return nil }
    do throws(Base64Error) {
      return ReceiptDigests(of: ReceiptInputText.stripped(try Base64.decode(Array(receipt.utf8))))
    } catch {
      throw DocumentError(.unreadableInput, "The receipt is given in base64.", at: "$.receipt")
    }
  }
}

extension Verdict {
  var status: ExitStatus {
    switch self {
    case .valid: .done
    case .invalid: .invalid
    case .undetermined: .undetermined
    }
  }

  /// The object `verdict`.
  func json(at instant: Timestamp) -> [UInt8] {
    var json = JSONWriter()
    append(to: &json, at: instant)
    return json.bytes
  }

  /// Appends the object `verdict`.
  func append(to json: inout JSONWriter, at instant: Timestamp) {
    json.beginObject(type: "verdict")
    write(to: &json, at: instant)
    json.endObject()
  }
}
