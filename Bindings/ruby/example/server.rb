# SPDX-License-Identifier: Apache-2.0
# frozen_string_literal: true

# usage: POLICY=policy.json PORT=8080 ruby example/server.rb
#
# Takes a receipt as the body of a POST, and answers whether it grants access. The server of a framework is better; `answer` is
# the same there.
require "json"
require "socket"
require_relative "../lib/receiptkit"

LONGEST = 4 << 20
VERIFIER = ReceiptKit::Verifier.new(File.read(ENV.fetch("POLICY")))

# The status, other headers, and the body.
def answer(receipt)
  verdict = VERIFIER.verify(receipt)
  # Genuine is not enough: a purchase may have expired, or may have been refunded.
  return ["200 OK", {}, { grantsAccess: verdict.grants_access? }] if verdict.valid?
  return ["200 OK", {}, { grantsAccess: false, reason: verdict.reason.code }] if verdict.invalid?

  # It could not be checked. That is neither valid nor invalid: the sender keeps the receipt.
  ["503 Service Unavailable", { "Retry-After" => "60" }, { grantsAccess: false, reason: verdict.reason.code }]
rescue ReceiptKit::Error => error
  warn error.full_message
  ["500 Internal Server Error", {}, { grantsAccess: false }]
end

def serve(connection)
  method, = connection.gets("\r\n", 8192).to_s.split
  headers = {}
  while headers.size < 100 && (line = connection.gets("\r\n", 8192)) && line != "\r\n"
    name, value = line.split(":", 2)
    headers[name.downcase] = value.to_s.strip
  end
  length = headers["content-length"].to_i
  status, others, body =
    if method != "POST" then ["405 Method Not Allowed", {}, { grantsAccess: false }]
    elsif !length.between?(0, LONGEST) then ["413 Content Too Large", {}, { grantsAccess: false }]
    else answer(connection.read(length).to_s)
    end
  body = JSON.generate(body)
  others = { "Content-Type" => "application/json", "Content-Length" => body.bytesize, "Connection" => "close" }.merge(others)
  connection.write("HTTP/1.1 #{status}\r\n", *others.map { |name, value| "#{name}: #{value}\r\n" }, "\r\n", body)
rescue SystemCallError, IOError
  # Its sender is gone.
ensure
  connection.close
end

$stdout.sync = true
server = TCPServer.new("127.0.0.1", ENV.fetch("PORT").to_i)
puts "ready at port #{server.addr[1]}"
loop { Thread.new(server.accept) { |connection| serve(connection) } }
