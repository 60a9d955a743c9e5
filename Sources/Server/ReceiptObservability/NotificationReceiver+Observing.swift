// SPDX-License-Identifier: Apache-2.0

#if SwiftNIO
  public import Entitlements
  public import GooglePlay
  internal import Logging
  internal import ReceiptCodec

  extension NotificationReceiver {
    /// Verifies the notification in the body of a request, and reports it.
    ///
    /// - Parameters:
    ///   - body: `{"signedPayload": "…"}`, or the JWS alone.
    ///   - observer: The observer to report to.
    /// - Returns: The verified notification and its decoded parts.
    /// - Throws: `NotificationRejection`, with the status to answer with.
    public func receive(
      _ body: [UInt8], observer: ReceiptObserver
    ) throws(NotificationRejection) -> AppStoreNotification {
      do throws(NotificationRejection) {
        let notification = try receive(body)
        observer.reportNotification(
          store: "app-store", type: notification.type?.rawValue,
          id: notification.uuid.map { "\($0)" })
        return notification
      } catch {
        observer.reportRejection(store: "app-store", isRetryable: error.httpStatus == 503, error.description)
        throw error
      }
    }
  }

  extension DeveloperNotificationReceiver {
    /// Verifies the token of a request and reads the message, and reports it.
    ///
    /// - Parameters:
    ///   - authorization: The value of the header field `Authorization`; `nil` if it is missing.
    ///   - body: The body.
    ///   - observer: The observer to report to.
    /// - Returns: The message.
    /// - Throws: `PushRejection`, with the status to answer with.
    public func receive(
      authorization: String?, body: [UInt8], observer: ReceiptObserver
    ) async throws(PushRejection) -> DeveloperMessage {
      do throws(PushRejection) {
        let message = try await receive(authorization: authorization, body: body)
        observer.reportNotification(store: "google-play", type: nil, id: message.messageId)
        return message
      } catch {
        observer.reportRejection(
          store: "google-play", isRetryable: error.httpStatus == 503, error.description)
        throw error
      }
    }
  }

  extension ReceiptObserver {
    fileprivate func reportNotification(store: String, type: String?, id: String?) {
      let type = type ?? "unknown"
      count("store_notifications", [("store", store), ("result", "accepted"), ("type", type)])
      logger.debug(
        "A notification was accepted.",
        metadata: ["store": "\(store)", "type": "\(type)", "id": "\(id ?? "")"])
    }

    fileprivate func reportRejection(store: String, isRetryable: Bool, _ description: String) {
      let result = isRetryable ? "undetermined" : "refused"
      count("store_notifications", [("store", store), ("result", result), ("type", "unknown")])
      logger.warning(
        "A notification was not accepted.",
        metadata: ["store": "\(store)", "result": "\(result)", "error": "\(description)"])
    }
  }
#endif
