// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"bytes"
	_ "embed"
	"html/template"
)

//go:embed login.html
var loginText string

// Login is the page that asks for a token. What is said is why there is no other page; the namespace is what its field has.
func Login(said, namespace string) ([]byte, error) {
	form, err := template.New("login").Parse(loginText)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = form.Execute(&out, struct{ Said, Namespace string }{said, namespace})
	return out.Bytes(), err
}
