// SPDX-License-Identifier: Apache-2.0

internal import CCurl
internal import Dispatch
internal import ReceiptHTTP
internal import Synchronization

/// The thread on which libcurl runs for one transport.
@safe
final class CurlLoop: Sendable {
  private struct Inbox {
    var started: [CurlExchange] = []
    var cancelled: [CurlExchange] = []
    var isClosed = false
    /// `true` once the thread has ended and the group is freed.
    var hasEnded = false
  }

  private nonisolated(unsafe) let group: OpaquePointer
  private let inbox = Mutex(Inbox())

  /// Creates the loop and starts its thread; `nil` if there is no usable libcurl.
  init?(maximumConnectionsPerHost: Int) {
    guard CCurl_load() != 0, let group = unsafe CCurl_group_create(max(1, maximumConnectionsPerHost)) else {
      return nil
    }
    unsafe self.group = group
    DispatchQueue(label: "ReceiptHTTPCurl").async { self.run() }
  }

  func start(_ exchange: CurlExchange) {
    put(exchange) { $0.started.append(exchange) }
  }

  func cancel(_ exchange: CurlExchange) {
    exchange.fail(.cancelled, "The task was cancelled.")
    put(exchange) { $0.cancelled.append(exchange) }
  }

  func shutdown() {
    inbox.withLock { inbox in
      inbox.isClosed = true
      if !inbox.hasEnded { unsafe CCurl_group_wake(group) }
    }
  }

  private func put(_ exchange: CurlExchange, _ change: (inout Inbox) -> Void) {
    let isOpen = inbox.withLock { inbox in
      guard !inbox.isClosed else { return false }
      change(&inbox)
      unsafe CCurl_group_wake(group)
      return true
    }
    if !isOpen { exchange.fail(.unusable, "The transport was shut down.") }
  }

  private func run() {
    var active: [OpaquePointer: CurlExchange] = unsafe [:]
    while true {
      let mail = inbox.withLock { inbox in
        let mail = inbox
        inbox.started = []
        inbox.cancelled = []
        return mail
      }
      for exchange in mail.started {
        if unsafe CCurl_group_add(group, exchange.exchange) != 0 {
          unsafe active[exchange.exchange] = exchange
        } else {
          exchange.fail(.unusable, "libcurl has no memory for the request.")
        }
      }
      for exchange in mail.cancelled where unsafe active.removeValue(forKey: exchange.exchange) != nil {
        unsafe CCurl_group_remove(group, exchange.exchange)
      }
      if mail.isClosed { break }
      unsafe CCurl_group_perform(group)
      var result: Int32 = 0
      while let ended = unsafe CCurl_group_next_ended(group, &result) {
        unsafe active.removeValue(forKey: ended)?.end(result: result)
      }
      unsafe CCurl_group_wait(group, 1000)
    }
    for unsafe(pointer, exchange) in unsafe active {
      unsafe CCurl_group_remove(group, pointer)
      exchange.fail(.unusable, "The transport was shut down.")
    }
    inbox.withLock { inbox in
      inbox.hasEnded = true
      unsafe CCurl_group_free(group)
    }
  }
}
