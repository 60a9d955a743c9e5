// SPDX-License-Identifier: Apache-2.0

/// Decoded content that has not been verified: anyone may have written it.
///
/// Decoding returns this type. The content itself is only available from a verifier, in a `VerifiedReceipt`, or from
/// ``unsafelyAssumeAuthentic()``, by whose name the caller states that no proof is needed, for example to display the
/// contents of a file.
///
/// ```swift
/// let jws = try UnverifiedJWS(parsing: bytes)
/// let claims = try jws.decoded().unsafelyAssumeAuthentic()
/// ```
public struct Unverified<Content: Sendable & Hashable>: Sendable, Hashable {
  package let content: Content

  package init(_ content: Content) { self.content = content }

  /// Returns the content without any proof of its origin. Never base a customer's entitlements on it.
  public func unsafelyAssumeAuthentic() -> Content { content }
}
