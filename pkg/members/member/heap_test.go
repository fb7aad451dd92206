// SPDX-License-Identifier: Apache-2.0

package member

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/klog/v2"

	"github.com/fleetscale/fleetscale/pkg/members/memberstest"
	"github.com/fleetscale/fleetscale/pkg/registration/registrationtest"
)

const (
	idleMembers = 100
	// mostPerMember is what an idle member may cost: its open TLS connection,
	// goroutines, registration and metrics.
	mostPerMember = 100 << 10
	// serveVariable in the environment makes the test binary serve the fleet:
	// what servers use must not be counted.
	serveVariable = "FLEETSCALE_TEST_SERVE_FLEET"
)

// TestServeFleet is the other process of TestMemoryPerMember.
func TestServeFleet(t *testing.T) {
	how := os.Getenv(serveVariable)
	if how == "" {
		t.Skip("only for TestMemoryPerMember")
	}
	hub := memberstest.NewHub(t)
	hub.Karmada = how == "Clusters"
	members := newFakeMember(t, "")
	members.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		prefix, _, _ := strings.Cut(strings.TrimPrefix(req.URL.Path, "/"), "/")
		memberstest.Answer(w, memberstest.KubeSystem(prefix))
	})
	for i := range idleMembers {
		name := fmt.Sprintf("member-%d", i)
		if hub.Karmada {
			hub.Put(t, members.karmadaSecret(name))
			hub.Put(t, karmadaObject(members, name, func(spec map[string]any) { spec["apiEndpoint"] = members.URL + "/" + name }))
			continue
		}
		hub.Put(t, registrationtest.Secret(members.kubeconfig(t,
			registrationtest.OnCluster(func(c *clientcmdapi.Cluster) { c.Server = members.URL + "/" + name })),
			registrationtest.Named(name)))
	}
	fmt.Println("serving", hub.URL)
	_, _ = io.ReadAll(os.Stdin) // until the parent closes it
}

func TestMemoryPerMember(t *testing.T) {
	for _, how := range []string{"Secrets", "Clusters"} {
		t.Run(how, func(t *testing.T) { measure(t, how) })
	}
}

func measure(t *testing.T, how string) {
	hub := &memberstest.Hub{Server: &httptest.Server{URL: serveFleet(t, how)}}
	o := optionsOf(t, hub)
	o.Connections.Timeout, o.ProbePeriod = 10*time.Second, time.Second
	before := inUse()
	r := &running{Registry: New(o), t: t}
	memberstest.Run(klog.NewContext(t.Context(), klog.Logger{}), t, r.Run) // kept logs would be counted
	memberstest.Eventually(t, fmt.Sprint(idleMembers), func() string { return fmt.Sprint(strings.Count(r.summary(), "=Ready")) })
	perMember := (int64(inUse()) - int64(before)) / idleMembers
	t.Logf("%d bytes for each of %d idle members registered by %s", perMember, idleMembers, how)
	if perMember > raceFactor*mostPerMember {
		t.Errorf("an idle member costs %d bytes, want %d at most", perMember, mostPerMember)
	}
}

func serveFleet(t *testing.T, how string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestServeFleet$")
	cmd.Env = append(os.Environ(), serveVariable+"="+how)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		_ = cmd.Wait() // it is killed with the test's context, if it has not ended by itself
	})
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if url, found := strings.CutPrefix(lines.Text(), "serving "); found {
			return url
		}
	}
	t.Fatal("the serving process ended early")
	return ""
}

func inUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
