// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"bytes"
	"errors"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
)

// SecretSource is the name of the source that is our labelled Secrets.
const SecretSource = "secret"

// Held is a credential that a registration Secret holds, or the one beside it, and where it stands.
type Held struct {
	// Namespace is that of the Secret, which has the registration's name.
	Namespace string
	// Key has the kubeconfig, and Context is the one that is used of it; empty: the current one.
	Key, Context string
	Kubeconfig   []byte
	Endpoint     Endpoint
}

// HeldIn returns the credential that the options' Access uses of a registration Secret; beside is that of its name in
// WriteNamespace, or nil. Without one that can be used the faults say why.
func HeldIn(o Options, registered, beside *corev1.Secret) (Held, []Fault) {
	s := &secret{ObjectMeta: registered.ObjectMeta, Data: registered.Data, options: o}
	_, s.holdsBoth = s.Data[s.key()+forReading]
	creds := Credentials{}
	if beside != nil {
		creds.Data = map[string][]byte{s.key(): beside.Data[s.key()]}
	}
	data, faults := s.kubeconfig(creds)
	if len(faults) > 0 {
		return Held{}, faults
	}
	h := Held{Namespace: s.Namespace, Key: s.used(), Context: s.Annotations[contextAnnotation], Kubeconfig: data}
	if s.beside(creds) {
		h.Namespace, h.Key = beside.Namespace, s.key()
	}
	h.Endpoint, faults = parseKubeconfig(data, h.Context, o.Policy)
	return h, faults
}

// Token is the one that the endpoint is let in by; empty: it is let in by something else.
func (e Endpoint) Token() string {
	c := e.Config
	if c.BearerTokenFile != "" || c.ExecProvider != nil || len(c.CertData) > 0 || c.CertFile != "" {
		return ""
	}
	return c.BearerToken
}

// WithToken is the same endpoint, let in by another token.
func (e Endpoint) WithToken(token string) Endpoint {
	config := *e.Config
	config.BearerToken = token
	e.Config = &config
	return e
}

// SameServer is true when both lead to one API server, by the same way, and verify it by the same authority: then what one is let
// in by may be sent to the other.
func (e Endpoint) SameServer(other Endpoint) bool {
	a, b := e.Config.TLSClientConfig, other.Config.TLSClientConfig
	return e.Way() != "" && e.Way() == other.Way() && a.Insecure == b.Insecure && a.CAFile == b.CAFile &&
		bytes.Equal(bytes.TrimSpace(a.CAData), bytes.TrimSpace(b.CAData))
}

var errNoToken = errors.New("the kubeconfig has no token that could be replaced")

// WithToken returns the kubeconfig with another token of the user that it is used as. Where the text allows it, nothing else of it
// changes, comments included.
func (h Held) WithToken(token string) ([]byte, error) {
	config, err := clientcmd.Load(h.Kubeconfig)
	if err != nil {
		return nil, errNoToken
	}
	_, user, faults := chooseContext(config, h.Context)
	if len(faults) > 0 || user.Token == "" {
		return nil, errNoToken
	}
	former := user.Token
	user.Token = token
	text := bytes.ReplaceAll(h.Kubeconfig, []byte(former), []byte(token))
	if again, err := clientcmd.Load(text); err == nil && reflect.DeepEqual(again, config) {
		return text, nil
	}
	return clientcmd.Write(*config)
}
