// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/fleetscale/fleetscale/pkg/certs"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/recording/recordingtest"
	"github.com/fleetscale/fleetscale/pkg/recording/recordstore"
)

// leader serves a record as the controller-manager does that keeps the certificate on that hub.
func leader(t *testing.T, hub kubernetes.Interface) (address string) {
	t.Helper()
	settings := certs.NewSettings(recordstore.Secret)
	keeper := certs.New(certs.Options{
		Core: hub, Service: types.NamespacedName{Namespace: "fleetscale-system", Name: recordstore.Service}, Mutual: true, Settings: settings,
	})
	kept := make(chan struct{})
	keeper.OnChange(func() { close(kept) })
	go keeper.Run(t.Context())
	<-kept
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = io.WriteString(w, "the record of "+r.FormValue("namespace")+"/"+r.FormValue("name"))
	}))
	server.TLS = keeper.Server()
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func hubWithSecret() kubernetes.Interface {
	return fake.NewClientset(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "fleetscale-system", Name: recordstore.Secret}})
}

// Both programs show each other the certificate that is on the hub, and nothing else leads anywhere.
func TestHistoryIsOfTheLeader(t *testing.T) {
	hub, other := hubWithSecret(), hubWithSecret()
	address, others := leader(t, hub), leader(t, other)
	for name, tc := range map[string]struct {
		hub       kubernetes.Interface
		addresses []string
		want      string
	}{
		"the leader":                 {hub, []string{address}, "the record of shop/cart"},
		"nobody tells of a record":   {hub, nil, errNobody.Error()},
		"somebody of another hub":    {hub, []string{others}, "failed to verify certificate"},
		"a leader of another hub":    {other, []string{address}, "failed to verify certificate"},
		"one of two does not answer": {hub, []string{"127.0.0.1:1", address}, "the replica at 127.0.0.1:1: "},
		"one of two has no record":   {hub, []string{address, address}, "no record"},
		"nobody listens":             {hub, []string{"127.0.0.1:1"}, "connection refused"},
		"there is no certificate":    {fake.NewClientset(), []string{address}, "getting Secret fleetscale-system/record-certificate"},
		"the certificate is not yet": {hubWithSecret(), []string{address}, "holds no authority yet"},
	} {
		t.Run(name, func(t *testing.T) {
			history := newHistory(NewOptions(), tc.hub, func(time.Time) []string { return tc.addresses })
			record, err := history.Ask(t.Context(), recording.Object{Namespace: "shop", Name: "cart"}, time.Time{})
			got := ""
			if err == nil {
				var text []byte
				text, err = io.ReadAll(record)
				got, err = string(text), errors.Join(err, record.Close())
			}
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, tc.want) {
				t.Errorf("got %s\nwant %s", got, tc.want)
			}
		})
	}
}

// What each of several replicas recorded is one record; all that is open is closed.
func TestRecordOfSeveralReplicas(t *testing.T) {
	all := recordingtest.Hour(recordingtest.Start, "cart")
	var records []*recording.Record
	for d := recording.NewDecoder(bytes.NewReader(all)); ; {
		r, err := d.Next()
		if err != nil {
			break
		}
		records = append(records, r)
	}
	parts := map[string][]byte{
		"a": recordingtest.Stream(append(records[:80:80], records[160:]...)...), "b": recordingtest.Stream(records[80:160]...),
		"torn": all[:len(all)-1],
	}
	for name, tc := range map[string]struct {
		at    []string
		whole bool
	}{
		"both":                  {[]string{"a", "b"}, true},
		"one that is not whole": {[]string{"a", "torn"}, false},
		"one that is not there": {[]string{"a", "nowhere"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var open atomic.Int32
			record, err := askAll(tc.at, func(address string) (io.ReadCloser, error) {
				part, found := parts[address]
				if !found {
					return nil, errNobody
				}
				open.Add(1)
				return &closing{bytes.NewReader(part), func() { open.Add(-1) }}, nil
			})
			var got []byte
			if err == nil {
				got, err = io.ReadAll(record)
			}
			if whole := err == nil; whole != tc.whole || whole && !bytes.Equal(got, all) {
				t.Errorf("%d bytes of %d, %v", len(got), len(all), err)
			}
			if n := open.Load(); n != 0 {
				t.Errorf("%d are still open", n)
			}
		})
	}
}

type closing struct {
	io.Reader
	closed func()
}

func (c *closing) Close() error { c.closed(); return nil }
