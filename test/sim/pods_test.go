// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
)

func TestPodsAreListedBySelectors(t *testing.T) {
	m := newOne(t)
	run(t, m,
		Workload{Namespace: "shop", Name: "web", Replicas: 3, Labels: map[string]string{"app": "web", "tier": "front"}},
		Workload{Namespace: "shop", Name: "db", Kind: StatefulSet, Replicas: 2},
		Workload{Namespace: "bank", Name: "web", Replicas: 1, Containers: 2})
	tests := map[string]struct {
		namespace string
		options   metav1.ListOptions
		want      int
	}{
		"all":                          {want: 6},
		"one namespace":                {namespace: "shop", want: 5},
		"a namespace without":          {namespace: "void", want: 0},
		"a label":                      {namespace: "shop", options: metav1.ListOptions{LabelSelector: "app=web"}, want: 3},
		"a label in all namespaces":    {options: metav1.ListOptions{LabelSelector: "app=web"}, want: 4},
		"a label that few have":        {options: metav1.ListOptions{LabelSelector: "app=web,!tier"}, want: 1},
		"a label of one Pod":           {options: metav1.ListOptions{LabelSelector: "apps.kubernetes.io/pod-index=1"}, want: 1},
		"a name":                       {namespace: "shop", options: metav1.ListOptions{FieldSelector: "metadata.name=db-1"}, want: 1},
		"a phase":                      {options: metav1.ListOptions{FieldSelector: "status.phase=Running"}, want: 6},
		"a phase that none is in":      {options: metav1.ListOptions{FieldSelector: "status.phase=Failed"}, want: 0},
		"some of them, if not limited": {options: metav1.ListOptions{Limit: 4}, want: 4},
	}
	for encoding, client := range clients(t, m, kubernetes.NewForConfig) {
		for name, tc := range tests {
			t.Run(encoding+"/"+name, func(t *testing.T) {
				list, err := client.CoreV1().Pods(tc.namespace).List(t.Context(), tc.options)
				if err != nil {
					t.Fatal(err)
				}
				if len(list.Items) != tc.want {
					t.Errorf("%d Pods, want %d", len(list.Items), tc.want)
				}
				if list.ResourceVersion == "" {
					t.Error("the list has no resourceVersion")
				}
			})
		}
	}
}

func TestPodIsWhole(t *testing.T) {
	m := newOne(t)
	run(t, m, Workload{Namespace: "shop", Name: "db", Kind: StatefulSet, Replicas: 1, Containers: 2})
	p, err := client(t, m).CoreV1().Pods("shop").Get(t.Context(), "db-0", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if p.UID == "" || p.ResourceVersion == "" || p.Labels["app"] != "db" || p.Spec.NodeName == "" || p.Status.StartTime == nil ||
		p.Status.Phase != corev1.PodRunning {
		t.Errorf("something is missing: %+v", p)
	}
	if got := p.Spec.Containers[1].Resources.Requests.Cpu().String(); len(p.Spec.Containers) != 2 || got != "100m" {
		t.Errorf("%d containers, the second requests %s of cpu", len(p.Spec.Containers), got)
	}
	if owner := metav1.GetControllerOf(p); owner == nil && (len(p.OwnerReferences) != 1 || p.OwnerReferences[0].Name != "db") {
		t.Errorf("owners: %v", p.OwnerReferences)
	}
	if _, err := client(t, m).CoreV1().Pods("shop").Get(t.Context(), "db-1", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a Pod that is not there: %v", err)
	}
}

func TestPagesAreTheWhole(t *testing.T) {
	m := newOne(t)
	run(t, m, Workload{Namespace: "shop", Name: "web", Replicas: 25}, Workload{Namespace: "bank", Name: "db", Kind: StatefulSet, Replicas: 12})
	var names, continued []string
	options := metav1.ListOptions{Limit: 10}
	for {
		list, err := client(t, m).CoreV1().Pods("").List(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Items) > 10 {
			t.Fatalf("a page of %d", len(list.Items))
		}
		for _, p := range list.Items {
			names = append(names, p.Namespace+"/"+p.Name)
		}
		continued = append(continued, list.ResourceVersion)
		if options.Continue = list.Continue; options.Continue == "" {
			break
		}
	}
	if len(names) != 37 || len(slices.Compact(slices.Clone(names))) != 37 || !slices.IsSorted(names[:12]) {
		t.Errorf("%d names: %v", len(names), names)
	}
	if len(continued) != 4 || len(slices.Compact(continued)) != 1 {
		t.Errorf("pages of revisions %v", continued)
	}
}

func TestNamesOfDeploymentsDifferAndThoseOfStatefulSetsDoNot(t *testing.T) {
	f := newFleet(t, 2)
	names := map[string]int{}
	for _, m := range f.Members() {
		run(t, m, Workload{Namespace: "shop", Name: "web", Replicas: 5}, Workload{Namespace: "shop", Name: "db", Kind: StatefulSet, Replicas: 5})
		list, err := client(t, m).CoreV1().Pods("shop").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list.Items {
			names[p.Name]++
		}
	}
	if len(names) != 15 || names["db-4"] != 2 {
		t.Errorf("%v", names)
	}
}

// An informer streams, or lists and watches, as client-go likes best.
func TestInformersFollow(t *testing.T) {
	m := newOne(t)
	run(t, m, Workload{Namespace: "shop", Name: "web", Replicas: 3})
	for encoding, client := range clients(t, m, kubernetes.NewForConfig) {
		t.Run(encoding, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			factory := informers.NewSharedInformerFactory(client, 0)
			pods := factory.Core().V1().Pods()
			store := pods.Informer().GetStore()
			factory.StartWithContext(ctx)
			factory.WaitForCacheSync(ctx.Done())
			for _, replicas := range []int{3, 7, 2, 3} {
				if err := m.Scale(Deployment, "shop", "web", replicas); err != nil {
					t.Fatal(err)
				}
				await(t, "the informer's Pods", func() bool { return len(store.List()) == replicas })
			}
			want, err := client.CoreV1().Pods("shop").List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]*corev1.Pod{}
			for _, o := range store.List() {
				got[o.(*corev1.Pod).Name] = o.(*corev1.Pod)
			}
			wanted := map[string]*corev1.Pod{}
			for i := range want.Items {
				wanted[want.Items[i].Name] = &want.Items[i]
			}
			if diff := cmp.Diff(wanted, got); diff != "" {
				t.Errorf("the informer against a list (-list +informer):\n%s", diff)
			}
		})
	}
}

func TestWatchFromAForgottenRevisionIsRefused(t *testing.T) {
	m := newOne(t)
	run(t, m, Workload{Namespace: "shop", Name: "web", Replicas: 3 * logged})
	w, err := client(t, m).CoreV1().Pods("shop").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "5"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if err := apierrors.FromObject((<-w.ResultChan()).Object); !apierrors.IsResourceExpired(err) {
		t.Errorf("the first event says %v", err)
	}
}

func TestMetadataAlone(t *testing.T) {
	m := newOne(t)
	run(t, m, Workload{Namespace: "shop", Name: "web", Replicas: 3})
	for encoding, client := range clients(t, m, metadata.NewForConfig) {
		t.Run(encoding, func(t *testing.T) {
			list, err := client.Resource(corev1.SchemeGroupVersion.WithResource("pods")).Namespace("shop").List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if len(list.Items) != 3 || list.Items[0].Labels["app"] != "web" {
				t.Errorf("%+v", list.Items)
			}
		})
	}
}

func TestMembersHaveIdentities(t *testing.T) {
	uids := map[string]bool{}
	for _, m := range newFleet(t, 3).Members() {
		namespace, err := client(t, m).CoreV1().Namespaces().Get(t.Context(), "kube-system", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		nodes, err := client(t, m).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		if err != nil || len(nodes.Items) != 2 {
			t.Errorf("%d nodes, %v", len(nodes.Items), err)
		}
		uids[string(namespace.UID)] = true
	}
	if uids[""] || len(uids) != 3 {
		t.Errorf("uids: %v", slices.Collect(maps.Keys(uids)))
	}
}
