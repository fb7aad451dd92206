// SPDX-License-Identifier: Apache-2.0

package doctor_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fleetscale/fleetscale/test/fixture"
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
	m := &mirror{}
	proxy, err := fixture.Mirror(of, func() string {
		if m.behaves().same {
			return ""
		}
		return "of-the-mirror"
	})
	if err != nil {
		return nil, err
	}
	identify := proxy.ModifyResponse
	proxy.ModifyResponse = func(answer *http.Response) error {
		if at, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
			answer.Header.Set("Date", at.Add(m.behaves().ahead).Format(http.TimeFormat))
		}
		return identify(answer)
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
	config.Clusters["c"] = fixture.ServedAt(m.URL, m.Certificate())
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "x"
	return clientcmd.Write(*config)
}
