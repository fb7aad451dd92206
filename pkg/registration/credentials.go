// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/url"
	"slices"
	"strings"
)

// Secrets are the texts that must never be shown, though a server or proxy may
// repeat them to us: credentials in all forms in which they travel or are quoted,
// the longest first. What a plugin or a file yields later is not among them.
func (e Endpoint) Secrets() []string {
	var all []string
	add := func(credentials ...string) {
		for _, c := range credentials {
			all = append(all, Forms(c)...)
		}
	}
	c := e.Config
	add(c.BearerToken)
	add(basic(c.Username, c.Password)...)
	add(key(c.KeyData)...)
	all = append(all, lines(c.KeyData)...)
	if e.Proxy != nil {
		password, _ := e.Proxy.User.Password()
		add(basic(e.Proxy.User.Username(), password)...)
		if _, encoded, found := strings.Cut(e.Proxy.User.String(), ":"); found {
			add(encoded) // as in the proxy's URL
		}
	}
	for _, values := range e.ProxyHeader {
		for _, value := range values {
			add(Authorization(value)...)
		}
	}
	return longestFirst(all)
}

// Authorization returns what is secret in the value of a header: all of it, what follows its scheme, and the password in that.
func Authorization(value string) []string {
	all := []string{value}
	scheme, credentials, found := strings.Cut(value, " ")
	if !found {
		return all
	}
	all = append(all, strings.TrimSpace(credentials))
	if strings.EqualFold(scheme, "basic") {
		if plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(credentials)); err == nil {
			_, password, _ := strings.Cut(string(plain), ":")
			all = append(all, password)
		}
	}
	return all
}

// basic returns what is secret in a user and password.
func basic(user, password string) []string {
	if password == "" {
		return nil
	}
	return []string{password, user + ":" + password}
}

// key returns what is secret in a private key: its PEM, and what that holds.
func key(data []byte) []string {
	if len(data) == 0 {
		return nil
	}
	all := []string{string(data), strings.TrimSpace(string(data))}
	if block, _ := pem.Decode(data); block != nil {
		all = append(all, string(block.Bytes))
	}
	return all
}

// lines are those of a private key's PEM by which one could guess the rest.
func lines(key []byte) []string {
	const telling = 16
	var all []string
	for line := range bytes.Lines(key) {
		if line = bytes.TrimSpace(line); len(line) >= telling && !bytes.HasPrefix(line, []byte("-----")) {
			all = append(all, string(line))
		}
	}
	return all
}

// Forms are a credential as it is written, in base64, percent-encoded, and as it is quoted in JSON and Go; none of an empty one.
func Forms(credential string) []string {
	if credential == "" {
		return nil
	}
	all := []string{credential}
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		padded := encoding.EncodeToString([]byte(credential))
		all = append(all, padded, strings.TrimRight(padded, "="), url.QueryEscape(padded))
	}
	for _, escaped := range []string{url.QueryEscape(credential), url.PathEscape(credential)} {
		all = append(all, escaped, lowerEscapes(escaped))
	}
	for _, escapesHTML := range []bool{true, false} {
		var quoted bytes.Buffer
		encoder := json.NewEncoder(&quoted)
		encoder.SetEscapeHTML(escapesHTML)
		if encoder.Encode(credential) == nil { // which no text makes it refuse
			all = append(all, strings.Trim(quoted.String(), "\"\n"))
		}
	}
	return longestFirst(all)
}

// lowerEscapes writes %2f for %2F.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:], bytes.ToLower(b[i+1:i+3]))
		}
	}
	return string(b)
}

// longestFirst leaves out what is there twice. A text that holds another one comes before it, so that it is found whole.
func longestFirst(all []string) []string {
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	return slices.Compact(all)
}
