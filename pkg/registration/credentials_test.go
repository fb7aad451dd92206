// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"encoding/base64"
	"encoding/pem"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

// Each form in which somebody may repeat a credential is one of those that are not shown.
func TestSecretsAreKnownInEveryForm(t *testing.T) {
	const (
		token    = "t0k+n/é=\"<&\\x" // as no token is; each sign is special to some encoding
		password = "p@ss:w/rd"
	)
	der := slices.Repeat([]byte{0xfb, 0xef, 0xff, 1}, 40)
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	std, raw := base64.StdEncoding.EncodeToString, base64.RawURLEncoding.EncodeToString
	e := Endpoint{
		Config: &rest.Config{BearerToken: token, Username: "me", Password: password, TLSClientConfig: rest.TLSClientConfig{KeyData: keyPEM}},
		Proxy:  &url.URL{Scheme: "http", Host: "proxy", User: url.UserPassword("you", "pr/xy pw")},
		ProxyHeader: map[string][]string{
			"Authorization": {"Basic " + std([]byte("them:theirs!"))}, "X-Key": {"k3y-of-the-proxy"}, "X-Token": {"Bearer other-t0ken"},
		},
	}
	repeated := map[string]string{
		"the token":                              token,
		"in base64":                              std([]byte(token)),
		"in base64 for URLs, without padding":    raw([]byte(token)),
		"in base64, percent-encoded":             url.QueryEscape(std([]byte(token))),
		"in a query":                             url.QueryEscape(token),
		"in a query, by others":                  "t0k%2bn%2f%c3%a9%3d%22%3c%26%5cx",
		"in a path":                              url.PathEscape(token),
		"quoted":                                 strconv.Quote(token),
		"in JSON":                                `"t0k+n/é=\"\u003c\u0026\\x"`,
		"the password":                           password,
		"of basic authentication":                "Basic " + std([]byte("me:"+password)),
		"of basic authentication, for URLs":      raw([]byte("me:" + password)),
		"in an address":                          "https://" + url.UserPassword("me", password).String() + "@host",
		"the key":                                string(keyPEM),
		"the key in a kubeconfig":                std(keyPEM),
		"the key quoted":                         strconv.Quote(string(keyPEM)),
		"the key's bytes":                        string(der),
		"the key in one line":                    std(der),
		"a line of the key":                      strings.Split(string(keyPEM), "\n")[1],
		"the last line of it":                    strings.Split(string(keyPEM), "\n")[4],
		"the proxy's password":                   "pr/xy pw",
		"the proxy's address":                    e.Proxy.String(),
		"the proxy's authorization":              std([]byte("you:pr/xy pw")),
		"a header for the proxy":                 "k3y-of-the-proxy",
		"credentials in a header":                "other-t0ken",
		"basic authentication in a header":       std([]byte("them:theirs!")),
		"the password of those":                  "theirs!",
		"the password of those, percent-encoded": "theirs%21",
	}
	parts := []string{token, "t0k", password, "ss:w", "pr/xy", "xy pw", "pr%2Fxy", "theirs", "k3y-of", "other-t0ken"}
	for name, text := range repeated {
		t.Run(name, func(t *testing.T) {
			shown := text
			for _, secret := range e.Secrets() {
				shown = strings.ReplaceAll(shown, secret, "-")
			}
			if shown == text {
				t.Errorf("%q is shown", text)
			}
			for _, part := range parts {
				if strings.Contains(shown, part) {
					t.Errorf("of %q, %q is shown: %q", text, part, shown)
				}
			}
		})
	}
}

func TestNoSecretsAreNone(t *testing.T) {
	if got := (Endpoint{Config: &rest.Config{Host: "https://a", Username: "me"}, Proxy: &url.URL{Host: "proxy"}}).Secrets(); len(got) > 0 {
		t.Errorf("secrets %q", got)
	}
}
