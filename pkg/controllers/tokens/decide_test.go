// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

const (
	reader = "system:serviceaccount:fleetscale-member:fleetscale-read"
	writer = "system:serviceaccount:fleetscale-member:fleetscale-write"
)

type said map[string]any

// jwt is a token with the claims. Nobody checks its signature.
func jwt(s said) string {
	payload, err := json.Marshal(s)
	if err != nil {
		panic(err) // no claims of a test can fail so
	}
	return "e30." + base64.RawURLEncoding.EncodeToString(payload) + ".c2lnbmVk"
}

// token is one of an account.
func token(subject string, issued time.Time, life time.Duration, edits ...func(said)) string {
	s := said{"sub": subject, "aud": []string{"https://kubernetes"}, "iat": issued.Unix(), "exp": issued.Add(life).Unix()}
	for _, edit := range edits {
		edit(s)
	}
	return jwt(s)
}

func without(claim string) func(said) { return func(s said) { delete(s, claim) } }

func with(claim string, value any) func(said) { return func(s said) { s[claim] = value } }

func TestClaims(t *testing.T) {
	account := types.NamespacedName{Namespace: "fleetscale-member", Name: "fleetscale-read"}
	bound := func(kind string) claims {
		return claims{account: account, audiences: []string{"https://kubernetes"}, issued: noon, expires: noon.Add(time.Hour),
			bound: authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: kind, Name: "n", UID: "u"}}
	}
	object := said{"name": "n", "uid": "u"}
	plain := bound("")
	plain.bound = authenticationv1.BoundObjectReference{}
	never := claims{account: account}
	oneAudience := plain
	oneAudience.audiences = []string{"a"}
	longest := token(reader, noon, time.Hour)
	longest += strings.Repeat("x", mostToken-len(longest))
	tests := map[string]struct {
		token string
		want  *claims // nil: it is none
	}{
		"of an API server":     {token(reader, noon, time.Hour), &plain},
		"one audience":         {token(reader, noon, time.Hour, with("aud", "a")), &oneAudience},
		"of a Secret, forever": {jwt(said{"sub": reader, "iss": "kubernetes/serviceaccount"}), &never},
		"bound to a Secret":    {token(reader, noon, time.Hour, with("kubernetes.io", said{"secret": object})), ptr(bound("Secret"))},
		"bound to a Pod": {token(reader, noon, time.Hour, with("kubernetes.io", said{"pod": object, "node": object})),
			ptr(bound("Pod"))},
		"bound to a Node":        {token(reader, noon, time.Hour, with("kubernetes.io", said{"node": object})), ptr(bound("Node"))},
		"of a person":            {token("alice", noon, time.Hour), nil},
		"of an account too many": {token(reader+":x", noon, time.Hour), nil},
		"no token":               {"s3cret", nil},
		"empty":                  {"", nil},
		"two parts":              {"e30.e30", nil},
		"a line break":           {token(reader, noon, time.Hour) + "\n", nil},
		"no JSON":                {"e30.e31.c2lnbmVk", nil},
		"another type":           {token(reader, noon, time.Hour, with("exp", "soon")), nil},
		"as long as may be":      {longest, &plain},
		"too long":               {longest + "x", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := claimsOf(tc.token)
			if ok != (tc.want != nil) {
				t.Fatalf("claimsOf = %v, %v", got, ok)
			}
			if !ok {
				return
			}
			fleettest.Same(t, "claims", *tc.want, got, cmp.AllowUnexported(claims{}))
		})
	}
}

func ptr[T any](v T) *T { return &v }

func TestWhenATokenIsRenewed(t *testing.T) {
	parsed := func(token string) claims {
		c, ok := claimsOf(token)
		if !ok {
			t.Fatal("no token")
		}
		return c
	}
	hours := func(subject string, edits ...func(said)) claims {
		return parsed(token(subject, noon, 3*time.Hour, edits...))
	}
	due := noon.Add(2 * time.Hour)
	tests := map[string]struct {
		situation
		now   time.Time
		renew time.Time
		fault string // reason, and a part of the message
	}{
		"at two thirds":          {situation{credential: reads, token: hours(reader)}, noon, due, ""},
		"it is late":             {situation{credential: reads, token: hours(reader)}, due.Add(30 * time.Minute), due, ""},
		"of the one that writes": {situation{credential: writes, token: hours(writer)}, noon, due, ""},
		"it is asked for":        {situation{credential: reads, token: hours(reader), unwanted: noon}, noon.Add(time.Minute), noon, ""},
		"it was asked for, and renewed": {situation{credential: reads, token: hours(reader), unwanted: noon.Add(-time.Second)},
			noon.Add(time.Minute), due, ""},
		"it is asked for forever": {situation{credential: reads, token: hours(reader), unwanted: noon.Add(2 * time.Hour)},
			noon.Add(time.Minute), due, ""},
		"it is asked for, and nobody can": {situation{credential: reads, token: hours(reader), unwanted: noon, unaided: "no way"}, noon,
			time.Time{}, "TokenNotRenewed nobody renews it: no way"},
		"it has expired": {situation{credential: reads, token: hours(reader)}, noon.Add(3 * time.Hour), time.Time{},
			"TokenNotRenewed expired at 2026-06-01T15:00:00Z"},
		"the one that writes, where one reads": {situation{credential: reads, token: hours(writer)}, noon, time.Time{},
			"TokenNotRenewed not one of the ServiceAccount fleetscale-member/fleetscale-read"},
		"the one that reads, where one writes": {situation{credential: writes, token: hours(reader)}, noon, time.Time{},
			"TokenNotRenewed not one of the ServiceAccount fleetscale-member/fleetscale-write"},
		"an administrator's": {situation{credential: writes, token: hours("system:serviceaccount:kube-system:admin")}, noon, time.Time{},
			"TokenNotRenewed not one of"},
		"it never expires": {situation{credential: writes, token: hours(writer, without("exp"))}, noon, time.Time{},
			"TokenNeverExpires `kubectl fleetscale rotate NAME --context CONTEXT`"},
		"it was never issued": {situation{credential: writes, token: hours(writer, without("iat"))}, noon, time.Time{},
			"TokenNotRenewed when it was issued"},
		"it ended before it began": {situation{credential: writes, token: hours(writer, with("exp", noon.Add(-time.Hour).Unix()))},
			noon.Add(-2 * time.Hour), time.Time{},
			"TokenNotRenewed when it was issued"},
		"nobody can": {situation{credential: reads, token: hours(reader), unaided: "no way"}, noon, time.Time{},
			"TokenNotRenewed nobody renews it: no way"},
		"somebody else does": {situation{credential: reads, token: hours(reader), unaided: "no way", optedOut: true}, noon,
			time.Time{}, ""},
		"it never expires, which is known": {situation{credential: reads, token: hours(reader, without("exp")), optedOut: true}, noon,
			time.Time{}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			renew, f := decide(tc.situation, tc.now)
			if !renew.Equal(tc.renew) {
				t.Errorf("renewed at %v, want %v", renew, tc.renew)
			}
			reason, part, _ := strings.Cut(tc.fault, " ")
			if f.reason != reason || !strings.Contains(f.message, part) {
				t.Errorf("the fault is %q, want %q", f, tc.fault)
			}
		})
	}
}

func TestWhatIsAcceptedOfAMember(t *testing.T) {
	bound := with("kubernetes.io", said{"secret": said{"name": "n", "uid": "u"}})
	present := token(reader, noon, 3*time.Hour)
	now := noon.Add(2 * time.Hour)
	tests := map[string]struct {
		present, offered string
		want             string // empty: it is accepted
	}{
		"as asked for":    {present, token(reader, now, 3*time.Hour), ""},
		"shorter":         {present, token(reader, now, 2*time.Hour), ""},
		"a little longer": {present, token(reader, now, 3*time.Hour+30*time.Second), ""},
		"as short as there are": {token(reader, now.Add(-4*time.Minute), 5*time.Minute), token(reader, now, 10*time.Minute),
			""},
		"by a clock that is ahead":  {present, token(reader, now.Add(30*time.Minute), 3*time.Hour), ""},
		"by a clock that is behind": {present, token(reader, now.Add(-30*time.Minute), 3*time.Hour), ""},
		"bound to the same":         {token(reader, noon, 3*time.Hour, bound), token(reader, now, 3*time.Hour, bound), ""},
		"nothing":                   {present, "", "something that is no token"},
		"no token":                  {present, "<html>", "something that is no token"},
		"too long": {present, token(reader, now, 3*time.Hour, with("x", strings.Repeat("x", mostToken))),
			"something that is no token"},
		"lines":             {present, token(reader, now, 3*time.Hour) + "\nusers: []", "something that is no token"},
		"the other account": {present, token(writer, now, 3*time.Hour), "a token of another account"},
		"the account of another name": {present, token("system:serviceaccount:kube-system:fleetscale-read", now, 3*time.Hour),
			"a token of another account"},
		"another audience": {present, token(reader, now, 3*time.Hour, with("aud", "vault")),
			"a token for another audience"},
		"no audience":      {present, token(reader, now, 3*time.Hour, without("aud")), "a token for another audience"},
		"bound to another": {present, token(reader, now, 3*time.Hour, bound), "a token that is bound to another object"},
		"no longer bound": {token(reader, noon, 3*time.Hour, bound), token(reader, now, 3*time.Hour),
			"a token that is bound to another object"},
		"it never expires":    {present, token(reader, now, 3*time.Hour, without("exp")), "a token that never expires"},
		"it was never issued": {present, token(reader, now, 3*time.Hour, without("iat")), "a token that never expires"},
		"longer": {present, token(reader, now, 4*time.Hour),
			"a token with a life of 4h0m0s where 3h0m0s was asked for"},
		"absurd":                    {present, token(reader, now, 0, with("exp", 1e300)), "a token with a life of"},
		"of the past":               {present, token(reader, now, 3*time.Hour, with("iat", -1e300)), "a token with a life of"},
		"of the future":             {present, token(reader, now.Add(2*time.Hour), 3*time.Hour), "a token of the future"},
		"shorter than what is left": {present, token(reader, now, 30*time.Minute), "a token that does not outlast the present one"},
		"the present one":           {present, present, "a token that does not outlast the present one"},
		"expired, after the present one": {token(reader, now.Add(-2*time.Hour), time.Hour), token(reader, now.Add(-90*time.Minute), time.Hour),
			"a token that does not outlast the present one"},
		"shortened to less than a minute": {present, token(reader, now, time.Second), "a token that does not outlast the present one"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c, ok := claimsOf(tc.present)
			if !ok {
				t.Fatal("no token")
			}
			err := accept(c, tc.offered, now)
			if tc.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var no refused
			if !errors.As(err, &no) || !strings.HasPrefix(string(no), tc.want) {
				t.Errorf("accept = %v, want %q", err, tc.want)
			}
		})
	}
}

func TestRetries(t *testing.T) {
	far := noon.Add(1000 * time.Hour)
	tests := map[string]struct {
		failures int
		expires  time.Time
		want     time.Duration
	}{
		"the first":       {1, far, 30 * time.Second},
		"the third":       {3, far, 2 * time.Minute},
		"the sixth":       {6, far, 16 * time.Minute},
		"the seventh":     {7, far, 30 * time.Minute},
		"the thousandth":  {1000, far, 30 * time.Minute},
		"the end is near": {7, noon.Add(8 * time.Minute), 2 * time.Minute},
		"it is nearer":    {7, noon.Add(time.Minute), 30 * time.Second},
		"it has come":     {7, noon.Add(-time.Minute), 30 * time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := retry(tc.failures, noon, tc.expires).Sub(noon); got != tc.want {
				t.Errorf("retry = %v, want %v", got, tc.want)
			}
		})
	}
}

// Whatever a member returns, nothing panics, and what is accepted is of the account, is no longer than was asked for, and lasts.
func FuzzAccept(f *testing.F) {
	present, _ := claimsOf(token(reader, noon, 3*time.Hour))
	now := noon.Add(2 * time.Hour)
	for _, payload := range []string{
		`{}`, `{"sub":"` + reader + `","aud":["https://kubernetes"],"iat":1780322400,"exp":1780333200}`, `{"exp":1e999}`, `{"sub":[]}`,
		`{"sub":"` + reader + `","aud":"https://kubernetes","iat":-1,"exp":1e18}`, `[`, `{"kubernetes.io":{"pod":null}}`,
	} {
		f.Add([]byte(payload))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		offered := "e30." + base64.RawURLEncoding.EncodeToString(payload) + ".c2lnbmVk"
		if accept(present, offered, now) != nil {
			return
		}
		c, _ := claimsOf(offered)
		if c.account != present.account || c.life() > present.life()+slack || !c.expires.After(present.expires) || len(offered) > mostToken {
			t.Errorf("%s is accepted", payload)
		}
	})
}
