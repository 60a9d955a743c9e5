// SPDX-License-Identifier: Apache-2.0

/// A request to the store with a delegate (`SKRequest`): make one, set its delegate, start it.
public protocol StoreRequest: AnyObject, Sendable {
  /// Sends the request. The results go to the delegate. A request is sent once: to start it again does nothing, and
  /// neither does it to start one that was cancelled.
  func start()

  /// Cancels the request. When this returns, no call of the delegate begins any more, and an error is not among what it
  /// was told; a call that had begun has ended, unless it is the one that cancels.
  func cancel() async
}

/// What is told of any request (`SKRequestDelegate`). Both are optional.
public protocol RequestDelegate: AnyObject, Sendable {
  /// All was processed; nothing follows, and the request may be let go of (`requestDidFinish:`).
  func requestDidFinish(_ request: any StoreRequest) async

  /// It failed (`request:didFailWithError:`). ``requestDidFinish(_:)`` is not called afterwards; the request may be let
  /// go of.
  func request(_ request: any StoreRequest, didFailWith error: StoreError) async
}

extension RequestDelegate {
  /// Does nothing.
  public func requestDidFinish(_ request: any StoreRequest) async {}

  /// Does nothing.
  public func request(_ request: any StoreRequest, didFailWith error: StoreError) async {}
}

/// What is told of a products request (`SKProductsRequestDelegate`).
public protocol ProductsRequestDelegate: RequestDelegate {
  /// The products, and the identifiers that the store does not know (`productsRequest:didReceiveResponse:`). Afterwards
  /// comes ``RequestDelegate/requestDidFinish(_:)``.
  func productsRequest(_ request: ProductsRequest, didReceive response: ProductsResponse) async
}
