// SPDX-License-Identifier: Apache-2.0

// Package receiptkit verifies, inspects and signs purchase receipts with libreceiptkit, in the process.
//
// All functions and methods may be called from any number of goroutines at once.
package receiptkit

/*
#cgo LDFLAGS: -lreceiptkit
#include <receiptkit.h>
*/
import "C"

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// abiVersion is the version of the interface that this package was written for.
const abiVersion = 1

// The statuses of receiptkit.h, which an Error has.
const (
	StatusInvalid      = int(C.RECEIPTKIT_INVALID)
	StatusUndetermined = int(C.RECEIPTKIT_UNDETERMINED)
	StatusUsage        = int(C.RECEIPTKIT_USAGE)
	StatusUnreadable   = int(C.RECEIPTKIT_UNREADABLE)
	StatusInternal     = int(C.RECEIPTKIT_INTERNAL)
)

// An Error is what a call fails with. A verdict is not an error, whatever it says.
type Error struct {
	// Code is stable, such as "unexpected".
	Code string `json:"code"`
	// Message explains the error in a sentence.
	Message string `json:"message"`
	// Status is one of the constants above.
	Status int `json:"exitCode"`
	// Place is the place in the input, such as a JSON path; empty if there is none.
	Place string `json:"place"`
}

func (e *Error) Error() string {
	if e.Place == "" {
		return fmt.Sprintf("receiptkit: %s: %s", e.Code, e.Message)
	}
	return fmt.Sprintf("receiptkit: %s: %s (%s)", e.Code, e.Message, e.Place)
}

// ErrClosed is the error of a call with a Verifier or Signer that was closed, or is nil.
var ErrClosed error = &Error{Code: "usage", Message: "The verifier or signer is closed.", Status: StatusUsage}

// A NotValidError is the error of Payload for a receipt that is not valid.
type NotValidError struct{ Verdict *Verdict }

func (e *NotValidError) Error() string {
	if reason := e.Verdict.Reason; reason != nil {
		return fmt.Sprintf("receiptkit: the receipt is %s: %s: %s", e.Verdict.Verdict, reason.Code, reason.Message)
	}
	return "receiptkit: the receipt is " + e.Verdict.Verdict
}

func internal(format string, values ...any) error {
	return &Error{Code: "internal-fault", Message: fmt.Sprintf(format, values...), Status: StatusInternal}
}

// requireABI refuses a library with another interface. Its functions could have other parameters.
func requireABI() error {
	if found := uint32(C.receiptkit_abi_version()); found != abiVersion {
		return internal("The library has version %d of the interface, and this package needs %d.", found, abiVersion)
	}
	return nil
}

// take copies a text of the library and frees it.
func take(text *C.receiptkit_text) []byte {
	defer C.receiptkit_text_free(text)
	if text.bytes == nil {
		return nil
	}
	return append([]byte{}, unsafe.Slice((*byte)(unsafe.Pointer(text.bytes)), int(text.length))...)
}

// failure is the error of a status and its text.
func failure(status C.int32_t, text []byte) error {
	found := &Error{}
	if json.Unmarshal(text, found) != nil || found.Code == "" {
		return internal("The library returned the status %d without an error.", int(status))
	}
	found.Status = int(status)
	return found
}

func pointer(data []byte) unsafe.Pointer {
	if len(data) == 0 {
		return nil
	}
	return unsafe.Pointer(&data[0])
}

// document is the JSON text of a value, or of a text that is JSON already.
func document(value any) ([]byte, error) {
	switch value := value.(type) {
	case string:
		return []byte(value), nil
	case []byte:
		return value, nil
	case json.RawMessage:
		return value, nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, &Error{Code: "usage", Message: err.Error(), Status: StatusUsage}
	}
	return text, nil
}

// An object is a handle of the library.
type object struct{ handle atomic.Uint64 }

// Close frees it. Calls that other goroutines make finish; later ones return ErrClosed. A second Close does nothing.
func (o *object) Close() error {
	if o == nil {
		return nil
	}
	if handle := o.handle.Swap(0); handle != 0 {
		runtime.SetFinalizer(o, nil)
		C.receiptkit_handle_free(C.receiptkit_handle(handle))
	}
	return nil
}

func (o *object) open() (C.receiptkit_handle, error) {
	if o == nil {
		return 0, ErrClosed
	}
	handle := o.handle.Load()
	if handle == 0 {
		return 0, ErrClosed
	}
	return C.receiptkit_handle(handle), nil
}

// result is the outcome of a call with a handle. The handle may have been freed between open and the call.
func (o *object) result(status C.int32_t, text *C.receiptkit_text) ([]byte, error) {
	content := take(text)
	closed := o.handle.Load() == 0
	runtime.KeepAlive(o)
	if int(status) < StatusUsage {
		return content, nil
	}
	if closed && int(status) == StatusUsage {
		return nil, ErrClosed
	}
	return nil, failure(status, content)
}

// create makes an object whose handle is freed at the latest when the garbage collector finds it unreachable.
func create(value any, call func(*C.char, C.size_t, *C.receiptkit_handle, *C.receiptkit_text) C.int32_t) (*object, error) {
	if err := requireABI(); err != nil {
		return nil, err
	}
	text, err := document(value)
	if err != nil {
		return nil, err
	}
	var handle C.receiptkit_handle
	var result C.receiptkit_text
	status := call((*C.char)(pointer(text)), C.size_t(len(text)), &handle, &result)
	content := take(&result)
	if status != C.RECEIPTKIT_VALID {
		return nil, failure(status, content)
	}
	created := &object{}
	created.handle.Store(uint64(handle))
	runtime.SetFinalizer(created, (*object).Close)
	return created, nil
}

// A Verifier verifies receipts by a policy. Keep it: it remembers the signers of receipts that it accepted.
type Verifier struct{ *object }

// NewVerifier creates a verifier from a policy: a map or struct that becomes its JSON, or the JSON itself as string, []byte or
// json.RawMessage. At the least it is {"bundleIds": ["com.example.app"]}.
func NewVerifier(policy any) (*Verifier, error) {
	created, err := create(policy, func(text *C.char, length C.size_t, handle *C.receiptkit_handle, result *C.receiptkit_text) C.int32_t {
		return C.receiptkit_verifier_create(text, length, handle, result)
	})
	if err != nil {
		return nil, err
	}
	return &Verifier{created}, nil
}

func (v *Verifier) open() (C.receiptkit_handle, error) {
	if v == nil {
		return 0, ErrClosed
	}
	return v.object.open()
}

// Verify verifies a receipt of any kind. Without an error the verdict may still be invalid or undetermined: ask IsValid.
func (v *Verifier) Verify(receipt []byte) (*Verdict, error) {
	handle, err := v.open()
	if err != nil {
		return nil, err
	}
	var text C.receiptkit_text
	status := C.receiptkit_verify(handle, pointer(receipt), C.size_t(len(receipt)), &text)
	content, err := v.result(status, &text)
	if err != nil {
		return nil, err
	}
	return newVerdict(content, int(status))
}

// VerifyMany verifies receipts on all processors. The verdicts have the order of the receipts.
func (v *Verifier) VerifyMany(receipts [][]byte) ([]*Verdict, error) {
	handle, err := v.open()
	if err != nil {
		return nil, err
	}
	// The library takes one piece of memory, and Go's pointers in Go's memory must not be given to C.
	offsets := make([]uint64, len(receipts)+1)
	for index, receipt := range receipts {
		offsets[index+1] = offsets[index] + uint64(len(receipt))
	}
	joined := bytes.Join(receipts, nil)
	statuses := make([]byte, len(receipts)+1)
	var text C.receiptkit_text
	status := C.receiptkit_verify_batch(handle, pointer(joined), (*C.uint64_t)(&offsets[0]), C.size_t(len(receipts)), (*C.uint8_t)(&statuses[0]), &text)
	content, err := v.result(status, &text)
	if err != nil {
		return nil, err
	}
	lines := bytes.Split(bytes.TrimSuffix(content, []byte("\n")), []byte("\n"))
	if len(receipts) == 0 && len(content) == 0 {
		lines = nil
	}
	if len(lines) != len(receipts) {
		return nil, internal("The library returned %d verdicts on %d receipts.", len(lines), len(receipts))
	}
	verdicts := make([]*Verdict, len(receipts))
	for index, line := range lines {
		if verdicts[index], err = newVerdict(line, int(statuses[index])); err != nil {
			return nil, err
		}
	}
	return verdicts, nil
}

// Payload verifies a receipt and returns its payload as the store signed it. Of a receipt that is not valid the error is a
// *NotValidError, which has the verdict.
func (v *Verifier) Payload(receipt []byte) ([]byte, error) {
	handle, err := v.open()
	if err != nil {
		return nil, err
	}
	var text C.receiptkit_text
	status := C.receiptkit_payload(handle, pointer(receipt), C.size_t(len(receipt)), &text)
	content, err := v.result(status, &text)
	if err != nil || status == C.RECEIPTKIT_VALID {
		return content, err
	}
	verdict, err := newVerdict(content, int(status))
	if err != nil {
		return nil, err
	}
	return nil, &NotValidError{verdict}
}

// InspectUnverified returns the contents of a receipt, of which nothing is checked: the object "inspection" in JSON. Grant
// nothing for it. With redacting a customer's values are replaced.
func InspectUnverified(receipt []byte, redacting bool) (json.RawMessage, error) {
	if err := requireABI(); err != nil {
		return nil, err
	}
	var options C.uint32_t
	if redacting {
		options = C.RECEIPTKIT_INSPECT_REDACTED
	}
	var text C.receiptkit_text
	status := C.receiptkit_inspect(pointer(receipt), C.size_t(len(receipt)), options, &text)
	content := take(&text)
	if status != C.RECEIPTKIT_VALID {
		return nil, failure(status, content)
	}
	return content, nil
}

// A Signer signs receipts with a private key and its certificates.
type Signer struct{ *object }

// NewSigner creates a signer from an identity, given as NewVerifier takes a policy: {"privateKey": "PEM", "certificates": […]}.
func NewSigner(identity any) (*Signer, error) {
	created, err := create(identity, func(text *C.char, length C.size_t, handle *C.receiptkit_handle, result *C.receiptkit_text) C.int32_t {
		return C.receiptkit_signer_create(text, length, handle, result)
	})
	if err != nil {
		return nil, err
	}
	return &Signer{created}, nil
}

func (s *Signer) open() (C.receiptkit_handle, error) {
	if s == nil {
		return 0, ErrClosed
	}
	return s.object.open()
}

// SignOptions say how a receipt is signed.
type SignOptions struct {
	// Base64 returns a transaction receipt in base64. An app receipt always is.
	Base64 bool
	// PSS signs a purchase of Huawei with RSASSA-PSS.
	PSS bool
}

// A SignedReceipt is a receipt that was signed.
type SignedReceipt struct {
	Format     string  `json:"format"`
	SignedDate Instant `json:"signedDate"`
	// Receipt is the receipt; that of an app in base64.
	Receipt string `json:"receipt"`
}

// Sign signs a receipt of a format, such as "signed-transaction". The receipt is given as NewVerifier takes a policy.
func (s *Signer) Sign(format string, receipt any, options SignOptions) (*SignedReceipt, error) {
	handle, err := s.open()
	if err != nil {
		return nil, err
	}
	content, err := document(receipt)
	if err != nil {
		return nil, err
	}
	request, err := document(map[string]any{
		"format": format, "receipt": json.RawMessage(content), "base64": options.Base64, "pss": options.PSS,
	})
	if err != nil {
		return nil, err
	}
	var text C.receiptkit_text
	status := C.receiptkit_sign(handle, (*C.char)(pointer(request)), C.size_t(len(request)), &text)
	answer, err := s.result(status, &text)
	if err != nil {
		return nil, err
	}
	if status != C.RECEIPTKIT_VALID {
		return nil, failure(status, answer)
	}
	signed := &SignedReceipt{}
	if err := json.Unmarshal(answer, signed); err != nil {
		return nil, internal("The signed receipt cannot be read: %v.", err)
	}
	return signed, nil
}

// A ProofRequest is what a proof is checked with. Either Key or Policy is required.
type ProofRequest struct {
	// Key is the trail's public key, as C2SP signed notes have it.
	Key string
	// ReplacedKeys are the proofs by which later keys replaced it.
	ReplacedKeys string
	// Policy is the text of a witness policy, in place of the key.
	Policy string
	// Receipt is the receipt that the entry must be about, or nil.
	Receipt []byte
}

// A ProofCheck is the answer about a proof of an audit trail.
type ProofCheck struct {
	// IsProven tells whether the proof proves its entry. Without it the members below but Message are empty.
	IsProven bool            `json:"proven"`
	Message  string          `json:"message"`
	Origin   string          `json:"origin"`
	TreeSize Count           `json:"treeSize"`
	RootHash string          `json:"rootHash"`
	Entry    json.RawMessage `json:"entry"`
	// JSON is the whole object "audit-check".
	JSON json.RawMessage `json:"-"`
}

// CheckProof checks a proof (C2SP tlog-proof). Without an error it may still prove nothing: ask IsProven.
func CheckProof(proof []byte, request ProofRequest) (*ProofCheck, error) {
	if err := requireABI(); err != nil {
		return nil, err
	}
	members := map[string]string{}
	for name, value := range map[string]string{"key": request.Key, "replacedKeys": request.ReplacedKeys, "policy": request.Policy} {
		if value != "" {
			members[name] = value
		}
	}
	if request.Receipt != nil {
		members["receipt"] = base64.StdEncoding.EncodeToString(request.Receipt)
	}
	content, err := document(members)
	if err != nil {
		return nil, err
	}
	var text C.receiptkit_text
	status := C.receiptkit_check_proof(pointer(proof), C.size_t(len(proof)), (*C.char)(pointer(content)), C.size_t(len(content)), &text)
	answer := take(&text)
	if status != C.RECEIPTKIT_VALID && status != C.RECEIPTKIT_INVALID {
		return nil, failure(status, answer)
	}
	check := &ProofCheck{JSON: answer}
	if err := json.Unmarshal(answer, check); err != nil || check.IsProven != (status == C.RECEIPTKIT_VALID) {
		return nil, internal("The answer about a proof contradicts the status %d.", int(status))
	}
	return check, nil
}

// LibraryVersion is the version of the library, and what it runs with.
type LibraryVersion struct {
	ToolVersion    string   `json:"toolVersion"`
	Commit         string   `json:"commit"`
	Configuration  string   `json:"configuration"`
	Traits         []string `json:"traits"`
	Libcrypto      string   `json:"libcrypto"`
	FixedKeyTables bool     `json:"fixedKeyTables"`
}

// Version returns the version of the library.
func Version() (*LibraryVersion, error) {
	if err := requireABI(); err != nil {
		return nil, err
	}
	var text C.receiptkit_text
	status := C.receiptkit_version(&text)
	content := take(&text)
	if status != C.RECEIPTKIT_VALID {
		return nil, failure(status, content)
	}
	version := &LibraryVersion{}
	if err := json.Unmarshal(content, version); err != nil {
		return nil, internal("The version cannot be read: %v.", err)
	}
	return version, nil
}

// IsClosed tells whether an error is that of a call after Close.
func IsClosed(err error) bool { return errors.Is(err, ErrClosed) }
