#if Server
  struct LineSplitter {
    let maximumLineLength: Int
    private var partial: [UInt8] = []
    init(maximumLineLength: Int) { self.maximumLineLength = maximumLineLength }
    mutating func split(_ piece: [UInt8]) -> [[UInt8]] {
      var lines: [[UInt8]] = []
      var start = piece.startIndex
      while let end = piece[start...].firstIndex(of: UInt8(ascii: "\n")) {
        append(piece[start..<end])
        lines.append(partial)
        partial = []
        start = end + 1
      }
      append(piece[start...])
      return lines
    }
    mutating func finish() -> [[UInt8]] {
      defer { partial = [] }
      return partial.isEmpty ? [] : [partial]
    }
    private mutating func append(_ bytes: ArraySlice<UInt8>) {
      partial += bytes.prefix(maximumLineLength + 1 - partial.count)
    }
  }
#endif
