// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import StorefrontSQLite

struct StoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store", abstract: "Sell from a store of your own: buy, finish, restore, refund, renew.",
    discussion: """
      A store is a folder with its products (products.json or products.storekit),
      its identity (root.cer, chain.pem, key.pem), its records (store.sqlite), and
      the payment queue of each customer (queue-NAME.sqlite). Its receipts are valid
      for: receipt-tool verify --trust DIR/root.cer

      EXAMPLES:
        # sells some samples
        receipt-tool store init --store shop
        receipt-tool store init --store shop --catalog Products.storekit \\
          --bundle com.example.app
        receipt-tool store products --store shop
        receipt-tool store buy --store shop com.example.pro -o pro.jws
        receipt-tool verify --trust shop/root.cer pro.jws
        receipt-tool store pending --store shop
        receipt-tool store finish --store shop --all
        receipt-tool store restore --store shop
        receipt-tool store subscription --store shop
        receipt-tool store notifications --store shop --json

      EXIT CODES:
        0 done; 1 refused, or not sold; 2 waiting for an approval; 64 wrong command
        line; 66 no such store or an unusable file; 73 something is there already;
        74 it could not be stored, or the output not written.
      """,
    subcommands: [
      StoreInitCommand.self, StoreProductsCommand.self, StoreBuyCommand.self, StorePendingCommand.self,
      StoreApproveCommand.self, StoreDeclineCommand.self, StoreFinishCommand.self, StoreRestoreCommand.self,
      StorePurchasesCommand.self, StoreRefundCommand.self, StoreSubscriptionCommand.self,
      StoreRenewCommand.self,
      StoreAdvanceCommand.self, StoreNotificationsCommand.self, StoreControlCommand.self,
    ])
}

struct StoreFolderOptions: ParsableArguments {
  @Option("store", "The store's folder.", value: "DIR") var directory: String

  var folder: StoreFolder { StoreFolder(directory) }
}

struct StoreOptions: ParsableArguments {
  @OptionGroup var store: StoreFolderOptions

  @Option(
    "account", "The signed-in customer: letters, digits, dots, hyphens and underscores. Default: customer.",
    value: "NAME")
  var namedAccount: String?

  var account: String { namedAccount ?? "customer" }
  var directory: String { store.directory }
  var folder: StoreFolder { store.folder }

  func validate() throws {
    let isAllowed = account.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
    guard isAllowed, 1...64 ~= account.utf8.count else {
      throw ValidationError("--account takes 1 to 64 letters, digits, dots, hyphens and underscores.")
    }
  }
}
