// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto
public import ReceiptHTTP

/// Fetches a list of product identifiers from a server, so that products can change without a new version of the app.
///
/// The file name contains the version of the format, such as `products_v2.json`. So an old app never receives a list
/// that it cannot read, and never uses the file of another version.
///
/// ```swift
/// let source = ProductIdentifierSource(
///   transport: transport, base: try RemoteURL("https://example.com/store"), formatVersion: 2,
///   cacheFile: URL(filePath: "/var/cache/kiosk/products.json"))
/// let result = try await source.load()
/// if case .stale(let reason) = result.freshness { print("The list may be old: \(reason)") }
/// ```
public struct ProductIdentifierSource: Sendable {
  package let url: RemoteURL

  private let cache: SmallFile?
  private let caller: RemoteCaller
  private let log: @Sendable (String) -> Void

  /// Creates a source.
  ///
  /// - Parameters:
  ///   - transport: Sends the requests.
  ///   - base: The base URL of the files.
  ///   - name: The name of the files, without version and extension.
  ///   - formatVersion: The version of the format that this version of the app reads.
  ///   - cacheFile: The file that caches the last valid list. Without it, no list is available while the server is
  ///     down. Each list needs its own file. The directory must exist.
  ///   - retry: The retry policy.
  ///   - time: The clocks.
  ///   - log: Receives warnings, one line each.
  public init(
    transport: any HTTPTransport, base: RemoteURL, name: String = "products", formatVersion: Int,
    cacheFile: URL? = nil, retry: RetryPolicy = RetryPolicy(), time: RemoteTime = .system,
    log: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    url = base.appending(pathSegments: ["\(name)_v\(formatVersion).json"])
    cache = cacheFile.map { SmallFile(path: $0.path) }
    caller = RemoteCaller(transport: transport, policy: retry, time: time)
    self.log = log
  }

  /// Fetches the list if it has changed, off the caller's thread.
  ///
  /// - Returns: The list. If the server does not send one, this is the last valid list, marked as stale.
  /// - Throws: ``ProductIdentifierError`` if there is no such list, or with `cancelled` if the task was cancelled.
  @concurrent
  public func load() async throws(ProductIdentifierError) -> ProductIdentifierResult {
    var notices: [ProductIdentifierError] = []
    let cached = readCache(&notices)
    let answer: Answer
    do throws(ProductIdentifierError) { answer = try await ask(cached) } catch {
      guard error.code != .cancelled, let cached else { throw error }
      log("The list of product identifiers may be old: \(error)")
      return ProductIdentifierResult(
        list: cached.list, freshness: .stale(error), confirmedAt: cached.file.confirmedAt, notices: notices)
    }
    guard let list = answer.list ?? cached?.list else { throw notAsked }
    if !list.duplicates.isEmpty, answer.list != nil {
      log("The list at \(url) has twice: \(list.duplicates.joined(separator: ", "))")
    }
    let now = caller.time.now()
    // Validators that a 304 response omits remain valid (RFC 9110 section 15.4.5).
    let known = answer.list == nil ? cached?.file : nil
    let file = CachedIdentifierList(
      url: url.description, etag: answer.etag ?? known?.etag,
      lastModified: answer.lastModified ?? known?.lastModified, confirmedAt: now, list: list)
    writeCache(file, &notices)
    return ProductIdentifierResult(
      list: list, freshness: answer.list == nil ? .notModified : .fresh, confirmedAt: now, notices: notices)
  }

  /// Fetches the list in the background and delivers it on the main actor (`fetchProductIdentifiersFromURL:delegate:`
  /// and `displayProducts:` of the guide).
  ///
  /// - Parameter deliver: Receives the list or the error.
  /// - Returns: The task. If it is cancelled, `deliver` receives the error `cancelled`.
  @discardableResult
  public func load(
    deliver: @escaping @MainActor @Sendable (Result<ProductIdentifierResult, ProductIdentifierError>) -> Void
  ) -> Task<Void, Never> {
    Task {
      do throws(ProductIdentifierError) {
        let result = try await load()
        await deliver(.success(result))
      } catch {
        await deliver(.failure(error))
      }
    }
  }

  // MARK: Cache

  private typealias Cached = (file: CachedIdentifierList, list: ProductIdentifierList)

  private func readCache(_ notices: inout [ProductIdentifierError]) -> Cached? {
    guard let cache, cache.exists else { return nil }
    do throws(ProductIdentifierError) {
      let bytes = try cache.read(limit: 2 * ProductIdentifierList.maximumByteCount)
      let file = try CachedIdentifierList(file: bytes)
      // A cache of another address is not damaged, but must not be used.
      guard file.url == url.description else { return nil }
      return (file: file, list: try ProductIdentifierList(file.identifiers))
    } catch {
      // The file is not removed, because it may not be a cache. A valid list replaces it.
      notice(error.inside(cache.path), "The cache of product identifiers is damaged and not used", &notices)
      return nil
    }
  }

  private func writeCache(_ file: CachedIdentifierList, _ notices: inout [ProductIdentifierError]) {
    guard let cache else { return }
    do throws(ProductIdentifierError) { try cache.replace(with: file.encodedFile) } catch {
      notice(error.inside(cache.path), "The cache of product identifiers could not be kept", &notices)
    }
  }

  private func notice(
    _ error: ProductIdentifierError, _ what: String, _ notices: inout [ProductIdentifierError]
  ) {
    notices.append(error)
    log("\(what): \(error)")
  }

  // MARK: Server

  /// The list, which is `nil` if it has not changed, and its validators.
  private typealias Answer = (list: ProductIdentifierList?, etag: String?, lastModified: String?)

  private func ask(_ cached: Cached?) async throws(ProductIdentifierError) -> Answer {
    var headers = [HTTPHeader("Accept", "application/json"), UserAgent.header]
    if let etag = cached?.file.etag { headers.append(HTTPHeader("If-None-Match", etag)) }
    if let date = cached?.file.lastModified { headers.append(HTTPHeader("If-Modified-Since", date)) }
    let request = RemoteRequest(
      .get, url, headers: headers, maximumResponseByteCount: ProductIdentifierList.maximumByteCount)
    do {
      let answer = try await caller.send(isIdempotent: true, { request }, classify: classify)
      if answer.list == nil, cached?.file.isConditional != true { throw notAsked }
      return answer
    } catch {
      throw self.error(error)
    }
  }

  private func failure(_ code: ProductIdentifierError.Code, _ message: String) -> ProductIdentifierError {
    ProductIdentifierError(code, at: url.description, message)
  }

  private var notAsked: ProductIdentifierError {
    failure(.invalidResponse, "The server says that nothing has changed (304), which it was not asked.")
  }

  private func classify(_ response: RemoteResponse) -> RemoteCaller.Outcome<Answer> {
    func answer(_ list: ProductIdentifierList?) -> Answer {
      (list: list, etag: response.header("ETag"), lastModified: response.header("Last-Modified"))
    }
    switch response.status {
    case 200:
      do throws(ProductIdentifierError) {
        return .done(answer(try ProductIdentifierList(json: response.body)))
      } catch {
        return .failed(error.inside(url.description))
      }
    case 304: return .done(answer(nil))
    case 404, 410: return .failed(failure(.notFound, "The server has no such file (\(response.status))."))
    case _ where response.isTemporaryFailure:
      return .retry(
        failure(.unavailable, "The server cannot answer now (\(response.status))."),
        notBefore: response.retryAfter(now: caller.time.now()), isProcessed: true)
    default: return .failed(failure(.refused, "The server refuses (\(response.status))."))
    }
  }

  private func error(_ error: any Error) -> ProductIdentifierError {
    guard let cause = error as? RemoteCaller.Failure else {
      // The only other error is cancellation.
      return error as? ProductIdentifierError ?? failure(.cancelled, "The task was cancelled.")
    }
    let code: ProductIdentifierError.Code =
      switch cause {
      case .transport(let error) where error.code == .tooLarge: .tooLarge
      case .transport, .deadlineExceeded: .unavailable
      case .redirected: .refused
      case .cancelled: .cancelled
      }
    return failure(code, cause.description)
  }
}

extension CachedIdentifierList {
  static let currentFormat = "receiptkit-product-identifiers"
  static let currentVersion: Int64 = 1

  init(
    url: String, etag: String?, lastModified: String?, confirmedAt: Timestamp, list: ProductIdentifierList
  ) {
    self.init(
      url: url, etag: etag.flatMap(Self.usable), lastModified: lastModified.flatMap(Self.usable),
      confirmedAt: confirmedAt, identifiers: list.identifiers + list.duplicates)
  }

  /// Reads a file. It is refused if its checksum is wrong.
  init(file: [UInt8]) throws(ProductIdentifierError) {
    do throws(MalformedReceipt) {
      try self.init(json: file, part: "cache", limits: .standard, isStrict: true)
    } catch {
      throw ProductIdentifierError(error)
    }
    guard format == Self.currentFormat, version == Self.currentVersion, sha256 == checksum,
      etag == etag.flatMap(Self.usable), lastModified == lastModified.flatMap(Self.usable)
    else { throw ProductIdentifierError(.malformed, at: "$.sha256", "The cache is not as it was written.") }
  }

  var encodedFile: [UInt8] {
    var copy = self
    copy.sha256 = checksum
    return copy.encodedJSON()
  }

  var isConditional: Bool { etag != nil || lastModified != nil }

  private var checksum: String {
    var copy = self
    copy.sha256 = nil
    return Hexadecimal.encode(Digest.hash(copy.encodedJSON(), using: .sha256))
  }

  /// Returns a header value if it can be sent back safely: printable ASCII.
  private static func usable(_ value: String) -> String? {
    1...1024 ~= value.utf8.count && value.utf8.allSatisfy { 0x20..<0x7F ~= $0 } ? value : nil
  }
}
