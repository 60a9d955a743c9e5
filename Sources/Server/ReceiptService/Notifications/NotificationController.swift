// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird
  internal import Logging
  internal import Synchronization

  /// Receives the stores' notifications.
  struct NotificationController {
    let intake: NotificationIntake
    let apps: ServedApps
    let bodies: BodyReader
    /// The limit for log lines that unauthenticated clients can cause.
    let noise = NoiseLimit()

    var routes: [Route] { [.receiveNotification(receive)] }

    private func receive(_ request: Request, _ context: ServiceContext) async throws -> Response {
      guard let app = apps[try context.pathParameter("app")] else { throw Problem.notFound }
      let authorization = request.headers[values: .authorization]
      let answer = await intake.receive(
        app: app.configuration, authorization: authorization.count == 1 ? authorization[0] : nil,
        contentType: request.headers[.contentType], body: try await bodies.content(of: request))
      // Anybody can send notifications that are refused.
      let isRefused = 400..<500 ~= answer.status
      if let leftOut = isRefused ? noise.leftOutCount() : 0 {
        var metadata: Logger.Metadata = [
          "app": "\(app.name)", "outcome": "\(answer.outcome.rawValue)", "id": "\(answer.id ?? "")",
          "event": "\(answer.event ?? "")", "reason": "\(answer.message ?? "")",
        ]
        if leftOut > 0 { metadata["left-out"] = "\(leftOut)" }
        context.logger.log(
          level: answer.status < 300 ? .info : .warning, "A notification was delivered.", metadata: metadata)
      }
      switch answer.status {
      case 200..<300: return Response(status: .init(code: answer.status))
      case 401:
        throw Problem(.unauthorized, "unauthorized", "The token of the push is not accepted.")
      case 404: throw Problem.notFound
      case 503:
        throw Problem.unavailable("The notification could not be checked or recorded. Deliver it again.")
      default:
        throw Problem(
          .init(code: answer.status), "refused", "The notification is not genuine, or not of this app.")
      }
    }
  }

  /// A rate limit for log lines that unauthenticated clients can cause: a burst of 20 lines, then one a second.
  ///
  /// The next line that is written states the number of omitted lines. Such clients can therefore neither fill the log
  /// nor hide in it.
  final class NoiseLimit: Sendable {
    private struct State {
      var room: Double
      var refilled: ContinuousClock.Instant
      var leftOutCount = 0
    }

    private static let burst = 20.0
    private let state: Mutex<State>

    init(at now: ContinuousClock.Instant = .now) {
      state = Mutex(State(room: Self.burst, refilled: now))
    }

    /// The number of lines omitted before this one; `nil` if this one is to be omitted, too.
    func leftOutCount(at now: ContinuousClock.Instant = .now) -> Int? {
      state.withLock { state in
        state.room = min(Self.burst, state.room + (now - state.refilled) / .seconds(1))
        state.refilled = now
        guard state.room >= 1 else {
          state.leftOutCount += 1
          return nil
        }
        state.room -= 1
        defer { state.leftOutCount = 0 }
        return state.leftOutCount
      }
    }
  }
#endif
