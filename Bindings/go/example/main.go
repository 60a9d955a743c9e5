// SPDX-License-Identifier: Apache-2.0

// usage: POLICY=policy.json PORT=8080 go run ./example
//
// Takes a receipt as the body of a POST, and answers whether it grants access.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"receiptkit.dev/go/receiptkit"
)

func handler(verifier *receiptkit.Verifier) http.HandlerFunc {
	return func(response http.ResponseWriter, request *http.Request) {
		if request.Method != http.MethodPost {
			answer(response, http.StatusMethodNotAllowed, map[string]any{"grantsAccess": false})
			return
		}
		receipt, err := io.ReadAll(http.MaxBytesReader(response, request.Body, 4<<20))
		if err != nil {
			answer(response, http.StatusRequestEntityTooLarge, map[string]any{"grantsAccess": false})
			return
		}
		verdict, err := verifier.Verify(receipt)
		switch {
		case err != nil:
			log.Print(err)
			answer(response, http.StatusInternalServerError, map[string]any{"grantsAccess": false})
		case verdict.IsValid():
			// Genuine is not enough: a purchase may have expired, or may have been refunded.
			answer(response, http.StatusOK, map[string]any{"grantsAccess": verdict.GrantsAccess})
		case verdict.Verdict == receiptkit.Invalid:
			answer(response, http.StatusOK, map[string]any{"grantsAccess": false, "reason": verdict.Reason.Code})
		default:
			// It could not be checked. That is neither valid nor invalid: the sender keeps the receipt.
			response.Header().Set("Retry-After", "60")
			answer(response, http.StatusServiceUnavailable, map[string]any{"grantsAccess": false, "reason": verdict.Reason.Code})
		}
	}
}

func answer(response http.ResponseWriter, status int, body map[string]any) {
	response.Header().Set("Content-Type", "application/json")
	response.WriteHeader(status)
	json.NewEncoder(response).Encode(body)
}

func main() {
	policy, err := os.ReadFile(os.Getenv("POLICY"))
	if err != nil {
		log.Fatal(err)
	}
	verifier, err := receiptkit.NewVerifier(policy)
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("ready at", listener.Addr())
	server := &http.Server{Handler: handler(verifier), ReadTimeout: 10 * time.Second}
	log.Fatal(server.Serve(listener))
}
