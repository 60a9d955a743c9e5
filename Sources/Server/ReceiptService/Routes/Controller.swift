// SPDX-License-Identifier: Apache-2.0

#if Server
  /// Answers the operations of a subject, with no more than it needs for them.
  ///
  /// ``ReceiptAPI`` has the table of the controllers, whose routes it serves in this order.
  protocol Controller: Sendable {
    /// The operations, in the order of the API description.
    var routes: [Route] { get }
  }
#endif
