// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
)

// endpoint is where a cluster's API server is and how to be let in. The
// configuration holds data only, no functions, so that it can be compared.
type Endpoint struct {
	Config *rest.Config
	Proxy  *url.URL // nil: as the environment says
	// ProxyHeader is sent to the proxy.
	ProxyHeader map[string][]string
	// Trusted is true if the configuration is the administrator's, and not of a registration: what it runs inherits the environment.
	Trusted bool
}

// below is the same server, asked below /apis and these segments, which are such as names of the API are.
func (e Endpoint) below(segments ...string) Endpoint {
	server, ok := parseServer(e.Config.Host)
	if !ok {
		return e // whoever prepares a connection says what is wrong with it
	}
	config := *e.Config
	config.Host = server.JoinPath(append([]string{"apis"}, segments...)...).String()
	e.Config = &config
	return e
}

// Digest tells two endpoints apart. Objects change for many reasons; only a
// change of the digest is a change of connection.
func (e Endpoint) Digest() [sha256.Size]byte {
	c := e.Config
	plain := struct {
		Host               string
		TLS                rest.TLSClientConfig
		CA, Cert, Key      []byte // TLSClientConfig's own encoding leaves nothing out, but may come to
		Token, TokenFile   string
		Username, Password string
		Impersonate        rest.ImpersonationConfig
		Exec               any
		Proxy              string
		ProxyHeader        map[string][]string
		DisableCompression bool
		Trusted            bool
	}{
		Host: c.Host, TLS: c.TLSClientConfig, CA: c.CAData, Cert: c.CertData, Key: c.KeyData,
		Token: c.BearerToken, TokenFile: c.BearerTokenFile,
		Username: c.Username, Password: c.Password,
		Impersonate: c.Impersonate, ProxyHeader: e.ProxyHeader, DisableCompression: c.DisableCompression,
		Trusted: e.Trusted,
	}
	if e.Proxy != nil {
		plain.Proxy = e.Proxy.String()
	}
	if exec := c.ExecProvider; exec != nil {
		plain.Exec = *exec
	}
	encoded, err := json.Marshal(plain)
	if err != nil {
		panic(fmt.Sprintf("an endpoint is plain data and can be encoded: %v", err))
	}
	return sha256.Sum256(encoded)
}

// Way is where the endpoint leads to, whatever it is let in by: two of the same way reach the same cluster. Empty: headers to a
// proxy may decide that.
func (e Endpoint) Way() string {
	server, ok := parseServer(e.Config.Host)
	if !ok || len(e.ProxyHeader) > 0 {
		return ""
	}
	port := server.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[server.Scheme]
	}
	proxy := ""
	if e.Proxy != nil {
		proxy = e.Proxy.Redacted() // a short password could be guessed from a hash
	}
	encoded, err := json.Marshal([]string{
		server.Scheme, strings.ToLower(server.Hostname()), port, strings.TrimRight(server.Path, "/"), e.Config.ServerName, proxy,
	})
	if err != nil {
		panic(fmt.Sprintf("texts can be encoded: %v", err))
	}
	sum := sha256.Sum256(encoded)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Address is the host of the endpoint's server, and the port where one is given; empty: there is none. It holds no path, and so nothing
// secret.
func (e Endpoint) Address() string {
	if e.Config == nil {
		return ""
	}
	server, ok := parseServer(e.Config.Host)
	if !ok {
		return ""
	}
	return server.Host
}

// NamesAuthority is true when the endpoint itself gives the certificate authority by which its server is verified, and nothing says
// that the server stands before several clusters. Then that authority tells the cluster from others.
func (e Endpoint) NamesAuthority() bool {
	server, ok := parseServer(e.Config.Host)
	return ok && server.Scheme == "https" && strings.Trim(server.Path, "/") == "" &&
		len(e.Config.CAData) > 0 && !e.Config.Insecure && e.Config.ServerName == ""
}

// parseServer reads an API server's address. An address without a scheme is https.
func parseServer(server string) (u *url.URL, ok bool) {
	if !strings.Contains(server, "://") {
		server = "https://" + server
	}
	u, err := url.Parse(server)
	if err != nil || u.Hostname() == "" || u.User != nil || (u.Scheme != "https" && u.Scheme != "http") {
		return nil, false
	}
	return u, true
}

// parseProxy reads a proxy's address, which may hold a user and password. The
// empty address is none.
func parseProxy(proxy string) (u *url.URL, ok bool) {
	if proxy == "" {
		return nil, true
	}
	u, err := url.Parse(proxy)
	if err != nil || u.Hostname() == "" || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) {
		return nil, false
	}
	return u, true
}

// certificateFaults returns what is wrong with the certificates, without showing any of them.
func certificateFaults(c rest.TLSClientConfig) []string {
	var faults []string
	if len(c.CAData) > 0 && !x509.NewCertPool().AppendCertsFromPEM(c.CAData) {
		faults = append(faults, "the certificate authority holds no PEM certificate")
	}
	if (len(c.CertData) > 0) != (len(c.KeyData) > 0) && c.CertFile == "" && c.KeyFile == "" {
		faults = append(faults, "client certificate and client key must be given together")
	}
	if len(c.CertData) > 0 && len(c.KeyData) > 0 {
		if _, err := tls.X509KeyPair(c.CertData, c.KeyData); err != nil {
			faults = append(faults, "client certificate and client key are no matching pair in PEM")
		}
	}
	return faults
}
