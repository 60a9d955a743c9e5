// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
public import ReceiptCrypto

/// Turns bytes into a verdict: recognizes the kind of receipt, checks signature and certificates against
/// trusted roots, then everything that the policy requires. It does no I/O.
///
/// ```swift
/// let verifier = ReceiptVerifier(
///   trust: .apple,
///   policy: VerificationPolicy(bundleIds: .oneOf(["com.example.app"]), environments: [.production]))
/// switch verifier.verify(receiptBytes) {
/// case .valid(let receipt): grant(receipt.transactions)
/// case .invalid(let receipt): log("refused", receipt.reason)
/// case .undetermined(let receipt): log("could not be checked", receipt.reason)
/// }
/// ```
///
/// One verifier may be used from any number of tasks and threads at once. Keep it: it remembers the signers of
/// receipts that it accepted, which makes all but the first receipt of a signer cheap. Copies share that memory.
/// <doc:Design> follows a receipt through it.
public struct ReceiptVerifier: Sendable {
  let pipeline: VerificationPipeline

  /// The roots that are trusted.
  public var trust: TrustAnchors { pipeline.authenticator.resolver.trust }
  /// What is required of a receipt.
  public var policy: VerificationPolicy { pipeline.evaluator.policy }
  /// Certificates of issuers that receipts do not embed: transaction receipts carry their leaf alone.
  public var intermediates: [Certificate] { pipeline.authenticator.resolver.intermediates }
  /// Bounds on size and nesting.
  public var limits: ReceiptLimits { pipeline.recognizer.limits }

  /// Creates a verifier.
  ///
  /// - Parameters:
  ///   - trust: The roots that are trusted.
  ///   - policy: What is required of a receipt.
  ///   - intermediates: Certificates of issuers that receipts do not embed.
  ///   - limits: Bounds on size and nesting.
  ///   - clock: The current time; the system's clock by default.
  ///   - diagnostics: Called on the verifying thread with every decision on a receipt, once its verdict stands. `nil`
  ///     by default.
  public init(
    trust: TrustAnchors, policy: VerificationPolicy, intermediates: [Certificate] = [],
    limits: ReceiptLimits = .standard,
    clock: @escaping @Sendable () -> Timestamp = { SystemClock.now() },
    diagnostics: (@Sendable (VerificationDiagnostic) -> Void)? = nil
  ) {
    pipeline = VerificationPipeline(
      recognizer: Recognizer(limits: limits, appKeys: policy.appKeys),
      authenticator: Authenticator(
        resolver: SignerResolver(trust: trust, intermediates: intermediates, policy: policy)),
      evaluator: PolicyEvaluator(policy: policy, clock: clock), report: diagnostics)
  }

  /// Verifies a receipt of any kind, in any of the wrappings that ``/ReceiptCodec/UnverifiedReceipt`` knows.
  public func verify(_ bytes: [UInt8]) -> Verdict {
    pipeline.verdict(on: pipeline.recognizer.recognize(bytes))
  }

  /// Verifies a receipt in any collection of bytes, such as `Data` or an `ArraySlice`.
  public func verify(_ bytes: some Collection<UInt8>) -> Verdict { verify(Array(bytes)) }

  /// Verifies a receipt in borrowed memory. Its bytes are copied.
  public func verify(_ bytes: Span<UInt8>) -> Verdict {
    verify(unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) })
  }

  /// Verifies a receipt given as text: compact JWS, base64, property list or a JSON object that wraps one.
  public func verify(_ text: String) -> Verdict { verify(Array(text.utf8)) }

  /// Verifies a receipt that was parsed before.
  public func verify(_ receipt: UnverifiedReceipt) -> Verdict {
    pipeline.verdict(on: pipeline.recognizer.recognize(receipt))
  }

  /// Verifies locally, then asks each checker in turn.
  ///
  /// A receipt that is invalid locally stays so, and no checker is asked. Otherwise every checker must confirm
  /// it: the first that says revoked or refuses makes the verdict invalid; one that could not answer makes it
  /// undetermined, never valid, unless a later one refuses, or ``VerificationPolicy/offlineRule`` says by name
  /// that offline is enough. What each said is in ``Verdict/checks``. An environment that the receipt only claims, or
  /// leaves out, is determined by a checker that names the one in which it found the purchase: the verified
  /// receipt then says that one, as proven. A checker that names another than is proven contradicts.
  public func verify(_ bytes: [UInt8], checkers: [any RemoteChecker]) async -> Verdict {
    await RemoteConsultation(policy: policy, checkers: checkers, report: pipeline.report).verdict(
      on: verify(bytes))
  }
}
