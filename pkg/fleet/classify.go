// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Classify returns what a member's error counts as. It is the only place that
// decides so, for every API that fleetscale asks.
//
//	nil                    the member answered
//	404                    absent: it answered that it has no such API, metric or scope
//	401, 403               silent, Forbidden
//	429, 5xx, time-outs,   silent, with the reason
//	connections, the rest
//
// An error that holds a *Silence already keeps it.
func Classify(err error) (silence *Silence, absent bool) {
	if err == nil {
		return nil, false
	}
	var own *Silence // it escapes to the heap, so it is not the result itself
	if errors.As(err, &own) {
		if clean := shortened(PrintableLines(shortened(own.Detail))); clean != own.Detail {
			own = &Silence{Reason: own.Reason, Detail: clean}
		}
		return own, false
	}
	if apierrors.IsNotFound(err) {
		return nil, true
	}
	return &Silence{Reason: reasonOf(err), Detail: detailOf(err)}, false
}

// Unanswered returns why there is no answer, where one that something is not there is none: it ought to be. Of what the member says, no
// more is kept than of other errors.
func Unanswered(err error) *Silence {
	silence, absent := Classify(err)
	if absent {
		return &Silence{Reason: ReasonBadAnswer, Detail: detailOf(err)}
	}
	return silence
}

func reasonOf(err error) Reason {
	var status apierrors.APIStatus
	switch {
	case isTimeout(err):
		return ReasonTimeout
	case isCertificate(err):
		return ReasonCertificate
	case errors.As(err, &status):
		return reasonOfCode(status.Status().Code)
	default:
		return ReasonUnreachable
	}
}

func reasonOfCode(code int32) Reason {
	switch {
	case code == 401 || code == 403:
		return ReasonForbidden
	case code == 429:
		return ReasonRateLimited
	case code == 504:
		return ReasonTimeout
	case code >= 500:
		return ReasonServerError
	default:
		return ReasonBadAnswer
	}
}

// ResultOf is a word for what a request came to, for a label of metrics: Answered, Absent, or the reason of the silence.
func ResultOf(err error) string {
	switch silence, absent := Classify(err); {
	case silence != nil:
		return string(silence.Reason)
	case absent:
		return "Absent"
	}
	return "Answered"
}

// isTimeout knows deadlines by their method, as net, os and context all have it.
func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

func isCertificate(err error) bool {
	var (
		verification *tls.CertificateVerificationError
		authority    x509.UnknownAuthorityError
		hostname     x509.HostnameError
		invalid      x509.CertificateInvalidError
		alert        tls.AlertError
	)
	return errors.As(err, &verification) || errors.As(err, &authority) ||
		errors.As(err, &hostname) || errors.As(err, &invalid) || errors.As(err, &alert)
}

// detailOf is the error in one printable line, without the URL that net/http puts
// before it: the cluster is named already, and a URL may hold what nobody should read.
func detailOf(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if isTimeout(err) {
		return "no answer within the deadline"
	}
	return shortened(PrintableLine(shortened(err.Error()), mostDetail+1))
}

// mostDetail bounds, in bytes, what of a member's words is kept, and said to others.
const mostDetail = 512

func shortened(text string) string {
	if len(text) <= mostDetail {
		return text
	}
	return strings.ToValidUTF8(strings.Clone(text[:mostDetail]), "") + "…"
}
