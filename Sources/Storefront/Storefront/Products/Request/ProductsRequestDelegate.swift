// SPDX-License-Identifier: Apache-2.0

/// The delegate of a products request (`SKRequestDelegate`, `SKProductsRequestDelegate`).
public protocol ProductsRequestDelegate: AnyObject, Sendable {
  /// The response was received (`productsRequest:didReceiveResponse:`). ``requestDidFinish(_:)`` follows.
  func productsRequest(_ request: ProductsRequest, didReceive response: ProductsResponse) async

  /// The request finished (`requestDidFinish:`). No further call follows; the request may be released.
  func requestDidFinish(_ request: ProductsRequest) async

  /// The request failed (`request:didFailWithError:`). ``requestDidFinish(_:)`` is not called; the request may be
  /// released.
  func request(_ request: ProductsRequest, didFailWith error: StoreError) async
}

extension ProductsRequestDelegate {
  /// Does nothing.
  public func requestDidFinish(_ request: ProductsRequest) async {}

  /// Does nothing.
  public func request(_ request: ProductsRequest, didFailWith error: StoreError) async {}
}

/// Identifiers that the store does not know.
public struct InvalidProductIdentifiers: Error, Sendable, Hashable, CustomStringConvertible {
  /// The identifiers, sorted; at least one.
  public let identifiers: [String]

  /// Creates an error; `nil` if there are no identifiers.
  package init?(_ identifiers: [String]) {
    guard !identifiers.isEmpty else { return nil }
    self.identifiers = identifiers.sorted()
  }

  /// The identifiers and the remedy, on one line.
  public var description: String {
    let names = identifiers.map { "\"\($0)\"" }.joined(separator: ", ")
    return "invalid-product-identifiers: the store does not sell \(names); correct the list of product "
      + "identifiers, or add them to the store's catalogue and put them up for sale."
  }
}
