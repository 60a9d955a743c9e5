// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
public import ReceiptCrypto

/// Turns bytes into a verdict, without I/O.
///
/// It recognizes the kind of receipt, checks the signature and the certificates against trusted roots, and then
/// evaluates the policy.
///
/// ```swift
/// let verifier = ReceiptVerifier(
///   trust: .apple,
///   policy: VerificationPolicy(bundleIds: .oneOf(["com.example.app"]), environments: [.production]))
/// switch verifier.verify(receiptBytes) {
/// case .valid(let receipt): grant(receipt.activePurchases(at: SystemClock.now()))
/// case .invalid(let receipt): log("refused", receipt.reason)
/// case .undetermined(let receipt) where receipt.isRetryable: retryLater()
/// case .undetermined(let receipt): log("cannot be checked until this is corrected", receipt.reason)
/// }
/// ```
///
/// A verifier is safe to use from any number of tasks and threads at once. Keep it: it caches the signers of receipts
/// that it accepted, so only the first receipt of a signer is expensive. Copies share the cache. <doc:Design> follows a
/// receipt through the verifier.
public struct ReceiptVerifier: Sendable {
  let recognizer: Recognizer
  private(set) var authenticator: Authenticator
  let evaluator: PolicyEvaluator
  /// The signers of receipts that the policy accepted.
  let knownSigners = KnownSigners()
  let diagnostics: (@Sendable (VerificationDiagnostic) -> Void)?

  /// The trusted roots.
  public var trust: TrustAnchors { authenticator.resolver.trust }
  /// The requirements that a receipt must meet.
  public var policy: VerificationPolicy { evaluator.policy }
  /// The issuers' certificates that receipts do not embed: transaction receipts carry only their leaf.
  public var intermediates: [Certificate] { authenticator.resolver.intermediates }
  /// The bounds on size and nesting.
  public var limits: ReceiptLimits { recognizer.limits }

  /// Creates a verifier.
  ///
  /// - Parameters:
  ///   - trust: The trusted roots.
  ///   - policy: The requirements that a receipt must meet.
  ///   - intermediates: The issuers' certificates that receipts do not embed.
  ///   - limits: The bounds on size and nesting.
  ///   - clock: Returns the current time; the system's clock by default.
  ///   - diagnostics: Called on the verifying thread with every decision on a receipt, after its verdict is reached.
  ///     `nil` by default.
  public init(
    trust: TrustAnchors, policy: VerificationPolicy, intermediates: [Certificate] = [],
    limits: ReceiptLimits = .standard,
    clock: @escaping @Sendable () -> Timestamp = { SystemClock.now() },
    diagnostics: (@Sendable (VerificationDiagnostic) -> Void)? = nil
  ) {
    recognizer = Recognizer(limits: limits, appKeys: policy.appKeys)
    authenticator = Authenticator(
      resolver: SignerResolver(trust: trust, intermediates: intermediates, policy: policy))
    evaluator = PolicyEvaluator(policy: policy, clock: clock)
    self.diagnostics = diagnostics
  }

  /// The same verifier without ``VerificationPolicy/requiresCurrentPurchase``, for what a store sends of its own accord.
  package var acceptingLapsedPurchases: ReceiptVerifier {
    policy.requiresCurrentPurchase ? changing { $0.requiresCurrentPurchase = false } : self
  }

  /// The same verifier without work in the background: what it computes once for a signer, some 16 ms, it computes in the call
  /// that needs it next. For a process that belongs to others, in which a thread would be left out of a fork.
  package var withoutBackgroundWork: ReceiptVerifier {
    var verifier = self
    verifier.authenticator.resolver.buildsTablesInPlace = true
    return verifier
  }

  /// Returns a verifier with another policy, and the same clock and trust.
  package func changing(_ change: (inout VerificationPolicy) -> Void) -> ReceiptVerifier {
    var policy = policy
    change(&policy)
    return ReceiptVerifier(
      trust: trust, policy: policy, intermediates: intermediates, limits: limits, clock: evaluator.clock,
      diagnostics: diagnostics)
  }

  /// Verifies a receipt of any kind, in any wrapping that ``/ReceiptCodec/UnverifiedReceipt`` reads.
  public func verify(_ bytes: [UInt8]) -> Verdict { verdict(on: recognizer.recognize(bytes)) }

  /// Verifies a receipt in any collection of bytes, such as `Data` or an `ArraySlice`.
  public func verify(_ bytes: some Collection<UInt8>) -> Verdict { verify(Array(bytes)) }

  /// Verifies a receipt in borrowed memory; its bytes are copied.
  public func verify(_ bytes: Span<UInt8>) -> Verdict {
    verify(unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) })
  }

  /// Verifies a receipt in text: compact JWS, base64, property list or a JSON object that wraps a receipt.
  public func verify(_ text: String) -> Verdict { verify(Array(text.utf8)) }

  /// Verifies a receipt that is already parsed.
  public func verify(_ receipt: UnverifiedReceipt) -> Verdict { verdict(on: recognizer.recognize(receipt)) }

  /// Verifies locally, then asks each checker in turn.
  ///
  /// If the receipt is invalid locally, the verdict is invalid and no checker is asked; the exception is a purchase that has
  /// expired under ``VerificationPolicy/requiresCurrentPurchase``, whose renewal only the store may know. Otherwise every
  /// checker must confirm the receipt:
  ///
  /// - The first checker that reports a revocation or refuses the receipt makes the verdict invalid.
  /// - A checker that could not answer makes the verdict undetermined, never valid. There are two exceptions: a later
  ///   checker refuses the receipt, or ``VerificationPolicy/offlineRule`` accepts the receipt without that checker.
  ///
  /// ``Verdict/checks`` contains the answers. If the receipt only claims its environment or omits it, a checker that
  /// found the purchase determines it: the verified receipt then states that environment as proven. A checker that
  /// names an environment other than the proven one contradicts the receipt, which makes the verdict invalid.
  public func verify(_ bytes: [UInt8], checkers: [any RemoteChecker]) async -> Verdict {
    await RemoteConsultation(evaluator: evaluator, checkers: checkers, report: diagnostics).verdict(
      on: verify(bytes))
  }
}

extension VerificationCapabilities {
  /// The capabilities of this process.
  public static let current = VerificationCapabilities(
    libcryptoVersion: Libcrypto.version, hasFixedKeyTables: FixedKeyVerifier.isAvailable)
}
