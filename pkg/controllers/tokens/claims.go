// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/types"
)

// mostToken bounds the bytes of a token. Those of API servers have 1 to 2 KiB.
const mostToken = 16 << 10

// claims are what a token of a ServiceAccount says of itself. Nobody has verified it.
type claims struct {
	account   types.NamespacedName
	audiences []string
	issued    time.Time // zero: it does not say
	expires   time.Time // zero: never
	// bound is the object with which the token ends; the zero one: none.
	bound authenticationv1.BoundObjectReference
}

// life is how long the token lasts in all; 0: that is not known.
func (c claims) life() time.Duration {
	if c.issued.IsZero() || c.expires.IsZero() {
		return 0
	}
	return c.expires.Sub(c.issued)
}

var tokenForm = regexp.MustCompile(`^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$`)

// claimsOf returns the claims of a token; false: it is none of a ServiceAccount.
func claimsOf(token string) (c claims, ok bool) {
	if len(token) > mostToken || !tokenForm.MatchString(token) {
		return c, false
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	if err != nil {
		return c, false
	}
	var said struct {
		Subject    string   `json:"sub"`
		Audiences  texts    `json:"aud"`
		Issued     *float64 `json:"iat"`
		Expires    *float64 `json:"exp"`
		Kubernetes struct {
			Pod, Secret, Node *struct {
				Name string    `json:"name"`
				UID  types.UID `json:"uid"`
			}
		} `json:"kubernetes.io"`
	}
	if json.Unmarshal(payload, &said) != nil {
		return c, false
	}
	subject := strings.Split(said.Subject, ":")
	if len(subject) != 4 || subject[0] != "system" || subject[1] != "serviceaccount" {
		return c, false
	}
	c.account = types.NamespacedName{Namespace: subject[2], Name: subject[3]}
	c.audiences = said.Audiences
	c.issued, c.expires = moment(said.Issued), moment(said.Expires)
	switch k := said.Kubernetes; {
	case k.Pod != nil: // which may name its Node besides
		c.bound = authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: k.Pod.Name, UID: k.Pod.UID}
	case k.Secret != nil:
		c.bound = authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Secret", Name: k.Secret.Name, UID: k.Secret.UID}
	case k.Node != nil:
		c.bound = authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Node", Name: k.Node.Name, UID: k.Node.UID}
	}
	return c, true
}

// moment is a time in seconds since 1970, within what times can be.
func moment(seconds *float64) time.Time {
	const most = 253402300799 // the year 9999
	if seconds == nil {
		return time.Time{}
	}
	return time.Unix(int64(min(max(*seconds, 1), most)), 0)
}

// texts are one text or several.
type texts []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *texts) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*t = texts{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(t))
}
