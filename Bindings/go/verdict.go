// SPDX-License-Identifier: Apache-2.0

package receiptkit

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
)

// The words of a verdict.
const (
	Valid        = "valid"
	Invalid      = "invalid"
	Undetermined = "undetermined"
)

// An Instant is an instant in ISO 8601, or empty. It is a text so that no date of a receipt can make its verdict unreadable.
type Instant string

// Time returns the instant as a time.
func (i Instant) Time() (time.Time, error) { return time.Parse(time.RFC3339, string(i)) }

// A Count is a number that JSON has as a text if it is large.
type Count uint64

// UnmarshalJSON reads a number or a text.
func (c *Count) UnmarshalJSON(text []byte) error {
	value, err := strconv.ParseUint(string(bytes.Trim(text, `"`)), 10, 64)
	*c = Count(value)
	return err
}

// A Verdict is the verdict on one receipt. What an invalid receipt states is left out: nothing of it was verified. Pointers
// are nil, and texts empty, where the receipt does not state them.
type Verdict struct {
	// Verdict is Valid, Invalid or Undetermined; ask IsValid.
	Verdict string `json:"verdict"`
	// Format is the kind of receipt; of an invalid one what it claims to be.
	Format string  `json:"format"`
	Reason *Reason `json:"reason"`
	// Retryable tells of an undetermined verdict whether trying again later may give an answer.
	Retryable   bool   `json:"retryable"`
	Environment string `json:"environment"`
	// EnvironmentProven is false where the environment is a claim that the signature does not cover.
	EnvironmentProven        *bool   `json:"environmentProven"`
	BundleID                 string  `json:"bundleId"`
	AppAppleID               *int64  `json:"appAppleId"`
	SignedDate               Instant `json:"signedDate"`
	ExpirationDate           Instant `json:"expirationDate"`
	IsExpired                *bool   `json:"isExpired"`
	Assurance                string  `json:"assurance"`
	Signer                   *Issuer `json:"signer"`
	NotificationType         string  `json:"notificationType"`
	Subtype                  string  `json:"subtype"`
	NotificationUUID         string  `json:"notificationUUID"`
	Status                   *int64  `json:"status"`
	ConsumptionRequestReason string  `json:"consumptionRequestReason"`
	// Standing tells whether what was bought still stands, such as "active"; empty where there is no purchase.
	Standing string `json:"standing"`
	// GrantsAccess tells whether the receipt is valid and a purchase in it is active. Grant nothing without it.
	GrantsAccess        bool             `json:"grantsAccess"`
	Transactions        []Purchase       `json:"transactions"`
	RenewalInfo         *RenewalInfo     `json:"renewalInfo"`
	License             *PlayLicense     `json:"license"`
	ObfuscatedAccountID string           `json:"obfuscatedAccountId"`
	ObfuscatedProfileID string           `json:"obfuscatedProfileId"`
	AutoRenewing        *bool            `json:"autoRenewing"`
	Acknowledged        *bool            `json:"acknowledged"`
	Nonce               *int64           `json:"nonce"`
	UnpaidPurchases     []UnpaidPurchase `json:"unpaidPurchases"`

	// JSON is the whole object "verdict".
	JSON json.RawMessage `json:"-"`
}

// IsValid tells whether the receipt is genuine and satisfies the policy. That of a nil verdict is false.
func (v *Verdict) IsValid() bool { return v != nil && v.Verdict == Valid }

// newVerdict reads a verdict, which must say the same as the status.
func newVerdict(text []byte, status int) (*Verdict, error) {
	verdict := &Verdict{JSON: text}
	if err := json.Unmarshal(text, verdict); err != nil {
		return nil, internal("A verdict cannot be read: %v.", err)
	}
	words := map[int]string{0: Valid, StatusInvalid: Invalid, StatusUndetermined: Undetermined}
	if word, isKnown := words[status]; !isKnown || word != verdict.Verdict {
		return nil, internal("The verdict %q contradicts the status %d.", verdict.Verdict, status)
	}
	verdict.GrantsAccess = verdict.GrantsAccess && verdict.IsValid()
	return verdict, nil
}

// A Reason is why a receipt is not valid.
type Reason struct {
	// Code is stable.
	Code    string `json:"code"`
	Message string `json:"message"`
	// Place is a byte offset, an attribute, a JSON path or a certificate; empty if there is none.
	Place string `json:"place"`
}

// An Issuer is the signer of a receipt.
type Issuer struct {
	Subject      string `json:"subject"`
	SHA256       string `json:"sha256"`
	RootSHA256   string `json:"rootSha256"`
	Algorithm    string `json:"algorithm"`
	InvolvesSHA1 bool   `json:"involvesSha1"`
}

// A PurchaseStanding tells whether a purchase stands.
type PurchaseStanding struct {
	Standing       string  `json:"standing"`
	StandingSince  Instant `json:"standingSince"`
	StandingUntil  Instant `json:"standingUntil"`
	StandingSource string  `json:"standingSource"`
	// GrantsAccess tells whether it is active: grant it.
	GrantsAccess bool `json:"grantsAccess"`
	// RemainingQuantity is the quantity to grant.
	RemainingQuantity int64 `json:"remainingQuantity"`
}

// A Purchase is one purchase, by Apple's names.
type Purchase struct {
	TransactionID               string  `json:"transactionId"`
	OriginalTransactionID       string  `json:"originalTransactionId"`
	ProductID                   string  `json:"productId"`
	Type                        string  `json:"type"`
	Quantity                    *int64  `json:"quantity"`
	PurchaseDate                Instant `json:"purchaseDate"`
	OriginalPurchaseDate        Instant `json:"originalPurchaseDate"`
	ExpiresDate                 Instant `json:"expiresDate"`
	IsExpired                   *bool   `json:"isExpired"`
	RevocationDate              Instant `json:"revocationDate"`
	RevocationReason            *int64  `json:"revocationReason"`
	RevocationType              string  `json:"revocationType"`
	IsUpgraded                  *bool   `json:"isUpgraded"`
	InAppOwnershipType          string  `json:"inAppOwnershipType"`
	AppAccountToken             string  `json:"appAccountToken"`
	SubscriptionGroupIdentifier string  `json:"subscriptionGroupIdentifier"`
	TransactionReason           string  `json:"transactionReason"`
	// Price is the price times 1000.
	Price                *int64 `json:"price"`
	Currency             string `json:"currency"`
	Storefront           string `json:"storefront"`
	OfferType            *int64 `json:"offerType"`
	OfferDiscountType    string `json:"offerDiscountType"`
	OfferPeriod          string `json:"offerPeriod"`
	OfferIdentifier      string `json:"offerIdentifier"`
	IsTrialPeriod        *bool  `json:"isTrialPeriod"`
	IsInIntroOfferPeriod *bool  `json:"isInIntroOfferPeriod"`
	PurchaseToken        string `json:"purchaseToken"`
	PurchaseStanding
}

// RenewalInfo is the next renewal, by Apple's names.
type RenewalInfo struct {
	AutoRenewStatus        *int64  `json:"autoRenewStatus"`
	AutoRenewProductID     string  `json:"autoRenewProductId"`
	RenewalDate            Instant `json:"renewalDate"`
	RenewalPrice           *int64  `json:"renewalPrice"`
	Currency               string  `json:"currency"`
	ExpirationIntent       *int64  `json:"expirationIntent"`
	IsInBillingRetryPeriod *bool   `json:"isInBillingRetryPeriod"`
	GracePeriodExpiresDate Instant `json:"gracePeriodExpiresDate"`
	PriceIncreaseStatus    *int64  `json:"priceIncreaseStatus"`
	OfferType              *int64  `json:"offerType"`
	OfferIdentifier        string  `json:"offerIdentifier"`
	OfferDiscountType      string  `json:"offerDiscountType"`
}

// A PlayLicense is a response of Google Play's licensing.
type PlayLicense struct {
	ResponseCode int64   `json:"responseCode"`
	IsLicensed   bool    `json:"isLicensed"`
	Nonce        int64   `json:"nonce"`
	VersionCode  string  `json:"versionCode"`
	UserID       string  `json:"userId"`
	ValidUntil   Instant `json:"validUntil"`
}

// An UnpaidPurchase is a purchase that is not paid for, or no longer.
type UnpaidPurchase struct {
	OrderID       string `json:"orderId"`
	ProductID     string `json:"productId"`
	PurchaseState int64  `json:"purchaseState"`
	PurchaseStanding
}
