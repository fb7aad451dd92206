// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/test/lab"
)

// Custom and external metrics of the hub come from an adapter that knows nothing
// of clusters. Its answers do.
func (s *stage) foreignAdapter() {
	foreign := s.startForeign()
	s.kind = "StatefulSet"
	for i := range 2 {
		figure := lab.Figure{Namespace: s.ns, Resource: "pods", Object: fmt.Sprintf("web-%d", i), Metric: "rps", Value: resource.MustParse("30")}
		if err := foreign.SetFigure(s.t.Context(), figure); err != nil {
			s.t.Fatal(err)
		}
	}
	s.apply("hub", webOf(s.kind, 2, false)) // for the adapter knows only Pods that the hub lists
	s.runIn(2, "member1")
	where := "clusterAffinity: {clusterNames: [member1]}, replicaDistribution: {}"
	s.autoscale("minReplicas: 1, maxReplicas: 12, metrics: [" + byRPS + ", " + s.byQueue(10) + "], " + where)
	s.runs("member1 6")
	s.comes("the one metric counts without the other", says(active+"=True/ValidMetricFound", "pods metric rps"))
	lengthen := func(queue string) {
		if err := foreign.SetSeries(s.t.Context(), lab.Series{Metric: s.ns + "-queue", Value: resource.MustParse(queue)}); err != nil {
			s.t.Fatal(err)
		}
	}
	lengthen("80")
	s.runs("member1 8")
	s.comes("both count", isIn(v1alpha1.StateActive), says(active+"=True/ValidMetricFound", "external metric fed-foreign-queue"))

	// Now there are two Pods of each name, and no saying whose a figure is.
	s.runIn(2, "member2")
	s.change(`{"spec":{"clusterAffinity":{"clusterNames":["member1","member2"]}}}`)
	lengthen("120") // a metric that fails allows others to add replicas, and not to take any away
	s.runs("member1 8, member2 4")
	s.comes("the figures are of nobody", hasClusters("member1 Active 8, member2 Active 4"),
		says(active+"=True/ValidMetricFound", "external metric fed-foreign-queue"))
	s.hasEvent("Warning", "FailedGetPodsMetric", "did not receive metrics for targeted pods")
}

// startForeign runs a custom metrics adapter of the hub, and has the hub ask it
// in place of ours until the case ends.
func (s *stage) startForeign() *lab.Cluster {
	s.t.Helper()
	const name = "foreign-adapter"
	hub, dir := s.Hub(), filepath.Join(s.dir, name)
	programs, err := lab.Build(s.t.Context(), os.Stderr)
	if err != nil {
		s.t.Fatal(err)
	}
	ports, err := s.FreePorts(2)
	if err != nil {
		s.t.Fatal(err)
	}
	pair, err := hub.ServingCertificate(name+".kube-system.svc", "localhost", "127.0.0.1")
	if err != nil {
		s.t.Fatal(err)
	}
	certFile, keyFile, err := pair.Write(dir, name)
	if err != nil {
		s.t.Fatal(err)
	}
	process, err := s.Run(s.t.Context(), lab.Program{
		Name: name, Path: filepath.Join(programs, "test-adapter"), Ready: lab.HTTPReady(fmt.Sprintf("https://127.0.0.1:%d/livez", ports[0])),
		Args: []string{
			"--authentication-kubeconfig=" + hub.Kubeconfig, "--authorization-kubeconfig=" + hub.Kubeconfig, "--lister-kubeconfig=" + hub.Kubeconfig,
			"--tls-cert-file=" + certFile, "--tls-private-key-file=" + keyFile,
			"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", ports[0]), fmt.Sprintf("--values-address=127.0.0.1:%d", ports[1]),
		},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if _, err := s.TakeOver(afterwards(s.t), s.adapter); err != nil {
			s.t.Error(err)
		}
		_ = process.Stop()
	})
	ca, err := hub.CA()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, api := range []lab.API{{Group: "custom.metrics.k8s.io", Version: "v1beta1"}, {Group: "custom.metrics.k8s.io", Version: "v1beta2"},
		{Group: "external.metrics.k8s.io", Version: "v1beta1"}} {
		api.Namespace, api.Service, api.Port, api.CABundle = "kube-system", name, ports[0], ca
		if err := hub.RegisterAPI(s.t.Context(), api); err != nil {
			s.t.Fatal(err)
		}
	}
	return &lab.Cluster{Name: name, ValuesURL: fmt.Sprintf("http://127.0.0.1:%d", ports[1])}
}
