# SPDX-License-Identifier: Apache-2.0
# frozen_string_literal: true

module ReceiptKit
  # A receipt that was signed; that of an app in base64.
  SignedReceipt = Struct.new(:format, :signed_date, :receipt)

  # Signs receipts with a private key and its certificates, for tests.
  class Signer < Handle
    # An identity is a hash or its JSON: `{ privateKey: PEM, certificates: […] }`.
    def initialize(identity) = super(:signer_create, identity)

    # Signs a receipt of a format, such as `signed-transaction`. The receipt is a hash or its JSON, as `receipt-tool sign` reads
    # it. With `base64` a transaction receipt is returned in base64, and with `pss` a purchase of Huawei is signed with
    # RSASSA-PSS.
    def sign(format, receipt, base64: false, pss: false)
      if receipt.is_a?(String)
        begin
          receipt = JSON.parse(receipt)
        rescue JSON::ParserError
          raise Error.new("The receipt is no JSON.", code: "usage", status: Library::USAGE, place: "$.receipt")
        end
      end
      request = Library.document({ format: format, receipt: receipt, base64: base64, pss: pss })
      status, text = @library.call(:sign, handle, request, request.bytesize)
      raise failure(status, text) unless status == Library::VALID

      signed = Library.members(text)
      SignedReceipt.new(signed["format"], signed["signedDate"], signed["receipt"]).freeze
    end
  end
end
