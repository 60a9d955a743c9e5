// SPDX-License-Identifier: Apache-2.0

// usage: KEY=rk_… go run receipts.go verify URL RECEIPT-FILE
//
//	KEY=rk_… go run receipts.go entitlements URL CUSTOMER
//	WEBHOOK_SECRET=whsec_… go run receipts.go webhook PORT
//
// Verifies a receipt, asks what a customer may use, and takes webhooks, with the standard library alone. Exit code: 1
// refused, 75 not decided now: keep the receipt, and grant nothing.
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

var errUndecided = errors.New("undecided: keep the receipt")

var client = &http.Client{
	Timeout: 10 * time.Second,
	// The key must go to no other server.
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

type verdict struct {
	Verdict   string
	Retryable bool
	Reason    struct{ Code string }
	Purchases []struct {
		ProductID         string `json:"productId"`
		GrantsAccess      bool   `json:"grantsAccess"`
		RemainingQuantity int64  `json:"remainingQuantity"`
	} `json:"transactions"`
}

// ask reads the answer of the server, and asks again where that may help.
func ask(address string, body []byte, answer any) error {
	for attempt := 1; ; attempt++ {
		pause := time.Duration(attempt) * time.Second
		content, status, retryAfter, err := once(address, body)
		switch {
		case err == nil && status == 200:
			if json.Unmarshal(content, answer) == nil {
				return nil
			}
			return fmt.Errorf("failed: the answer is no JSON")
		case err == nil && status != 429 && status < 500:
			return fmt.Errorf("failed: %d %s", status, content)
		case attempt == 3:
			return errUndecided
		}
		if retryAfter > pause {
			pause = retryAfter
		}
		time.Sleep(pause)
	}
}

func once(address string, body []byte) (content []byte, status int, retryAfter time.Duration, err error) {
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	request, err := http.NewRequest(method, address, bytes.NewReader(body))
	if err != nil {
		return nil, 0, 0, err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("KEY"))
	if body != nil {
		request.Header.Set("Content-Type", "application/octet-stream")
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, 0, 0, err
	}
	defer response.Body.Close()
	content, err = io.ReadAll(io.LimitReader(response.Body, 8<<20))
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	return content, response.StatusCode, time.Duration(seconds) * time.Second, err
}

func verify(server, file string) error {
	receipt, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for _, pause := range []time.Duration{1, 2, 0} {
		var found verdict
		if err := ask(server+"/v1/verify", receipt, &found); err != nil {
			return err
		}
		switch found.Verdict {
		case "valid":
			// Genuine is not enough: a purchase may have expired, or may have been refunded.
			for _, purchase := range found.Purchases {
				if purchase.GrantsAccess {
					fmt.Printf("grant %s × %d\n", purchase.ProductID, purchase.RemainingQuantity)
				}
			}
			return nil
		case "invalid":
			return fmt.Errorf("refuse: %s", found.Reason.Code)
		}
		// It could not be checked. That is neither valid nor invalid.
		if !found.Retryable {
			break
		}
		time.Sleep(pause * time.Second)
	}
	return errUndecided
}

func entitlements(server, customer string) error {
	var answer struct {
		Access []struct {
			Name         string
			GrantsAccess bool
		}
	}
	if err := ask(server+"/v1/customers/"+url.PathEscape(customer)+"/entitlements", nil, &answer); err != nil {
		return err
	}
	for _, access := range answer.Access {
		fmt.Println(access.Name, map[bool]string{true: "yes", false: "no"}[access.GrantsAccess])
	}
	return nil
}

// isSigned tells whether the signature of a webhook is right (https://www.standardwebhooks.com), and not old.
func isSigned(body []byte, header http.Header) bool {
	sent, err := strconv.ParseInt(header.Get("webhook-timestamp"), 10, 64)
	if err != nil || time.Since(time.Unix(sent, 0)).Abs() > 5*time.Minute {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("WEBHOOK_SECRET"), "whsec_"))
	if err != nil {
		return false
	}
	code := hmac.New(sha256.New, key)
	fmt.Fprintf(code, "%s.%s.%s", header.Get("webhook-id"), header.Get("webhook-timestamp"), body)
	expected := "v1," + base64.StdEncoding.EncodeToString(code.Sum(nil))
	for _, signature := range strings.Fields(header.Get("webhook-signature")) {
		if hmac.Equal([]byte(signature), []byte(expected)) {
			return true
		}
	}
	return false
}

func webhook(port string) error {
	var lock sync.Mutex
	taken := map[string]bool{} // in a database, in the commit that does the work
	handler := http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, 1<<20))
		var change struct {
			Type string
			Data struct{ Customer string }
		}
		if err != nil || !isSigned(body, request.Header) || json.Unmarshal(body, &change) != nil {
			response.WriteHeader(http.StatusBadRequest)
			return
		}
		lock.Lock()
		defer lock.Unlock()
		// The same change may come again: its identifier stays.
		if id := request.Header.Get("webhook-id"); !taken[id] {
			fmt.Println(change.Type, change.Data.Customer)
			taken[id] = true
		}
		response.WriteHeader(http.StatusNoContent)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		return err
	}
	fmt.Println("ready at port", port)
	server := &http.Server{Handler: handler, ReadTimeout: 10 * time.Second}
	return server.Serve(listener)
}

func main() {
	arguments := append(os.Args[1:], "", "", "")
	var err error
	switch command := arguments[0]; {
	case command == "verify" && arguments[2] != "":
		err = verify(arguments[1], arguments[2])
	case command == "entitlements" && arguments[2] != "":
		err = entitlements(arguments[1], arguments[2])
	case command == "webhook" && arguments[1] != "":
		err = webhook(arguments[1])
	default:
		fmt.Fprintln(os.Stderr, "usage: receipts verify URL RECEIPT-FILE | entitlements URL CUSTOMER | webhook PORT")
		os.Exit(64)
	}
	if err != nil {
		fmt.Println(err)
		if errors.Is(err, errUndecided) {
			os.Exit(75)
		}
		os.Exit(1)
	}
}
