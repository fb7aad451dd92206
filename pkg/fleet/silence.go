// SPDX-License-Identifier: Apache-2.0

package fleet

import "fmt"

// Reason is one UpperCamelCase word for why a member is silent. The same word
// stands in conditions, Events, metric labels, warnings and the coverage header.
type Reason string

// The reasons that follow from one question to one member. Registrations have
// further ones of their own (packages registration and member).
const (
	// ReasonForbidden: the member refuses our identity (401) or its rights (403).
	ReasonForbidden Reason = "Forbidden"
	// ReasonTimeout: no answer within the deadline.
	ReasonTimeout Reason = "Timeout"
	// ReasonUnreachable: no connection could be made, or it broke.
	ReasonUnreachable Reason = "Unreachable"
	// ReasonCertificate: one side does not trust the other's certificate.
	ReasonCertificate Reason = "CertificateInvalid"
	// ReasonRateLimited: the member asks us to come back later (429).
	ReasonRateLimited Reason = "RateLimited"
	// ReasonServerError: the member, or the API behind it, failed (5xx).
	ReasonServerError Reason = "ServerError"
	// ReasonBadAnswer: the member answered, and the answer cannot be read.
	ReasonBadAnswer Reason = "BadAnswer"
	// ReasonTooLarge: the answer is larger than is read of one.
	ReasonTooLarge Reason = "TooLarge"
	// ReasonStale: the last answer is older than may be served.
	ReasonStale Reason = "Stale"
)

// Silence is why one member's part of an answer is missing. As an error it
// reads "Reason: Detail".
type Silence struct {
	Reason Reason
	// Detail is one line for people, in lower case, without secrets; it may be empty.
	Detail string
}

// Silencef is a silence whose detail is formatted.
func Silencef(reason Reason, format string, args ...any) *Silence {
	return &Silence{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

func (s *Silence) Error() string {
	if s.Detail == "" {
		return string(s.Reason)
	}
	return string(s.Reason) + ": " + s.Detail
}
