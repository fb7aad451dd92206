// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
)

const (
	hubName                 = "hub"
	defaultNodes            = 2
	defaultMetricResolution = 15 * time.Second
	// metrics-server refuses less.
	minMetricResolution = 10 * time.Second
)

// Options say what kind of lab to start. Only Dir has no default.
type Options struct {
	// Dir holds the lab's state, logs, keys, data and kubeconfigs. It is
	// created; it must be empty, or left by a lab that is down.
	Dir string
	// Hub is the cluster that our programs serve.
	Hub Hub
	// Members are the clusters that they ask. None is allowed.
	Members []Member
	// Karmada makes the hub a Karmada control plane. Nil is none.
	Karmada *Karmada
	// MetricResolution is the period of every metrics-server: 15s by default,
	// 10s or more.
	MetricResolution time.Duration
	// Log shows people what happens. Nil is silent.
	Log io.Writer
}

// Hub says what the hub runs beside its kube-apiserver. The zero value holds
// templates only, as a Karmada control plane does: Deployments get no pods.
type Hub struct {
	// Workloads gives the hub all that a member has, except the test-adapter:
	// nodes, pods, every controller with that of HorizontalPodAutoscalers, and
	// a metrics-server behind v1beta1.metrics.k8s.io.
	Workloads bool
	// RealNodes and Images are as in a Member. They need Workloads.
	RealNodes int
	Images    []string
	// WithoutMetricsServer leaves metrics.k8s.io unserved, as it is without Workloads.
	WithoutMetricsServer bool
	// ControllerManagerArgs are added to those of kube-controller-manager, such
	// as --horizontal-pod-autoscaler-sync-period=2s.
	ControllerManagerArgs []string
	// Recorded are groups of users whose requests [Cluster.Requests] and
	// [Cluster.Refused] tell.
	Recorded []string
	// RecordedWrites are groups of users of whose writes [Cluster.Writes] tells,
	// with what was stored.
	RecordedWrites []string
	// Kubernetes is as in a Member.
	Kubernetes string
}

// Member is one member cluster.
type Member struct {
	// Name is a DNS label, and not "hub".
	Name string
	// Nodes are played by kwok: 2 by default, and none by default if there are
	// real ones. A node holds 5000 pods.
	Nodes int
	// RealNodes have a kubelet and containerd in namespaces of their own, where
	// [RealNodesPossible]. Their Pods and Services reach each other, and all API
	// servers of the lab: see [Cluster.InsideURL].
	RealNodes int
	// Images are files that real nodes have, beside the [BurnImage]: what
	// "docker save" writes, or an OCI layout as one file.
	Images []string
	// WithoutMetricsServer leaves metrics.k8s.io unserved.
	WithoutMetricsServer bool
	// WithoutTestAdapter leaves custom and external metrics unserved.
	WithoutTestAdapter bool
	// ControllerManagerArgs are added to those of kube-controller-manager, such
	// as --horizontal-pod-autoscaler-sync-period=2s.
	ControllerManagerArgs []string
	// Recorded and RecordedWrites are as in the Hub.
	Recorded, RecordedWrites []string
	// Kubernetes is the minor version of its control plane, such as 1.36: one of those in test/kubernetes. Empty is the version of the lab, by
	// which kubectl, etcd and kwok are too. See [BuildKubernetes].
	Kubernetes string
	// Pull has the member join Karmada in Pull mode: an agent there does what the hub says. Otherwise, and by default, Karmada
	// reaches into the member.
	Pull bool
}

// Members returns n members, called member1 and so on.
func Members(n int) []Member {
	var members []Member
	for i := range n {
		members = append(members, Member{Name: fmt.Sprintf("member%d", i+1)})
	}
	return members
}

// complete returns the options with their defaults filled in.
func (o Options) complete() (Options, error) {
	if o.MetricResolution == 0 {
		o.MetricResolution = defaultMetricResolution
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	if err := o.validate(); err != nil {
		return Options{}, err
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return Options{}, fmt.Errorf("finding the lab's folder: %w", err)
	}
	o.Dir = dir
	o.Log = &synchronized{writer: o.Log}
	return o, nil
}

// validate returns every fault at once.
func (o Options) validate() error {
	var errs []error
	if o.Dir == "" {
		errs = append(errs, errors.New("the lab's folder (--dir) is not set: name one for its state, logs and kubeconfigs"))
	}
	if o.MetricResolution < minMetricResolution {
		errs = append(errs, fmt.Errorf("the metric resolution must be %v or more, which is the least that metrics-server accepts; got %v",
			minMetricResolution, o.MetricResolution))
	}
	if o.Hub.RealNodes < 0 || o.Hub.RealNodes > 0 && !o.Hub.Workloads {
		errs = append(errs, fmt.Errorf("hub: its real nodes must be 0 or more, and 0 without workloads; got %d", o.Hub.RealNodes))
	}
	errs = append(errs, checkImages(hubName, o.Hub.RealNodes, o.Hub.Images))
	taken := map[string]bool{hubName: true}
	for _, member := range o.Members {
		errs = append(errs, member.validate(taken))
		if member.Pull && o.Karmada == nil {
			errs = append(errs, fmt.Errorf("member %q: there is no Karmada to join in Pull mode; set Karmada", member.Name))
		}
		taken[member.Name] = true
	}
	return errors.Join(errs...)
}

func (m Member) validate(taken map[string]bool) error {
	if faults := validation.IsDNS1123Label(m.Name); len(faults) > 0 {
		return fmt.Errorf("member %q: its name must be a DNS label: %s", m.Name, strings.Join(faults, "; "))
	}
	if taken[m.Name] {
		return fmt.Errorf("member %q: a cluster of this name exists; choose another", m.Name)
	}
	if m.Nodes < 0 {
		return fmt.Errorf("member %q: its nodes must be 1 or more (0 means %d); got %d", m.Name, defaultNodes, m.Nodes)
	}
	if m.RealNodes < 0 {
		return fmt.Errorf("member %q: its real nodes must be 0 or more; got %d", m.Name, m.RealNodes)
	}
	return checkImages(fmt.Sprintf("member %q", m.Name), m.RealNodes, m.Images)
}

func checkImages(of string, realNodes int, images []string) error {
	if len(images) > 0 && realNodes == 0 {
		return fmt.Errorf("%s: it has images and no real nodes, which alone use them; set RealNodes", of)
	}
	return nil
}
