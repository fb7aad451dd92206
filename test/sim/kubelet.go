// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	kubeletPrefix = "/metrics/nodes/"
	kubeletSuffix = "/metrics/resource"
)

func kubeletPath(node string) string { return kubeletPrefix + node + kubeletSuffix }

func isKubelet(path string) bool {
	return strings.HasPrefix(path, kubeletPrefix) && strings.HasSuffix(path, kubeletSuffix)
}

// serveKubelet tells what a kubelet tells a metrics-server. Counters rise as
// if each Pod had always used what it uses now.
func (m *Member) serveKubelet(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, kubeletPrefix), kubeletSuffix)
	m.world.mu.RLock()
	defer m.world.mu.RUnlock()
	if _, found := m.world.shelves["nodes"].find(key{name: name}); !found {
		refuse(w, r, apierrors.NewNotFound(schema.GroupResource{Resource: "nodes"}, name))
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	now := time.Now()
	age := now.Sub(m.world.born).Seconds() + 1
	fmt.Fprintf(w, "# TYPE node_cpu_usage_seconds_total counter\nnode_cpu_usage_seconds_total %f %d\n", age, now.UnixMilli())
	fmt.Fprintf(w, "# TYPE node_memory_working_set_bytes gauge\nnode_memory_working_set_bytes %d %d\n", 1<<30, now.UnixMilli())
	m.world.eachContainer(name, w, "container_cpu_usage_seconds_total", "counter", now, func(p *pod) float64 {
		return float64(p.of.Usage.CPU.ScaledValue(resource.Nano)) / 1e9 * (now.Sub(time.Unix(p.born, 0)).Seconds() + 1)
	})
	m.world.eachContainer(name, w, "container_memory_working_set_bytes", "gauge", now,
		func(p *pod) float64 { return p.of.Usage.Memory.AsApproximateFloat64() })
}

func (w *world) eachContainer(node string, out io.Writer, metric, kind string, now time.Time, value func(*pod) float64) {
	fmt.Fprintf(out, "# TYPE %s %s\n", metric, kind)
	for e := range w.shelves["pods"].after("", key{}) {
		p := e.(*pod)
		if p.node() != node {
			continue
		}
		for i := range p.of.Containers {
			fmt.Fprintf(out, "%s{container=%q,namespace=%q,pod=%q} %f %d\n", metric, containerName(i), p.of.Namespace, p.name, value(p),
				now.UnixMilli())
		}
	}
}
