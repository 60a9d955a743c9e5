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
