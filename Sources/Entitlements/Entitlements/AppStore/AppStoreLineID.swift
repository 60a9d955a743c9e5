// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// The identity of a line in the App Store, unique within an app and environment.
package protocol AppStoreLineID: StoreLineID {
  var environment: ReceiptEnvironment.Category { get }
  var bundleId: String { get }

  init(environment: ReceiptEnvironment.Category, bundleId: String, identifier: String)
}

extension AppStoreLineID {
  /// Creates an identity; `nil` if a value is missing or is not a valid identifier, which has one spelling and a
  /// limited length.
  init?(environment: ReceiptEnvironment.Category?, bundleId: String?, identifier: String?) {
    guard let environment, let bundleId, let identifier,
      bundleId.isIdentifier(1...256), identifier.isIdentifier(1...256)
    else { return nil }
    self.init(environment: environment, bundleId: bundleId, identifier: identifier)
  }

  package static func isLower(_ left: Self, _ right: Self) -> Bool? {
    FactOrder.isLower(left.environment.rawValue, right.environment.rawValue)
      ?? FactOrder.isLower(left.bundleId, right.bundleId)
      ?? FactOrder.isLower(identifier: left.identifier, right.identifier)
  }
}

extension LineFacts where Line.ID: AppStoreLineID {
  static var invalidIdentity: String {
    "The environment is not one of "
      + ReceiptEnvironment.Category.allCases.map(\.rawValue).joined(separator: ", ")
      + ", or an identifier is not of 1 to 256 visible ASCII characters."
  }
}

extension String {
  /// Returns `true` for so many visible ASCII characters; Swift considers some other texts equal although their bytes
  /// differ.
  package func isIdentifier(_ byteCounts: ClosedRange<Int>) -> Bool {
    byteCounts ~= utf8.count && utf8.allSatisfy { 0x21...0x7E ~= $0 }
  }
}
