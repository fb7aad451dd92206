// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"fmt"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fleetscale/fleetscale/test/fixture"
	"github.com/fleetscale/fleetscale/test/lab"
)

// 50 clusters join by one command within a minute, until the hub reaches all of them, and leave. Each is simulated: a server of its
// own, which tells a uid of its own, and is otherwise the cluster west.
func TestFiftyJoin(t *testing.T) {
	const members, most = 50, time.Minute
	e := shared.Of(t)
	backend, err := e.Cluster(west)
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := e.simulated(t, backend, members)
	begin := time.Now()
	s, err := e.types(t.Context(), kubeconfig, "join", "--contexts", "prod-*", "--allow-local-members", "--yes")
	took := time.Since(begin)
	if err != nil {
		t.Fatalf("%v\n%s", err, s.progress)
	}
	if joined := strings.Count(s.out, " joined\n"); joined != members {
		t.Errorf("%d joined:\n%s", joined, s.out)
	}
	t.Logf("%d simulated members joined in %.1f s", members, took.Seconds())
	if took > most {
		t.Errorf("it took %v; want %v at most", took, most)
	}
	said, err := e.Ask(t.Context(), "get", "--raw", "/apis/metrics.k8s.io/v1beta1/nodes?labelSelector=fleetscale.io/cluster%3Dprod-49", "-v=8")
	if err != nil {
		t.Error(err)
	}
	if !strings.Contains(said.Stderr, "absent=prod-49") && !strings.Contains(said.Stderr, "answered=prod-49") {
		t.Errorf("the hub does not reach prod-49:\n%s", said.Stderr)
	}
	for i := range members {
		if s, err := e.types(t.Context(), kubeconfig, "leave", fmt.Sprintf("prod-%02d", i), "--yes"); err != nil {
			t.Errorf("%v\n%s", err, s.progress)
		}
	}
}

// simulated serves so many members, and returns a kubeconfig with their contexts, prod-00 and so on, in which the hub's is the current
// one.
func (e *env) simulated(t *testing.T, backend *lab.Cluster, members int) (file string) {
	t.Helper()
	config, err := clientcmd.LoadFromFile(e.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"create serviceaccount person", "create clusterrolebinding person --clusterrole=cluster-admin " +
		"--serviceaccount=kube-system:person"} {
		if _, err := e.Ask(t.Context(), append([]string{"--context", west, "-n", "kube-system"}, strings.Fields(args)...)...); err != nil {
			t.Fatal(err)
		}
	}
	token, err := backend.ServiceAccountToken(t.Context(), "kube-system", "person", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	config.AuthInfos["person"] = &clientcmdapi.AuthInfo{Token: token}
	for i := range members {
		name := fmt.Sprintf("prod-%02d", i)
		mirror, err := fixture.Mirror(backend, func() string { return name })
		if err != nil {
			t.Fatal(err)
		}
		s := httptest.NewTLSServer(mirror)
		t.Cleanup(s.Close)
		s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
		config.Clusters[name] = fixture.ServedAt(s.URL, s.Certificate())
		config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: "person"}
	}
	file = filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return file
}
