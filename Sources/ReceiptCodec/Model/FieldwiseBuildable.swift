// SPDX-License-Identifier: Apache-2.0

/// A value that is built by setting its fields: most have too many for an initializer.
///
/// ```swift
/// let transaction = JWSTransaction().with {
///   $0.transactionId = "2000000001"
///   $0.productId = "com.example.pro"
/// }
/// ```
package protocol FieldwiseBuildable {}

extension FieldwiseBuildable {
  /// The value with some fields set.
  package func with<Failure: Error>(
    _ change: (inout Self) throws(Failure) -> Void
  ) throws(Failure) -> Self {
    var copy = self
    try change(&copy)
    return copy
  }
}
