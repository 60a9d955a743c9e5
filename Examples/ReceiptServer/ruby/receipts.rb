# SPDX-License-Identifier: Apache-2.0
#
# usage: KEY=rk_… ruby receipts.rb verify URL RECEIPT-FILE
#        KEY=rk_… ruby receipts.rb entitlements URL CUSTOMER
#        WEBHOOK_SECRET=whsec_… ruby receipts.rb webhook PORT
#
# Verifies a receipt, asks what a customer may use, and takes webhooks, with the standard library of Ruby alone. Exit code: 1
# refused, 75 not decided now: keep the receipt, and grant nothing.
require "erb"
require "json"
require "net/http"
require "openssl"
require "set"
require "socket"

class Undecided < StandardError; end

# The answer of the server; asks again where that may help. Net::HTTP follows no redirect, so that the key goes to no other
# server.
def ask(url, body = nil)
  uri = URI(url)
  request = body ? Net::HTTP::Post.new(uri) : Net::HTTP::Get.new(uri)
  request["Authorization"] = "Bearer #{ENV.fetch("KEY")}"
  request["Content-Type"] = "application/octet-stream" if body
  request.body = body
  [1, 2, nil].each do |pause|
    begin
      options = { use_ssl: uri.scheme == "https", open_timeout: 10, read_timeout: 10, max_retries: 0 }
      answer = Net::HTTP.start(uri.host, uri.port, **options) { |http| http.request(request) }
      status = answer.code.to_i
      raise EOFError if answer.body.to_s.bytesize < answer["Content-Length"].to_i
      return JSON.parse(answer.body) if status == 200
      raise "#{status} #{answer.body.to_s[0, 10_000]}" if status != 429 && status < 500
      pause = [pause, answer["Retry-After"].to_i].max if pause
    rescue SystemCallError, SocketError, IOError, Timeout::Error, Net::ProtocolError, Net::HTTPBadResponse, OpenSSL::SSL::SSLError, JSON::ParserError
      # no answer, or one that ended early
    end
    raise Undecided, "no answer" unless pause
    sleep pause
  end
end

def verify(url, file)
  receipt = File.binread(file)
  [1, 2, 0].each do |pause|
    verdict = ask("#{url}/v1/verify", receipt)
    case verdict["verdict"]
    when "valid"
      # Genuine is not enough: a purchase may have expired, or may have been refunded.
      verdict.fetch("transactions", []).each do |purchase|
        puts "grant #{purchase["productId"]} × #{purchase["remainingQuantity"]}" if purchase["grantsAccess"] == true
      end
      return 0
    when "invalid"
      puts "refuse: #{verdict.dig("reason", "code")}"
      return 1
    end
    # It could not be checked. That is neither valid nor invalid.
    break unless verdict["retryable"] == true
    sleep pause
  end
  raise Undecided, "keep the receipt"
end

def entitlements(url, customer)
  answer = ask("#{url}/v1/customers/#{ERB::Util.url_encode(customer)}/entitlements")
  answer.fetch("access", []).each { |access| puts "#{access["name"]} #{access["grantsAccess"] ? "yes" : "no"}" }
  0
end

# Whether the signature of a webhook is right (https://www.standardwebhooks.com), and not old.
def signed?(body, headers)
  id, sent, signatures = %w[id timestamp signature].map { |name| headers["webhook-#{name}"].to_s }
  return false unless sent.match?(/\A[0-9]{1,12}\z/) && (Time.now.to_i - sent.to_i).abs <= 300
  key = ENV.fetch("WEBHOOK_SECRET").delete_prefix("whsec_").unpack1("m0")
  expected = "v1," + [OpenSSL::HMAC.digest("SHA256", key, "#{id}.#{sent}.".b + body)].pack("m0")
  signatures.split.any? { |signature| OpenSSL.secure_compare(signature, expected) }
end

# The server of a framework is better; this one answers one request at a time.
def webhook(port)
  taken = Set.new # in a database, in the commit that does the work
  server = TCPServer.new("127.0.0.1", port.to_i)
  puts "ready at port #{port}"
  loop do
    connection = server.accept
    begin
      connection.timeout = 10 if connection.respond_to?(:timeout=)
      connection.gets("\r\n", 8192)
      headers = {}
      while headers.size < 100 && (line = connection.gets("\r\n", 8192)) && line != "\r\n"
        name, value = line.split(":", 2)
        headers[name.downcase] = value.to_s.strip
      end
      length = headers["content-length"].to_i
      body = length <= 1 << 20 ? connection.read(length).to_s : ""
      status = "400 Bad Request"
      if signed?(body, headers)
        # The same change may come again: its identifier stays.
        if taken.add?(headers["webhook-id"])
          change = JSON.parse(body)
          puts "#{change["type"]} #{change.dig("data", "customer")}"
        end
        status = "204 No Content"
      end
      connection.write("HTTP/1.1 #{status}\r\nConnection: close\r\n\r\n")
    rescue SystemCallError, IOError
      # Its sender is gone.
    ensure
      connection.close
    end
  end
end

$stdout.sync = true
command, *values = ARGV
unless %w[verify entitlements webhook].include?(command) && !values.empty?
  warn "usage: receipts.rb verify URL RECEIPT-FILE | entitlements URL CUSTOMER | webhook PORT"
  exit 64
end
begin
  exit send(command, *values)
rescue Undecided => error
  puts "undecided: #{error.message}"
  exit 75
rescue RuntimeError => error
  puts "failed: #{error.message}"
  exit 1
end
