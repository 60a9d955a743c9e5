// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Hummingbird

  /// The part of a list that a page of the console shows.
  ///
  /// The cost of a page does not depend on the length of the list.
  struct ListPage<Element> {
    /// The elements that are shown.
    let elements: [Element]
    /// The index of the first shown element in the list.
    let start: Int
    /// The footer below the elements; `nil` if the list fits on one page.
    let footer: ListFooter?

    /// - Parameters:
    ///   - list: The whole list.
    ///   - start: The index of the first element to show; if it is beyond the end, the last page is shown.
    ///   - limit: The maximum number of elements on a page.
    ///   - address: Returns the URL of the page that begins at an index.
    init(_ list: [Element], from start: Int, limit: Int, address: (Int) -> String) {
      let lastStart = max(0, (list.count - 1) / limit * limit)
      let start = min(max(0, start), lastStart)
      let end = min(start + limit, list.count)
      self.start = start
      elements = Array(list[start..<end])
      footer =
        list.count <= limit
        ? nil
        : ListFooter(
          footerText: "\(start + 1) to \(end) of \(list.count)",
          previousTarget: start == 0 ? nil : address(max(0, start - limit)),
          nextTarget: end == list.count ? nil : address(end))
    }
  }

  /// The position of a page in a list, with links to the previous and the next page.
  struct ListFooter {
    let footerText: String
    let previousTarget: String?
    let nextTarget: String?
  }

  extension ConsoleVisit {
    /// The part of a list that the query asks for.
    ///
    /// - Parameters:
    ///   - list: The whole list.
    ///   - name: The query parameter with the index of the first element.
    ///   - limit: The maximum number of elements on a page.
    /// - Returns: The part, with links that keep the other query parameters.
    /// - Throws: ``Problem`` if the parameter is not a number.
    func page<Element>(of list: [Element], _ name: String = "from", limit: Int = 100) throws -> ListPage<
      Element
    > {
      let start = try request.integerParameter(name, 0...Int64(Int32.max), default: 0)
      let others = request.uri.queryParameters.filter { $0.key != name[...] }.map {
        (String($0.key), Optional(String($0.value)))
      }
      return ListPage(list, from: Int(start), limit: limit) { start in
        ConsoleURL.make(request.uri.path, others + [(name, "\(start)")])
      }
    }
  }
#endif
