// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The stages of verification: recognition, authentication, policy, verdict. Data flows one way: each stage takes the
/// result of the stage before. The signed parts of notifications pass through the same stages up to the policy,
/// together for all receipts of a batch. A signer is remembered here, by no stage, once the policy has accepted a
/// receipt of it.
extension ReceiptVerifier {
  func verdict(on receipt: RecognizedReceipt) -> Verdict {
    let trace = diagnostics.map { _ in Trace(of: receipt) }
    var signers = BatchSigners(known: knownSigners)
    let content = Result { () throws(ValidationError) in
      try authenticator.authenticate(try receipt.requireMessage(), signers: &signers, trace: trace)
    }
    let parts = authenticatedParts(of: CollectionOfOne(content), signers: &signers)
    return verdict(on: receipt, content, parts: parts.isEmpty ? [] : parts[0] ?? [], trace: trace)
  }

  func verdicts(on receipts: [RecognizedReceipt]) -> [Verdict] {
    let traced = receipts.map { receipt in
      (receipt: receipt, trace: diagnostics.map { _ in Trace(of: receipt) })
    }
    var signers = BatchSigners(known: knownSigners)
    let contents = authenticator.authenticate(traced, signers: &signers)
    let parts = authenticatedParts(of: contents, signers: &signers)
    return traced.indices.map { index in
      verdict(
        on: traced[index].receipt, contents[index], parts: parts[index] ?? [], trace: traced[index].trace)
    }
  }

  private func verdict(
    on receipt: RecognizedReceipt, _ content: Result<AuthenticatedContent, ValidationError>,
    parts: [AuthenticatedPart], trace: Trace?
  ) -> Verdict {
    let verdict: Verdict
    do throws(ValidationError) {
      let content = try content.get()
      verdict = .valid(
        parts.isEmpty
          ? try accept(content, claims: content.decoded.claims, in: .receipt, trace: trace)
          : try accept(content, with: parts, trace: trace))
      trace?.add(.verdict, passed: true, "valid")
    } catch {
      trace?.add(.verdict, passed: false, error.reason.description)
      verdict = error.verdict(claimedKind: claimedKind(of: receipt, content))
    }
    if let diagnostics { trace?.report(to: diagnostics) }
    return verdict
  }

  private func claimedKind(
    of receipt: RecognizedReceipt, _ content: Result<AuthenticatedContent, ValidationError>
  ) -> ReceiptKind? {
    if case .success(let content) = content { return content.decoded.claims.kind }
    return receipt.receipt?.claimedKind(limits: recognizer.limits)
  }

  /// A signed part with its content, or the error of its authentication.
  private struct AuthenticatedPart {
    let part: SignedPart
    let content: Result<AuthenticatedContent, ValidationError>
    let trace: Trace?
  }

  /// Returns the authenticated parts of all notifications, by the notification's index.
  private func authenticatedParts(
    of contents: some Collection<Result<AuthenticatedContent, ValidationError>>,
    signers: inout BatchSigners
  ) -> [Int: [AuthenticatedPart]] {
    var parts: [(index: Int, part: SignedPart)] = []
    for (index, content) in contents.enumerated() {
      // If the policy does not accept the kind, the parts are not needed.
      guard case .success(let content) = content, !content.decoded.parts.isEmpty,
        evaluator.policy.kinds.contains(content.decoded.claims.kind)
      else { continue }
      for part in content.decoded.parts { parts.append((index, part)) }
    }
    guard !parts.isEmpty else { return [:] }
    let traced = parts.map {
      (receipt: recognizer.recognize($0.part), trace: diagnostics.map { _ in Trace() })
    }
    let authenticated = authenticator.authenticate(traced, signers: &signers)
    var found: [Int: [AuthenticatedPart]] = [:]
    for (number, (index, part)) in parts.enumerated() {
      found[index, default: []].append(
        AuthenticatedPart(part: part, content: authenticated[number], trace: traced[number].trace))
    }
    return found
  }

  /// Evaluates the policy on a notification and on its parts, which must agree with it.
  private func accept(
    _ content: AuthenticatedContent, with parts: [AuthenticatedPart], trace: Trace?
  ) throws(ValidationError) -> VerifiedReceipt {
    var claims = content.decoded.claims
    var agreement = NotificationAgreement(claims)
    var nested: [VerifiedReceipt] = []
    for part in parts {
      defer { trace?.add(part.trace) }
      do throws(ValidationError) {
        let partContent = try part.content.get()
        nested.append(
          try accept(
            partContent, claims: partContent.decoded.claims,
            in: .part(of: claims.environment, kind: part.part.kind), trace: part.trace))
      } catch {
        throw error.inside(part.part.place)
      }
    }
    for (part, receipt) in zip(parts, nested) {
      do throws(ValidationError) {
        try agreement.require(receipt)
      } catch {
        throw error.inside(part.part.place)
      }
    }
    claims.signedAt = claims.signedAt ?? nested.compactMap(\.signedAt).max()
    return try accept(content, claims: claims, nested: nested, in: .receipt, trace: trace)
  }

  /// Evaluates the policy on content, and remembers the signer of content that it accepts.
  private func accept(
    _ content: AuthenticatedContent, claims: Claims, nested: [VerifiedReceipt] = [],
    in context: PolicyEvaluator.Context, trace: Trace?
  ) throws(ValidationError) -> VerifiedReceipt {
    let acceptance = try evaluator.evaluate(content, claims: claims, in: context, trace: trace)
    knownSigners.insert(content.proven.signer, of: content.proven.message.format)
    let receipt = VerifiedReceipt(content, claims: claims, signedBy: acceptance.path, nested: nested)
    do throws(ValidationError) {
      if case .receipt = context { try evaluator.requireCurrentPurchase(of: receipt) }
    } catch {
      // What a store may still decide does not hide that the environment is not proven: a checker must determine both.
      if case .invalid(signatureVerified: nil) = error.outcome { throw error }
      if acceptance.unprovenEnvironment == nil { throw error }
    }
    if let reason = acceptance.unprovenEnvironment { throw .undetermined(reason, signatureVerified: receipt) }
    return receipt
  }
}
