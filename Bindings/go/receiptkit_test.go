// SPDX-License-Identifier: Apache-2.0

package receiptkit

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
)

const vectors = "../../TestVectors/"

func read(t testing.TB, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// policy accepts the vectors, at an instant at which their subscription is active.
func policy(t testing.TB) map[string]any {
	return map[string]any{
		"bundleIds": []string{"com.example.app"}, "environments": []string{"production", "sandbox"},
		"trust": []string{string(read(t, vectors+"certificates/es256-root.pem"))}, "time": "2025-10-15T00:00:00Z",
	}
}

func verifier(t testing.TB) *Verifier {
	t.Helper()
	created, err := NewVerifier(policy(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { created.Close() })
	return created
}

func valid(t testing.TB) []byte { return read(t, vectors+"signed-transaction/valid.jws") }

func TestAValidReceipt(t *testing.T) {
	verdict, err := verifier(t).Verify(valid(t))
	if err != nil {
		t.Fatal(err)
	}
	if !verdict.IsValid() || !verdict.GrantsAccess || verdict.Standing != "active" || verdict.Reason != nil || verdict.BundleID != "com.example.app" {
		t.Fatalf("%s", verdict.JSON)
	}
	if purchase := verdict.Transactions[0]; purchase.TransactionID != "2000000001" || !purchase.GrantsAccess || purchase.RemainingQuantity != 1 {
		t.Fatalf("%+v", purchase)
	}
	if signed, err := verdict.SignedDate.Time(); err != nil || signed.Unix() != 1759302552 {
		t.Fatal(signed, err)
	}
}

func TestWhatIsNotValidGrantsNothing(t *testing.T) {
	if (&Verdict{}).IsValid() || (*Verdict)(nil).IsValid() {
		t.Fatal("a verdict that was never given is valid")
	}
	undetermined := read(t, vectors+"google-play-purchase/key-missing.json")
	for word, receipts := range map[string][][]byte{
		Invalid:      {nil, {}, {0}, []byte("\xff\xfe"), make([]byte, 17<<20), append(valid(t), 'A')},
		Undetermined: {undetermined},
	} {
		for _, receipt := range receipts {
			verdict, err := verifier(t).Verify(receipt)
			if err != nil {
				t.Fatal(err)
			}
			if verdict.Verdict != word || verdict.IsValid() || verdict.GrantsAccess || verdict.Reason.Code == "" {
				t.Fatalf("%s", verdict.JSON)
			}
		}
	}
}

func TestAVerdictContradictsNoStatus(t *testing.T) {
	for text, status := range map[string]int{
		`{"verdict":"invalid"}`: 0, `{"verdict":"valid"}`: 1, `{"verdict":"undetermined"}`: 1, `{"verdict":""}`: 3, `{}`: 0, `[]`: 0, `null`: 0, ``: 0,
	} {
		if verdict, err := newVerdict([]byte(text), status); verdict != nil || err == nil {
			t.Errorf("%s with the status %d", text, status)
		}
	}
	if verdict, err := newVerdict([]byte(`{"verdict":"undetermined","grantsAccess":true}`), StatusUndetermined); err != nil || verdict.GrantsAccess {
		t.Fatal(verdict, err)
	}
}

func TestManyReceipts(t *testing.T) {
	receipts := [][]byte{valid(t), nil, []byte("x"), valid(t), {}}
	verdicts, err := verifier(t).VerifyMany(receipts)
	if err != nil || len(verdicts) != 5 {
		t.Fatal(verdicts, err)
	}
	for index, isValid := range []bool{true, false, false, true, false} {
		if verdicts[index].IsValid() != isValid {
			t.Fatalf("%d: %s", index, verdicts[index].JSON)
		}
	}
	for _, none := range [][][]byte{nil, {}} {
		if verdicts, err := verifier(t).VerifyMany(none); err != nil || len(verdicts) != 0 {
			t.Fatal(verdicts, err)
		}
	}
}

func TestThePayload(t *testing.T) {
	payload, err := verifier(t).Payload(valid(t))
	var content struct{ TransactionID string }
	if err != nil || json.Unmarshal(payload, &content) != nil || content.TransactionID != "2000000001" {
		t.Fatalf("%s %v", payload, err)
	}
	payload, err = verifier(t).Payload([]byte("x"))
	var refusal *NotValidError
	if payload != nil || !errors.As(err, &refusal) || refusal.Verdict.Verdict != Invalid {
		t.Fatalf("%s %v", payload, err)
	}
}

func TestAWrongPolicyIsAnError(t *testing.T) {
	for code, wrong := range map[string]any{
		"unexpected": map[string]any{"bundleIds": []string{"a"}, "bundleIDs": []string{"a"}}, "truncated": "{",
		"malformed-certificate": `{"bundleIds":["a"],"trust":["x"]}`, "usage": map[string]any{"bundleIds": make(chan int)},
	} {
		created, err := NewVerifier(wrong)
		var found *Error
		if created != nil || !errors.As(err, &found) || found.Code != code || found.Message == "" || found.Status < StatusUsage {
			t.Fatalf("%s: %v", code, err)
		}
	}
	for _, wrong := range []any{nil, "", "null", []byte(nil), "\xff", "{\"bundleIds\":[\"\xff\"]}", map[string]any{}} {
		if created, err := NewVerifier(wrong); created != nil || err == nil {
			t.Fatalf("%q is a policy", wrong)
		}
	}
}

func TestAClosedVerifier(t *testing.T) {
	closed := verifier(t)
	closed.Close()
	closed.Close()
	for _, each := range []*Verifier{closed, {}, nil} {
		if verdict, err := each.Verify(valid(t)); verdict.IsValid() || !IsClosed(err) {
			t.Fatal(verdict, err)
		}
		if _, err := each.VerifyMany(nil); !IsClosed(err) {
			t.Fatal(err)
		}
		if _, err := each.Payload(nil); !IsClosed(err) {
			t.Fatal(err)
		}
	}
	if _, err := (*Signer)(nil).Sign("signed-transaction", "{}", SignOptions{}); !IsClosed(err) {
		t.Fatal(err)
	}
}

func TestTheGarbageCollectorWhileCallsRun(t *testing.T) {
	var group sync.WaitGroup
	stop := make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	receipt, document := valid(t), policy(t)
	for range make([]struct{}, 8) {
		group.Add(1)
		go func() {
			defer group.Done()
			for range make([]struct{}, 40) {
				created, err := NewVerifier(document)
				if err != nil {
					t.Error(err)
					return
				}
				// Nothing refers to the verifier or the receipt while the call runs.
				verdict, err := created.Verify(append([]byte{}, receipt...))
				if err != nil || !verdict.IsValid() {
					t.Error(verdict, err)
				}
			}
		}()
	}
	group.Wait()
	close(stop)
}

func TestClosingWhileOthersVerify(t *testing.T) {
	shared, receipt := verifier(t), valid(t)
	var group sync.WaitGroup
	for range make([]struct{}, 16) {
		group.Add(1)
		go func() {
			defer group.Done()
			for count := 0; count < 1_000_000; count++ {
				verdict, err := shared.Verify(receipt)
				if IsClosed(err) {
					return
				}
				if err != nil || !verdict.IsValid() {
					t.Error(verdict, err)
					return
				}
				if count == 20 {
					shared.Close()
				}
			}
		}()
	}
	group.Wait()
}

func TestNothingIsKeptOfACall(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	resident := func() int {
		fields := strings.Fields(string(read(t, "/proc/self/statm")))
		var pages int
		json.Unmarshal([]byte(fields[1]), &pages)
		return pages * os.Getpagesize()
	}
	shared, receipt := verifier(t), valid(t)
	// What is in it is as long.
	content, _ := json.Marshal(map[string]string{"packageName": strings.Repeat("x", 1_000_000)})
	large, _ := json.Marshal(map[string]string{"data": string(content), "signature": "AAAA"})
	run := func() {
		for range make([]struct{}, 100) {
			if _, err := InspectUnverified(large, false); err != nil {
				t.Fatal(err)
			}
			shared.Verify(receipt)
			InspectUnverified(receipt, true)
			NewVerifier("{")
		}
		runtime.GC()
	}
	run()
	before := resident()
	run()
	if grown := resident() - before; grown > 48<<20 {
		t.Fatalf("%d bytes more", grown)
	}
}

func TestInspection(t *testing.T) {
	content, err := InspectUnverified(valid(t), false)
	if err != nil || !bytes.Contains(content, []byte(`"verified":false`)) || !bytes.Contains(content, []byte("7e3fb204")) {
		t.Fatalf("%s %v", content, err)
	}
	content, err = InspectUnverified(valid(t), true)
	if err != nil || bytes.Contains(content, []byte("7e3fb204")) {
		t.Fatalf("%s %v", content, err)
	}
	var found *Error
	if _, err := InspectUnverified(nil, false); !errors.As(err, &found) || found.Status != StatusInvalid {
		t.Fatal(err)
	}
}

func TestASignedReceiptIsValid(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	private, _ := x509.MarshalPKCS8PrivateKey(key)
	public, _ := x509.MarshalPKIXPublicKey(&key.PublicKey)
	signer, err := NewSigner(map[string]any{"privateKey": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))})
	if err != nil {
		t.Fatal(err)
	}
	defer signer.Close()
	signed, err := signer.Sign("google-play-purchase", map[string]any{
		"orderId": "GPA.1", "packageName": "com.example.app", "productId": "gems", "purchaseTime": 1759302550000, "purchaseState": 0, "purchaseToken": "t",
	}, SignOptions{})
	if err != nil {
		t.Fatal(err)
	}
	checker, err := NewVerifier(map[string]any{
		"bundleIds": []string{"com.example.app"}, "unstatedEnvironment": "accept",
		"playKeys": []map[string]string{{"package": "com.example.app", "key": base64.StdEncoding.EncodeToString(public)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	verdict, err := checker.Verify([]byte(signed.Receipt))
	if err != nil || !verdict.IsValid() || verdict.Transactions[0].ProductID != "gems" {
		t.Fatalf("%+v %v", verdict, err)
	}
	var found *Error
	if _, err := signer.Sign("nonsense", "{}", SignOptions{}); !errors.As(err, &found) || found.Place != "$.format" {
		t.Fatal(err)
	}
	if _, err := signer.Sign("google-play-purchase", "{", SignOptions{}); !errors.As(err, &found) || found.Status != StatusUsage {
		t.Fatal(err)
	}
}

// A proof and its key are given by Tests/Interoperability.
func TestProofs(t *testing.T) {
	request := ProofRequest{Key: "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"}
	check, err := CheckProof([]byte("no proof"), request)
	if err != nil || check.IsProven || check.Message == "" {
		t.Fatal(check, err)
	}
	var found *Error
	for _, wrong := range []ProofRequest{{}, {Key: "x"}, {Policy: "x"}} {
		if _, err := CheckProof(nil, wrong); !errors.As(err, &found) {
			t.Fatal(err)
		}
	}
	path := os.Getenv("RECEIPTKIT_TEST_PROOF")
	if path == "" {
		t.Skip("RECEIPTKIT_TEST_PROOF is not set")
	}
	proof := read(t, path)
	request.Key = string(bytes.TrimSpace(read(t, os.Getenv("RECEIPTKIT_TEST_PROOF_KEY"))))
	if check, err := CheckProof(proof, request); err != nil || !check.IsProven || check.TreeSize == 0 {
		t.Fatal(check, err)
	}
	request.Receipt = []byte("another")
	if check, err := CheckProof(proof, request); err != nil || check.IsProven {
		t.Fatal(check, err)
	}
}

// Go's own cryptography works as before, in the same process.
func TestTLSBeforeAndAfter(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(response http.ResponseWriter, _ *http.Request) { response.Write([]byte("ok")) }))
	defer server.Close()
	for range make([]struct{}, 2) {
		roots := x509.NewCertPool()
		roots.AddCert(server.Certificate())
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
		response, err := client.Get(server.URL)
		if err != nil || response.StatusCode != 200 {
			t.Fatal(response, err)
		}
		response.Body.Close()
		if verdict, err := verifier(t).Verify(valid(t)); err != nil || !verdict.IsValid() {
			t.Fatal(verdict, err)
		}
	}
}

func TestVersion(t *testing.T) {
	if version, err := Version(); err != nil || version.ToolVersion == "" || version.Libcrypto == "" {
		t.Fatal(version, err)
	}
}

// members are the names in JSON of a struct, with those of structs within it.
func members(kind reflect.Type) map[string]reflect.Type {
	found := map[string]reflect.Type{}
	for index := 0; index < kind.NumField(); index++ {
		field := kind.Field(index)
		if field.Anonymous {
			for name, kind := range members(field.Type) {
				found[name] = kind
			}
		} else if name := field.Tag.Get("json"); name != "-" {
			found[name] = field.Type
		}
	}
	return found
}

func TestEveryMemberOfTheSchemaIsRead(t *testing.T) {
	type object struct{ Properties map[string]json.RawMessage }
	var schema struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(read(t, "../../Schemas/receipt-tool/verdict.schema.json"), &schema); err != nil {
		t.Fatal(err)
	}
	// The library states none of these.
	for _, name := range []string{"type", "version", "source", "key", "index", "checks", "entry", "repeated"} {
		delete(schema.Properties, name)
	}
	for name, kind := range map[string]reflect.Type{
		"": reflect.TypeOf(Verdict{}), "Reason": reflect.TypeOf(Reason{}), "Signer": reflect.TypeOf(Issuer{}), "Purchase": reflect.TypeOf(Purchase{}),
		"RenewalInfo": reflect.TypeOf(RenewalInfo{}), "PlayLicense": reflect.TypeOf(PlayLicense{}), "UnpaidPurchase": reflect.TypeOf(UnpaidPurchase{}),
	} {
		expected := schema.Properties
		if name != "" {
			expected = schema.Defs[name].Properties
		}
		found := members(kind)
		for member := range expected {
			if _, isThere := found[member]; !isThere {
				t.Errorf("%s has no %s", kind, member)
			}
			delete(found, member)
		}
		if len(found) != 0 {
			t.Errorf("%s has members that the schema has not: %v", kind, found)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	shared, receipt := verifier(b), valid(b)
	b.ResetTimer()
	for index := 0; index < b.N; index++ {
		if verdict, err := shared.Verify(receipt); err != nil || !verdict.IsValid() {
			b.Fatal(verdict, err)
		}
	}
}
