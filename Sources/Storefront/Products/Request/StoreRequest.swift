// SPDX-License-Identifier: Apache-2.0

/// A request to the store with a delegate (`SKRequest`): make one, set its delegate, start it.
public protocol StoreRequest: AnyObject, Sendable {
  /// Sends the request. The results go to the delegate. A request is sent once: starting it again, or after it was
  /// cancelled, has no effect.
  func start()

  /// Cancels the request. When this returns, the delegate receives no further call, and no error for the cancellation.
  /// A call in progress has ended, unless it is the one that cancels.
  func cancel() async
}

/// The delegate of any request (`SKRequestDelegate`). Both methods are optional.
public protocol RequestDelegate: AnyObject, Sendable {
  /// The request finished (`requestDidFinish:`). No further call follows; the request may be released.
  func requestDidFinish(_ request: any StoreRequest) async

  /// The request failed (`request:didFailWithError:`). ``requestDidFinish(_:)`` is not called; the request may be
  /// released.
  func request(_ request: any StoreRequest, didFailWith error: StoreError) async
}

extension RequestDelegate {
  /// Does nothing.
  public func requestDidFinish(_ request: any StoreRequest) async {}

  /// Does nothing.
  public func request(_ request: any StoreRequest, didFailWith error: StoreError) async {}
}

/// The delegate of a products request (`SKProductsRequestDelegate`).
public protocol ProductsRequestDelegate: RequestDelegate {
  /// The response came (`productsRequest:didReceiveResponse:`). ``RequestDelegate/requestDidFinish(_:)`` follows.
  func productsRequest(_ request: ProductsRequest, didReceive response: ProductsResponse) async
}

/// How identifiers are handled that the store does not know. They are a mistake in the list of identifiers or in the
/// store's catalogue. Either policy logs them and lists them separately in the response.
public enum InvalidIdentifierPolicy: Sendable {
  /// Ignores them: customers buy the other products.
  case production
  /// Also reports them to the developer, by a handler that shows the error prominently.
  case development(@Sendable (InvalidProductIdentifiers) -> Void)
}

/// Identifiers that the store does not know.
public struct InvalidProductIdentifiers: Error, Sendable, Hashable, CustomStringConvertible {
  /// The identifiers, sorted; at least one.
  public let identifiers: [String]

  /// Creates an error; `nil` if there are none.
  package init?(_ identifiers: [String]) {
    guard !identifiers.isEmpty else { return nil }
    self.identifiers = identifiers.sorted()
  }

  /// The identifiers and what to do, on one line.
  public var description: String {
    let names = identifiers.map { "\"\($0)\"" }.joined(separator: ", ")
    return "invalid-product-identifiers: the store does not sell \(names); correct the list of product "
      + "identifiers, or add them to the store's catalogue and put them up for sale."
  }
}
