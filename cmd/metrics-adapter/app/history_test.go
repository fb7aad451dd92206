// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/fleetscale/fleetscale/pkg/certs"
	"github.com/fleetscale/fleetscale/pkg/recording"
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
		hub     kubernetes.Interface
		address string
		want    string
	}{
		"the leader":                 {hub, address, "the record of shop/cart"},
		"nobody tells of a record":   {hub, "", errNobody.Error()},
		"somebody of another hub":    {hub, others, "failed to verify certificate"},
		"a leader of another hub":    {other, address, "failed to verify certificate"},
		"nobody listens":             {hub, "127.0.0.1:1", "connection refused"},
		"there is no certificate":    {fake.NewClientset(), address, "getting Secret fleetscale-system/record-certificate"},
		"the certificate is not yet": {hubWithSecret(), address, "holds no authority yet"},
	} {
		t.Run(name, func(t *testing.T) {
			history := newHistory(NewOptions(), tc.hub, func(time.Time) string { return tc.address })
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
