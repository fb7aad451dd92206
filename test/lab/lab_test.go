// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	metrics "k8s.io/metrics/pkg/client/clientset/versioned"

	"github.com/fleetscale/fleetscale/test/lab/internal/process"
)

// patience is for whatever needs a few scrapes, on a busy machine.
const patience = 3 * time.Minute

// longOutage is longer than the leases of nodes are good for.
const longOutage = 75 * time.Second

// step is something that can be done to a lab, or to its member east.
type step struct {
	name string
	test func(*testing.T, *Lab, *Cluster)
}

// TestLab starts one lab with one member and goes through all that can be done
// to it, in order; what has its own processes and accounts, while Pods are
// measured. With -short the outage of an API server is short.
func TestLab(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	l, err := Up(t.Context(), Options{
		Dir:              t.TempDir(),
		Members:          []Member{{Name: "east", Nodes: 1}},
		MetricResolution: 10 * time.Second,
		Log:              &log,
	})
	if err != nil {
		t.Fatalf("Up: %v\n%s", err, log.String())
	}
	t.Cleanup(func() {
		if err := l.Down(); err != nil {
			t.Errorf("Down: %v", err)
		}
	})
	east, err := l.Cluster("east")
	if err != nil {
		t.Fatal(err)
	}
	for _, steps := range [][]step{
		{{"all metrics APIs answer at once", testAPIs}},
		{{"questions for metrics are counted", testQuestions}},
		{
			{"pods use what is set", testUsage},
			{"pods are resized", testResize},
			{"programs run as part of the lab", testPrograms},
			{"tokens expire when they should", testTokens},
			{"a member joins", testAddMember},
		},
		{{"a frozen API server is silent and comes back", testFreeze}},
		{{"a stopped API server comes back with its metrics", testStop}},
		{{"another process finds the lab", testLoad}},
		{{"kubectl knows every cluster", testKubectl}},
		{{"down leaves no process", testDown}},
	} {
		if sideBySide(t, l, east, steps); t.Failed() {
			return // what follows builds on it
		}
	}
}

func sideBySide(t *testing.T, l *Lab, east *Cluster, steps []step) {
	var all sync.WaitGroup
	for _, step := range steps {
		all.Go(func() {
			t.Run(step.name, func(t *testing.T) { step.test(t, l, east) })
		})
	}
	all.Wait()
}

// eventually waits until check finds nothing wrong.
func eventually(t *testing.T, timeout time.Duration, check func(context.Context) error) {
	t.Helper()
	last := errors.New("not asked")
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, timeout, true, func(ctx context.Context) (bool, error) {
		last = check(ctx)
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("after %v: %v", timeout, last)
	}
}

func clients(t *testing.T, c *Cluster) (*kubernetes.Clientset, *metrics.Clientset) {
	t.Helper()
	config, err := c.RESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	config.Timeout = 2 * time.Second
	return kubernetes.NewForConfigOrDie(config), metrics.NewForConfigOrDie(config)
}

func testAPIs(t *testing.T, _ *Lab, c *Cluster) {
	setMetrics(t, c)
	for path, want := range map[string]string{
		"/apis/metrics.k8s.io/v1beta1/nodes":                                                        `"name":"east-node1"`,
		"/apis/custom.metrics.k8s.io/v1beta1/namespaces/default/services/kubernetes/requests":       `"value":"42"`,
		"/apis/custom.metrics.k8s.io/v1beta2/namespaces/default/services/%2A/requests":              `"value":"42"`,
		"/apis/custom.metrics.k8s.io/v1beta2/namespaces/default/metrics/quota":                      `"value":"1500m"`,
		"/apis/custom.metrics.k8s.io/v1beta2/nodes/east-node1/watts":                                `"value":"300"`,
		"/apis/custom.metrics.k8s.io/v1beta2":                                                       `"services/requests"`,
		"/apis/external.metrics.k8s.io/v1beta1/namespaces/default/queue?labelSelector=name%3Dmail":  `"value":"18"}]`,
		"/apis/external.metrics.k8s.io/v1beta1/namespaces/default/queue?labelSelector=name%3Dprint": `"value":"3"}]`,
		"/apis/external.metrics.k8s.io/v1beta1/namespaces/default/queue?labelSelector=name%3Dfax":   `"items":[]`,
	} {
		client, _ := clients(t, c)
		got, err := client.CoreV1().RESTClient().Get().RequestURI(path).DoRaw(t.Context())
		if err != nil || !strings.Contains(string(got), want) {
			t.Errorf("GET %s = %s, %v; want %s in it", path, got, err, want)
		}
	}
}

// setMetrics tells of a namespaced object, of a namespace, of an object in none,
// and of what is no object.
func setMetrics(t *testing.T, c *Cluster) {
	t.Helper()
	for _, figure := range []Figure{
		{Namespace: "default", Resource: "services", Object: "kubernetes", Metric: "requests", Value: *quantity("42")},
		{Resource: "namespaces", Object: "default", Metric: "quota", Value: *quantity("1500m")},
		{Resource: "nodes", Object: "east-node1", Metric: "watts", Value: *quantity("300")},
	} {
		if err := c.SetFigure(t.Context(), figure); err != nil {
			t.Fatal(err)
		}
	}
	for _, series := range []Series{
		{Metric: "queue", Labels: map[string]string{"name": "mail"}, Value: *quantity("17")},
		{Metric: "queue", Labels: map[string]string{"name": "mail"}, Value: *quantity("18")},
		{Metric: "queue", Labels: map[string]string{"name": "print"}, Value: *quantity("3")},
	} {
		if err := c.SetSeries(t.Context(), series); err != nil {
			t.Fatal(err)
		}
	}
}

// testQuestions counts what is asked for metrics, exactly, and nothing else.
func testQuestions(t *testing.T, _ *Lab, c *Cluster) {
	ask := func(path string) {
		client, _ := clients(t, c)
		_, _ = client.CoreV1().RESTClient().Get().RequestURI(path).DoRaw(t.Context()) // also what fails was asked
	}
	before, err := c.Questions()
	if err != nil {
		t.Fatal(err)
	}
	const unknown = "/apis/external.metrics.k8s.io/v1beta1/namespaces/default/unknown?labelSelector=a%3Db"
	const service = "/apis/custom.metrics.k8s.io/v1beta1/namespaces/default/services/nobody/requests"
	for _, path := range []string{unknown, "/apis/custom.metrics.k8s.io/v1beta2", "/api/v1/namespaces/default", service} {
		ask(path)
	}
	after, err := c.Questions()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, question := range after[len(before):] {
		got = append(got, strings.TrimRight(strings.TrimSuffix(question.URI, "timeout=2s"), "?&"))
	}
	if want := []string{unknown, service}; !slices.Equal(got, want) {
		t.Errorf("the questions were %q, want %q", got, want)
	}
}

func testUsage(t *testing.T, _ *Lab, c *Cluster) {
	client, _ := clients(t, c)
	for _, app := range []string{"web", "batch"} {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: app, Labels: map[string]string{"app": app}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "none"}}},
		}
		eventually(t, patience, func(ctx context.Context) error { // the namespace's service account may be a moment late
			_, err := client.CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{})
			return err
		})
	}
	awaitUsage(t, c, map[string]string{"web": "100m 128Mi", "batch": "100m 128Mi"})
	setUsage(t, c, Usage{CPU: quantity("250m")})
	setUsage(t, c, Usage{Namespace: "default", Labels: map[string]string{"app": "web"}, CPU: quantity("400m"), Memory: quantity("100Mi")})
	awaitUsage(t, c, map[string]string{"web": "400m 100Mi", "batch": "250m 128Mi"})
}

func setUsage(t *testing.T, c *Cluster, usage Usage) {
	t.Helper()
	if err := c.SetUsage(t.Context(), usage); err != nil {
		t.Fatalf("SetUsage: %v", err)
	}
}

// awaitUsage waits until the pods' metrics are these, but for the few
// thousandths by which two clocks differ.
func awaitUsage(t *testing.T, c *Cluster, want map[string]string) {
	t.Helper()
	_, client := clients(t, c)
	eventually(t, patience, func(ctx context.Context) error {
		list, err := client.MetricsV1beta1().PodMetricses("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		got := map[string]string{}
		for _, pod := range list.Items {
			usage := pod.Containers[0].Usage
			got[pod.Name] = fmt.Sprintf("%dm %s", roundMilli(usage.Cpu()), usage.Memory())
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Errorf("usage is %v, want %v", got, want)
		}
		return nil
	})
}

func roundMilli(q *resource.Quantity) int64 { return (q.MilliValue() + 5) / 10 * 10 }

func nodes(t *testing.T, c *Cluster) error {
	t.Helper()
	client, _ := clients(t, c)
	_, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	return err
}

func testFreeze(t *testing.T, _ *Lab, c *Cluster) {
	if err := c.Freeze(); err != nil {
		t.Fatalf("Freeze: %v", err)
	}
	if err := nodes(t, c); err == nil || !strings.Contains(err.Error(), "deadline exceeded") && !strings.Contains(err.Error(), "Timeout") {
		t.Errorf("asking a frozen API server: error = %v, want a timeout", err)
	}
	if err := c.Thaw(); err != nil {
		t.Fatalf("Thaw: %v", err)
	}
	eventually(t, patience, func(context.Context) error { return nodes(t, c) })
}

func testStop(t *testing.T, _ *Lab, c *Cluster) {
	if err := c.Stop(); err != nil {
		t.Fatalf("Stop: %v", err)
	}
	if err := nodes(t, c); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("asking a stopped API server: error = %v, want a refused connection", err)
	}
	if state, pid, err := c.apiServer().State(); err != nil || state != "stopped" || pid != 0 {
		t.Errorf("State = %s, %d, %v; want stopped", state, pid, err)
	}
	if !testing.Short() {
		<-time.After(longOutage)
	}
	if err := c.Start(t.Context()); err != nil {
		t.Fatalf("Start: %v", err)
	}
	since := metav1.Now()
	_, client := clients(t, c)
	eventually(t, patience, func(ctx context.Context) error {
		list, err := client.MetricsV1beta1().NodeMetricses().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(list.Items) != 1 || list.Items[0].Timestamp.Before(&since) {
			return fmt.Errorf("metrics are not from after the start: %v", list.Items)
		}
		return nil
	})
	awaitUsage(t, c, map[string]string{"web": "400m 100Mi", "batch": "250m 128Mi"})
}

func testPrograms(t *testing.T, l *Lab, _ *Cluster) {
	ports, err := l.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.Run(t.Context(), Program{
		Name: "failing", Path: "/bin/sh", Args: []string{"-c", "echo no such flag; exit 2"},
		Ready: HTTPReady(fmt.Sprintf("http://127.0.0.1:%d", ports[0])),
	})
	if err == nil || !strings.Contains(err.Error(), "failing died; the last lines of "+l.Dir()+"/logs/failing.log:\n  no such flag") {
		t.Errorf("running a program that fails: error = %v", err)
	}
	sleeper, err := l.Run(t.Context(), Program{Name: "sleeper", Path: "/bin/sh", Args: []string{"-c", `echo $GREETING; exec sleep 600`},
		Env: []string{"GREETING=hello"}})
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	if err := errors.Join(sleeper.Stop(), sleeper.Start(t.Context()), sleeper.Freeze()); err != nil {
		t.Fatalf("stopping, starting, freezing: %v", err)
	}
	if state, _, err := sleeper.State(); err != nil || state != "frozen" {
		t.Errorf("State = %s, %v; want frozen", state, err)
	}
}

func testTokens(t *testing.T, l *Lab, _ *Cluster) {
	hub := l.Hub()
	ask := func(ctx context.Context, ttl time.Duration) func(context.Context) error {
		kubeconfig, err := hub.AccountKubeconfig(ctx, "kube-system", "default", ttl)
		if err != nil {
			t.Fatal(err)
		}
		config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
		if err != nil {
			t.Fatal(err)
		}
		client := kubernetes.NewForConfigOrDie(config)
		return func(ctx context.Context) error {
			_, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
			return err
		}
	}
	if err := ask(t.Context(), time.Minute)(t.Context()); !apierrors.IsForbidden(err) {
		t.Errorf("with a good token of an account without rights: error = %v, want forbidden", err)
	}
	withShort := ask(t.Context(), time.Second)
	eventually(t, patience, func(ctx context.Context) error {
		if err := withShort(ctx); !apierrors.IsUnauthorized(err) {
			return fmt.Errorf("with an expired token: error = %w, want unauthorized", err)
		}
		return nil
	})
}

func testAddMember(t *testing.T, l *Lab, _ *Cluster) {
	if _, err := l.AddMember(t.Context(), Member{Name: "east"}, nil); err == nil {
		t.Error("a member joined under a name that is taken")
	}
	west, err := l.AddMember(t.Context(), Member{Name: "west", Nodes: 3, WithoutMetricsServer: true, WithoutTestAdapter: true}, nil)
	if err != nil {
		t.Fatalf("AddMember: %v", err)
	}
	client, metricsClient := clients(t, west)
	list, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 3 {
		t.Errorf("west has %d nodes, %v; want 3", len(list.Items), err)
	}
	if _, err := metricsClient.MetricsV1beta1().NodeMetricses().List(t.Context(), metav1.ListOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("metrics of a member without metrics-server: error = %v, want not found", err)
	}
	if west.MetricsServerURL != "" || west.ValuesURL != "" {
		t.Errorf("west names servers that it does not have: %+v", west)
	}
}

func testLoad(t *testing.T, l *Lab, _ *Cluster) {
	loaded, err := Load(l.Dir())
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	for _, name := range []string{"hub", "east", "west"} {
		ours, ourErr := l.Cluster(name)
		theirs, theirErr := loaded.Cluster(name)
		if err := errors.Join(ourErr, theirErr); err != nil {
			t.Fatal(err)
		}
		if ours.URL != theirs.URL || ours.ValuesURL != theirs.ValuesURL || ours.MetricsServerURL != theirs.MetricsServerURL {
			t.Errorf("Load has %+v, want %+v", theirs, ours)
		}
	}
	if _, err := loaded.Cluster("north"); err == nil || err.Error() != `no cluster is called "north"; there are ["hub" "east" "west"]` {
		t.Errorf("a cluster that is not there: error = %v", err)
	}
}

func testKubectl(t *testing.T, l *Lab, _ *Cluster) {
	out, err := l.Kubectl(t.Context(), "--context", "east", "top", "pods").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "web") {
		t.Errorf("kubectl top pods: %v\n%s", err, out)
	}
	if out, err = l.Kubectl(t.Context(), "config", "get-contexts", "-o", "name").CombinedOutput(); err != nil ||
		string(out) != "east\nhub\nwest\n" {
		t.Errorf("kubectl config get-contexts: %v\n%s", err, out)
	}
}

func testDown(t *testing.T, l *Lab, _ *Cluster) {
	records, err := l.table.Records()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a second time does nothing
		if err := l.Down(); err != nil {
			t.Fatalf("Down: %v", err)
		}
	}
	for _, record := range records {
		if state := record.State(); state != process.Died && state != process.Stopped {
			t.Errorf("%s is %s", record.Name, state)
		}
	}
	if len(records) < 10 {
		t.Errorf("only %d programs ran", len(records))
	}
}

const ownedDirVariable = "LAB_TEST_OWNED_DIR"

// TestOwner is no test: it is the program that TestTheLabEndsWithItsOwner runs.
func TestOwner(t *testing.T) {
	dir := os.Getenv(ownedDirVariable)
	if dir == "" {
		t.Skip("only runs as a part of TestTheLabEndsWithItsOwner")
	}
	l, err := Up(t.Context(), Options{Dir: dir, Log: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Hub().Freeze(); err != nil { // the hardest to end
		t.Fatal(err)
	}
	runtime.GC() // the lab stays although nothing refers to it from here on
	if err := os.WriteFile(filepath.Join(dir, "lab.json.up"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	select {}
}

func TestTheLabEndsWithItsOwner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	t.Cleanup(func() {
		if err := Down(dir); err != nil {
			t.Errorf("Down: %v", err)
		}
	})
	var output bytes.Buffer
	owner := exec.Command(os.Args[0], "-test.run=^TestOwner$")
	owner.Env = append(os.Environ(), ownedDirVariable+"="+dir)
	owner.Stdout, owner.Stderr = &output, &output
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- owner.Wait() }()
	eventually(t, patience, func(context.Context) error {
		select {
		case err := <-ended:
			t.Fatalf("the owner ended by itself: %v\n%s", err, output.String())
		default:
		}
		_, err := os.Stat(filepath.Join(dir, "lab.json.up"))
		return err
	})
	records, err := process.Open(dir).Records()
	if err != nil || len(records) != 3 {
		t.Fatalf("%d programs run, %v; want etcd and two of the hub", len(records), err)
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, patience, func(context.Context) error {
		for _, record := range records {
			if state := record.State(); state != process.Died {
				return fmt.Errorf("%s is %s", record.Name, state)
			}
		}
		return nil
	})
}
