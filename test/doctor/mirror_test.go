// SPDX-License-Identifier: Apache-2.0

package doctor_test

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fleetscale/fleetscale/test/lab"
)

// mirror is a cluster of its own to whoever asks: what stands behind it, with another uid, and as it is told to misbehave.
type mirror struct {
	*httptest.Server

	mu  sync.Mutex
	bad misbehaviour
}

// misbehaviour of a mirror; the zero value is none.
type misbehaviour struct {
	silent    bool          // no answer comes
	code      int           // of every answer; 0: of what stands behind
	ahead     time.Duration // of its clock
	unmetered bool          // there is no metrics.k8s.io
	same      bool          // it tells the uid of what stands behind
}

func newMirror(of *lab.Cluster) (*mirror, error) {
	authority, err := of.CA()
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(&rest.Config{Host: of.URL, TLSClientConfig: rest.TLSClientConfig{CAData: authority}})
	if err != nil {
		return nil, err
	}
	to, err := url.Parse(of.URL)
	if err != nil {
		return nil, err
	}
	m := &mirror{}
	proxy := &httputil.ReverseProxy{
		Transport: transport, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0), FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			if r.In.URL.Path == identity {
				r.Out.Header.Set("Accept", "application/json")
				r.Out.Header.Del("Accept-Encoding")
			}
		},
		ModifyResponse: m.alter,
	}
	m.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch bad := m.behaves(); {
		case bad.silent:
			<-r.Context().Done()
		case bad.code != 0:
			w.WriteHeader(bad.code)
		case bad.unmetered && strings.HasPrefix(r.URL.Path, "/apis/metrics.k8s.io"):
			http.NotFound(w, r)
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	m.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	return m, nil
}

// identity is where a cluster tells its uid.
const identity = "/api/v1/namespaces/kube-system"

var uid = regexp.MustCompile(`"uid":"[^"]*"`)

func (m *mirror) alter(answer *http.Response) error {
	bad := m.behaves()
	if at, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		answer.Header.Set("Date", at.Add(bad.ahead).Format(http.TimeFormat))
	}
	if answer.Request.URL.Path != identity || bad.same {
		return nil
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	body = uid.ReplaceAll(body, []byte(`"uid":"of-the-mirror"`))
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	answer.Header.Set("Content-Length", fmt.Sprint(len(body)))
	return nil
}

func (m *mirror) behaves() misbehaviour {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bad
}

func (m *mirror) misbehave(bad misbehaviour) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bad = bad
}

// kubeconfig leads there with a token.
func (m *mirror) kubeconfig(token string) ([]byte, error) {
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: m.URL, CertificateAuthorityData: pem.EncodeToMemory(
		&pem.Block{Type: "CERTIFICATE", Bytes: m.Certificate().Raw})}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "x"
	return clientcmd.Write(*config)
}
