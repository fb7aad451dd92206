// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// What the reasons of Events are.
const (
	// reasonNeverExpires: whoever steals the token has it until its Secret is deleted in the member.
	reasonNeverExpires = "TokenNeverExpires"
	// reasonNotRenewed: the token expires, and is not ours to renew, or cannot be.
	reasonNotRenewed = "TokenNotRenewed"
	// reasonFailed: an attempt to renew the token failed, and is repeated.
	reasonFailed = "TokenRenewalFailed"
)

// credential is one of the two that a registration has.
type credential string

const (
	reads  credential = "read"
	writes credential = "write"
)

// accounts are those whose tokens are renewed: of each credential that of deploy/member and deploy/member-write. If the one that reads
// could be of another account, who may write that Secret would be given what writes.
var accounts = map[credential]types.NamespacedName{
	reads:  {Namespace: "fleetscale-member", Name: "fleetscale-read"},
	writes: {Namespace: "fleetscale-member", Name: "fleetscale-write"},
}

// situation is what is known of a token that a registration holds.
type situation struct {
	credential credential
	token      claims
	// optedOut: the registration says that somebody else renews it.
	optedOut bool
	// unwanted are tokens that were issued until then: the registration asks for others at once. Zero: none are.
	unwanted time.Time
	// unaided, unless empty, is why there is nothing to renew it with.
	unaided string
}

// fault is what somebody should know of a token.
type fault struct{ reason, message string }

// decide returns when a token is to be renewed. The zero time is never: the fault, unless empty, says why, and what to do.
func decide(s situation, now time.Time) (renew time.Time, f fault) {
	t := s.token
	until := t.expires.UTC().Format(time.RFC3339)
	switch wanted := accounts[s.credential]; {
	case s.optedOut:
		return time.Time{}, fault{}
	case t.expires.IsZero():
		return time.Time{}, fault{reasonNeverExpires, fmt.Sprintf("the token that %ss never expires; replace it by one "+
			"that is renewed (`kubectl fleetscale rotate NAME --context CONTEXT`), and delete the Secret in the member that it is from", s.credential)}
	case t.account != wanted:
		return time.Time{}, fault{reasonNotRenewed, fmt.Sprintf("the token that %ss expires at %s and is not renewed: it is not one of the "+
			"ServiceAccount %s; use that, or renew it yourself and set the annotation %s=false", s.credential, until, wanted, RenewAnnotation)}
	case t.life() <= 0:
		return time.Time{}, fault{reasonNotRenewed, fmt.Sprintf("the token that %ss expires at %s and is not renewed: it does not say when "+
			"it was issued", s.credential, until)}
	case !now.Before(t.expires):
		return time.Time{}, fault{reasonNotRenewed, fmt.Sprintf("the token that %ss expired at %s: get another one by "+
			"`kubectl fleetscale rotate NAME --context CONTEXT`", s.credential, until)}
	case s.unaided != "":
		return time.Time{}, fault{reasonNotRenewed, fmt.Sprintf("the token that %ss expires at %s and nobody renews it: %s",
			s.credential, until, s.unaided)}
	case !t.issued.After(s.unwanted) && s.unwanted.Before(now.Add(mostSkew)): // or no token would ever be new enough
		return t.issued, fault{}
	}
	return t.issued.Add(t.life() / 3 * 2), fault{}
}

// timeOf is the time that an annotation gives; zero: it gives none.
func timeOf(annotation string) time.Time {
	t, err := time.Parse(time.RFC3339, annotation)
	if err != nil {
		return time.Time{}
	}
	return t
}

const (
	// leastLife is that of tokens of API servers, whatever is asked for.
	leastLife = 10 * time.Minute
	// slack is by how much a life may be longer than was asked for.
	slack = time.Minute
	// mostSkew is how far a member's clock may be ahead of ours.
	mostSkew = time.Hour
)

// refused is why what a member returned is not used.
type refused string

func (r refused) Error() string { return "the member returned " + string(r) }

// accept returns whether a token may take the place of the present one.
func accept(present claims, token string, now time.Time) error {
	offered, ok := claimsOf(token)
	switch {
	case !ok:
		return refused("something that is no token of a ServiceAccount, or is longer than 16 KiB")
	case offered.account != present.account:
		return refused("a token of another account")
	case len(present.audiences) > 0 && !slices.Equal(offered.audiences, present.audiences):
		return refused("a token for another audience")
	case offered.bound != present.bound:
		return refused("a token that is bound to another object")
	case offered.life() <= 0:
		return refused("a token that never expires, or does not say when it was issued")
	case offered.life() > max(present.life(), leastLife)+slack:
		return refused(fmt.Sprintf("a token with a life of %v where %v was asked for", offered.life(), present.life()))
	case offered.issued.After(now.Add(mostSkew)):
		return refused("a token of the future")
	case !offered.expires.After(present.expires) || !offered.expires.After(now):
		return refused("a token that does not outlast the present one")
	}
	return nil
}

const (
	firstRetry   = 30 * time.Second
	longestRetry = 30 * time.Minute
)

// retry is when to try again after so many failures in a row. The closer the end, the sooner.
func retry(failures int, now, expires time.Time) time.Time {
	wait := longestRetry
	if doublings := failures - 1; doublings < 6 {
		wait = firstRetry << max(doublings, 0)
	}
	return now.Add(max(min(wait, expires.Sub(now)/4), firstRetry))
}
