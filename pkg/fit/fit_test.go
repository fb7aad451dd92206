// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"fmt"
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// nodeOf makes a Ready node from what may differ.
func nodeOf(t *testing.T, name, manifest string) *corev1.Node {
	n := read[corev1.Node](t, manifest)
	n.Name = name
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	return n
}

func read[T any](t *testing.T, manifest string) *T {
	object := new(T)
	if err := yaml.UnmarshalStrict([]byte(manifest), object); err != nil {
		t.Fatalf("reading %s: %v", manifest, err)
	}
	return object
}

const (
	aNode   = `{status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}}`
	oneCPU  = `{spec: {containers: [{resources: {requests: {cpu: "1"}}}]}}`
	nothing = `{spec: {containers: [{}]}}`
)

func TestEstimate(t *testing.T) {
	type list = []string
	tests := map[string]struct {
		nodes    list
		template string
		pods     list // of namespace shop unless they say otherwise
		quotas   list
		want     int32
	}{
		"no node has room for none":                                   {nil, nothing, nil, nil, 0},
		"a Pod that requests nothing only counts":                     {list{aNode, aNode}, nothing, nil, nil, 20},
		"a node that does not say how many Pods it takes, takes none": {list{`{status: {allocatable: {cpu: "4"}}}`}, nothing, nil, nil, 0},
		"the scarcest resource decides": {list{aNode},
			`{spec: {containers: [{resources: {requests: {cpu: 100m, memory: 3Gi}}}]}}`, nil, nil, 2},
		"a resource that no node has": {list{aNode},
			`{spec: {containers: [{resources: {requests: {example.com/gpu: 1}}}]}}`, nil, nil, 0},
		"none of a resource that no node has": {list{aNode}, `{spec: {containers: [{resources: {requests: {example.com/gpu: 0}}}]}}`,
			nil, nil, 10},
		"what is limited and not requested, is requested": {list{aNode}, `{spec: {containers: [{resources: {limits: {cpu: "2"}}}]}}`, nil, nil,
			2},
		"the request comes before the limit": {list{aNode},
			`{spec: {containers: [{resources: {limits: {cpu: "2"}, requests: {cpu: "1"}}}]}}`, nil, nil, 4},
		"an init container's turn may be the peak": {list{aNode},
			`{spec: {initContainers: [{resources: {limits: {cpu: "3"}}}], containers: [{resources: {requests: {cpu: "1"}}}]}}`, nil, nil, 1},
		"a sidecar adds": {list{aNode},
			`{spec: {initContainers: [{restartPolicy: Always, resources: {requests: {cpu: "1"}}}],
				containers: [{resources: {requests: {cpu: "1"}}}]}}`, nil, nil, 2},
		"overhead adds": {list{aNode},
			`{spec: {overhead: {cpu: "1"}, containers: [{resources: {requests: {cpu: "1"}}}]}}`, nil, nil, 2},
		"requests of the Pod as a whole": {list{aNode},
			`{spec: {resources: {requests: {cpu: "2"}}, containers: [{resources: {requests: {cpu: "1"}}}]}}`, nil, nil, 2},
		"limits of the Pod as a whole, and no requests": {list{aNode}, `{spec: {resources: {limits: {cpu: "4"}}, containers: [{}]}}`,
			nil, nil, 1},
		"limits of the Pod as a whole, and requests of containers": {list{aNode},
			`{spec: {resources: {limits: {cpu: "4"}}, containers: [{resources: {requests: {cpu: "1"}}}, {resources: {limits: {cpu: "1"}}}]}}`, nil,
			nil, 2},
		"fragments are not room": {list{`{status: {allocatable: {cpu: 900m, pods: "9"}}}`,
			`{status: {allocatable: {cpu: 900m, pods: "9"}}}`}, oneCPU, nil, nil, 0},
		"an overcommitted resource matters to those who want it": {list{aNode}, oneCPU,
			list{`{spec: {nodeName: node0, containers: [{resources: {requests: {cpu: "5"}}}]}}`}, nil, 0},
		"and not to others": {list{aNode}, `{spec: {containers: [{resources: {requests: {memory: 4Gi}}}]}}`,
			list{`{spec: {nodeName: node0, containers: [{resources: {requests: {cpu: "5"}}}]}}`}, nil, 2},
		"a Pod being deleted takes its room until it is gone": {list{aNode}, oneCPU,
			list{`{metadata: {deletionTimestamp: "2026-01-01T00:00:00Z"}, spec: {nodeName: node0,
				containers: [{resources: {requests: {cpu: "3"}}}]}}`}, nil, 1},
		"a Pod that grows takes what it will have": {list{aNode}, oneCPU,
			list{`{spec: {nodeName: node0, containers: [{name: a, resources: {requests: {cpu: "3"}}}]}, status: {containerStatuses: [{name: a,
				allocatedResources: {cpu: "1"}}]}}`}, nil, 1},
		"a Pod that shrinks takes what it had": {list{aNode}, oneCPU,
			list{`{spec: {nodeName: node0, containers: [{name: a, resources: {requests: {cpu: "1"}}}]}, status: {containerStatuses: [{name: a,
				allocatedResources: {cpu: "3"}}]}}`}, nil, 1},
		"a Pod as a whole that shrinks takes what it had": {list{aNode}, oneCPU,
			list{`{spec: {nodeName: node0, resources: {requests: {cpu: "1"}}, containers: [{name: a}]}, status: {allocatedResources: {cpu: "3"},
				resources: {requests: {cpu: "3"}}}}`}, nil, 1},
		"a replica that waits is one of the further ones": {list{aNode}, oneCPU,
			list{`{metadata: {labels: {app: ours}}, spec: {containers: [{resources: {requests: {cpu: "1"}}}]}}`}, nil, 4},
		"another Pod that waits will take its room": {list{aNode}, oneCPU,
			list{`{spec: {containers: [{resources: {requests: {cpu: "1"}}}]}}`}, nil, 3},
		"also if the scheduler found none before": {list{aNode}, oneCPU,
			list{`{spec: {containers: [{resources: {requests: {cpu: "1"}}}]}, status: {conditions: [{type: PodScheduled, status: "False",
				reason: Unschedulable}]}}`}, nil, 3},
		"not if the scheduler found none, maybe for its volume": {list{aNode}, oneCPU,
			list{`{spec: {volumes: [{persistentVolumeClaim: {claimName: a}}], containers: [{resources: {requests: {cpu: "1"}}}]},
				status: {conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]}}`}, nil, 4},
		"or its port": {list{aNode}, oneCPU,
			list{`{spec: {containers: [{ports: [{hostPort: 80}], resources: {requests: {cpu: "1"}}}]}, status: {conditions: [{type: PodScheduled,
				status: "False", reason: Unschedulable}]}}`}, nil, 4},
		"or its generated volume": {list{aNode}, oneCPU,
			list{`{spec: {volumes: [{ephemeral: {}}], containers: [{resources: {requests: {cpu: "1"}}}]}, status: {conditions: [{type: PodScheduled,
				status: "False", reason: Unschedulable}]}}`}, nil, 4},
		"or the Pods that it wants to be near": {list{aNode}, oneCPU,
			list{`{spec: {affinity: {podAffinity: {}}, containers: [{resources: {requests: {cpu: "1"}}}]},
				status: {conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]}}`}, nil, 4},
		"or the Pods that it wants to be far from": {list{aNode}, oneCPU,
			list{`{spec: {affinity: {podAntiAffinity: {}}, containers: [{resources: {requests: {cpu: "1"}}}]},
				status: {conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]}}`}, nil, 4},
		"or its spread": {list{aNode}, oneCPU,
			list{`{spec: {topologySpreadConstraints: [{maxSkew: 1}], containers: [{resources: {requests: {cpu: "1"}}}]},
				status: {conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]}}`}, nil, 4},
		"or a device that it claims": {list{aNode}, oneCPU,
			list{`{spec: {resourceClaims: [{name: a}], containers: [{resources: {requests: {cpu: "1"}}}]},
				status: {conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]}}`}, nil, 4},
		"nodes that it must like are counted, tried or not": {list{aNode}, oneCPU,
			list{`{spec: {affinity: {nodeAffinity: {}}, containers: [{resources: {requests: {cpu: "1"}}}]},
				status: {conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]}}`}, nil, 3},
		"one with a volume that was not tried yet takes its room": {list{aNode}, oneCPU,
			list{`{spec: {volumes: [{persistentVolumeClaim: {claimName: a}}], containers: [{resources: {requests: {cpu: "1"}}}]}}`}, nil, 3},
		"one that is held back takes none": {list{aNode}, oneCPU,
			list{`{spec: {schedulingGates: [{name: later}], containers: [{resources: {requests: {cpu: "1"}}}]}}`}, nil, 4},
		"the more important one comes first, to the first node": {list{aNode, aNode},
			`{spec: {containers: [{resources: {requests: {cpu: "3"}}}]}}`, list{`{spec: {containers: [{resources: {requests: {cpu: "3"}}}]}}`,
				`{spec: {priority: 5, containers: [{resources: {requests: {cpu: "2"}}}]}}`}, nil, 0},
		"those alike go on from node to node": {list{aNode, aNode, aNode}, oneCPU,
			list{`{spec: {containers: [{resources: {requests: {cpu: "3"}}}]}}`, `{spec: {containers: [{resources: {requests: {cpu: "3"}}}]}}`}, nil,
			6},
		"one with other constraints begins at the first again": {list{aNode, aNode},
			`{spec: {containers: [{resources: {requests: {cpu: "3"}}}]}}`,
			list{`{spec: {nodeSelector: {kubernetes.io/hostname: node1}, containers: [{resources: {requests: {cpu: "1"}}}]}}`,
				`{spec: {containers: [{resources: {requests: {cpu: "1"}}}]}}`}, nil, 2},
		"a Pod on a node that is gone takes no room": {list{aNode}, oneCPU,
			list{`{spec: {nodeName: gone, containers: [{resources: {requests: {cpu: "1"}}}]}}`}, nil, 4},
		"a node can be chosen by its name": {list{aNode, aNode},
			`{spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [node1]}]}]}}}, containers: [{}]}}`, nil, nil, 10},
		"a quota in use": {list{aNode}, oneCPU, nil,
			list{`{status: {hard: {requests.cpu: "4"}, used: {requests.cpu: 1500m}}}`}, 2},
		"a quota overdrawn": {list{aNode}, oneCPU, nil,
			list{`{status: {hard: {cpu: "4"}, used: {cpu: "6"}}}`}, 0},
		"the smallest of several quotas": {list{aNode}, oneCPU, nil,
			list{`{status: {hard: {pods: "3"}}}`, `{status: {hard: {count/pods: "2"}}}`}, 2},
		"a quota of limits": {list{aNode},
			`{spec: {containers: [{resources: {requests: {cpu: 100m}, limits: {memory: 1Gi}}}]}}`, nil,
			list{`{status: {hard: {limits.memory: 3Gi}}}`}, 3},
		"a quota of an extended resource": {list{`{status: {allocatable: {example.com/gpu: 9, pods: 9}}}`},
			`{spec: {containers: [{resources: {limits: {example.com/gpu: 1}}}]}}`, nil, list{`{status: {hard: {requests.example.com/gpu: 2}}}`}, 2},
		"a quota of what the template does not use": {list{aNode}, oneCPU, nil,
			list{`{status: {hard: {limits.memory: 1, services: 0}}}`}, 4},
		"a quota has been charged for replicas that wait": {list{aNode}, oneCPU,
			list{`{metadata: {labels: {app: ours}}, spec: {containers: [{}]}}`}, list{`{status: {hard: {pods: "3"}, used: {pods: "2"}}}`}, 2},
		"a quota for Pods without requests holds for such": {list{aNode}, nothing, nil,
			list{`{spec: {scopes: [BestEffort]}, status: {hard: {pods: "2"}}}`}, 2},
		"and for no others": {list{aNode}, oneCPU, nil,
			list{`{spec: {scopes: [BestEffort]}, status: {hard: {pods: "2"}}}`}, 4},
		"a quota for Pods with requests": {list{aNode}, oneCPU, nil,
			list{`{spec: {scopes: [NotBestEffort]}, status: {hard: {pods: "2"}}}`}, 2},
		"a quota for Pods with requests holds for those that limit": {list{aNode},
			`{spec: {containers: [{resources: {limits: {memory: 1}}}]}}`, nil,
			list{`{spec: {scopes: [NotBestEffort]}, status: {hard: {pods: "2"}}}`}, 2},
		"a quota for Pods with a deadline": {list{aNode}, oneCPU, nil,
			list{`{spec: {scopes: [Terminating]}, status: {hard: {pods: "2"}}}`}, 4},
		"a quota for Pods without a deadline": {list{aNode}, oneCPU, nil,
			list{`{spec: {scopes: [NotTerminating]}, status: {hard: {pods: "2"}}}`}, 2},
		"all scopes of a quota must hold": {list{aNode}, oneCPU, nil,
			list{`{spec: {scopes: [NotTerminating, BestEffort]}, status: {hard: {pods: "2"}}}`}, 4},
		"a quota for a class of priority": {list{aNode}, `{spec: {priorityClassName: high, containers: [{}]}}`,
			nil, list{`{spec: {scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [high]}]}},
				status: {hard: {pods: "2"}}}`}, 2},
		"a quota for another class of priority": {list{aNode}, `{spec: {priorityClassName: high, containers: [{}]}}`,
			nil, list{`{spec: {scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: NotIn, values: [high]}]}},
				status: {hard: {pods: "2"}}}`}, 10},
		"a quota for any class of priority": {list{aNode}, `{spec: {priorityClassName: high, containers: [{}]}}`,
			nil, list{`{spec: {scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: Exists}]}}, status: {hard: {pods: "2"}}}`},
			2},
		"a quota for any class of priority, and there is none": {list{aNode}, nothing, nil,
			list{`{spec: {scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: Exists}]}}, status: {hard: {pods: "2"}}}`}, 10},
		"a quota for one class of priority, and it is another": {list{aNode}, `{spec: {priorityClassName: high, containers: [{}]}}`,
			nil, list{`{spec: {scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [low]}]}},
				status: {hard: {pods: "2"}}}`}, 10},
		"a quota for Pods without a class of priority": {list{aNode}, `{spec: {priorityClassName: high, containers: [{}]}}`,
			nil, list{`{spec: {scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: DoesNotExist}]}},
				status: {hard: {pods: "2"}}}`}, 10},
		"a quota with a scope that is not known": {list{aNode}, oneCPU, nil,
			list{`{spec: {scopes: [New]}, status: {hard: {pods: "2"}}}`}, 4},
		"anti-affinity to itself: one per node": {list{aNode, aNode},
			antiAffine("kubernetes.io/hostname", "matchLabels: {app: ours}", ""), nil, nil, 2},
		"anti-affinity that is wrong bounds nothing": {list{aNode, aNode},
			antiAffine("kubernetes.io/hostname", "matchExpressions: [{key: app, operator: Wrong}]", ""), nil, nil, 20},
		"anti-affinity to other revisions bounds nothing": {list{aNode, aNode},
			antiAffine("kubernetes.io/hostname", "matchLabels: {app: ours}", "mismatchLabelKeys: [pod-template-hash]"), nil, nil, 20},
		"anti-affinity to its own revision": {list{aNode, aNode},
			antiAffine("kubernetes.io/hostname", "matchLabels: {app: ours}", "matchLabelKeys: [pod-template-hash, track]"),
			list{`{metadata: {labels: {app: ours, track: canary}}, spec: {nodeName: node0, containers: [{}]}}`,
				`{metadata: {labels: {app: ours, track: main}}, spec: {nodeName: node1, containers: [{}]}}`}, nil, 1},
		"anti-affinity applies to namespaces that are selected: unknown": {list{aNode, aNode},
			antiAffine("kubernetes.io/hostname", "matchLabels: {app: ours}", "namespaceSelector: {matchLabels: {a: b}}"), nil, nil, 20},
		"a spread that is wrong binds none": {list{aNode},
			`{spec: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule,
				labelSelector: {matchExpressions: [{key: a, operator: Wrong}]}}], containers: [{}]}}`, nil, nil, 0},
		"a spread that is only wished for bounds nothing": {list{aNode, `{status: {allocatable: {pods: "1"}}}`}, spreadBy("ScheduleAnyway"),
			nil, nil, 11},
		"a spread goes as far as the smallest node lets it": {list{aNode, `{status: {allocatable: {pods: "1"}}}`}, spreadBy("DoNotSchedule"), nil,
			nil, 4},
		"a spread of other Pods closes the nodes that have too many": {list{aNode, `{status: {allocatable: {pods: "3"}}}`},
			`{spec: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule,
				labelSelector: {matchLabels: {app: theirs}}}], containers: [{}]}}`,
			list{`{metadata: {labels: {app: theirs}}, spec: {nodeName: node0, containers: [{}]}}`,
				`{metadata: {labels: {app: theirs}}, spec: {nodeName: node0, containers: [{}]}}`}, nil, 3},
		"a cordoned node keeps the others of a spread down": {list{aNode,
			`{spec: {unschedulable: true}, status: {allocatable: {pods: "10"}}}`}, spreadBy("DoNotSchedule"), nil, nil, 2},
		"a node that takes more than the greatest number": {list{`{status: {allocatable: {pods: 9223372036854775807}}}`,
			`{status: {allocatable: {pods: 9223372036854775807}}}`}, nothing, nil, nil, math.MaxInt32},
		"a Pod that requests more than the greatest number, again and more": {list{aNode}, oneCPU,
			list{`{spec: {nodeName: node0, containers: [{resources: {requests: {cpu: 9223372036854775807}}}]}}`,
				`{spec: {nodeName: node0, containers: [{resources: {requests: {cpu: 9223372036854775807}}}]}}`}, nil, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := world{template: read[corev1.PodTemplateSpec](t, tc.template)}
			w.template.Labels = map[string]string{"app": "ours", "track": "main"}
			for i, manifest := range tc.nodes {
				n := nodeOf(t, fmt.Sprintf("node%d", i), manifest)
				n.Labels = map[string]string{corev1.LabelHostname: n.Name}
				w.nodes = append(w.nodes, n)
			}
			for _, manifest := range tc.pods {
				p := read[corev1.Pod](t, manifest)
				p.Namespace = "shop"
				w.pods = append(w.pods, p)
			}
			for _, manifest := range tc.quotas {
				w.quotas = append(w.quotas, *read[corev1.ResourceQuota](t, manifest))
			}
			if got := w.estimate(); got != tc.want {
				t.Errorf("got %d, want %d", got, tc.want)
			}
		})
	}
}

func antiAffine(key, selector, more string) string {
	return fmt.Sprintf(`{spec: {affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: %s,
		labelSelector: {%s}, %s}]}}, containers: [{}]}}`, key, selector, more)
}

func spreadBy(when string) string {
	return fmt.Sprintf(`{spec: {topologySpreadConstraints: [{maxSkew: 2, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: %s,
		labelSelector: {matchLabels: {app: ours}}}], containers: [{}]}}`, when)
}

// The template is the caller's: it is used again and again.
func TestEstimateLeavesTheTemplateAlone(t *testing.T) {
	w := world{template: read[corev1.PodTemplateSpec](t,
		`{spec: {resources: {limits: {cpu: "4"}}, containers: [{resources: {limits: {memory: 1Gi}}}]}}`)}
	before := w.template.DeepCopy()
	w.estimate()
	if !equal(before, w.template) {
		t.Errorf("the template became %v", w.template)
	}
}

func equal(a, b *corev1.PodTemplateSpec) bool { return a.String() == b.String() }

// Neither does it write to the records, which are shared.
func TestEstimateTwiceIsTheSame(t *testing.T) {
	n := nodeOf(t, "node0", `{status: {allocatable: {example.com/gpu: 4, pods: 9}}}`)
	p := read[corev1.Pod](t, `{metadata: {namespace: shop}, spec: {nodeName: node0, containers: [{resources: {limits: {example.com/gpu: 1},
		requests: {example.com/gpu: 1}}}]}}`)
	node, pod := NodeOf(n), PodOf(p)
	for range 2 {
		got := Estimate(
			Inventory{Nodes: func(yield func(*Node) bool) { yield(&node) }, Pods: func(yield func(*Pod) bool) { yield(&pod) }},
			Workload{Namespace: "shop", Selector: (&world{}).ours(),
				Template: read[corev1.PodTemplateSpec](t, `{spec: {containers: [{resources: {limits: {example.com/gpu: 1}}}]}}`)},
		)
		if got != 3 {
			t.Errorf("got %d, want 3", got)
		}
	}
}

var benchmarkSink int32

// A thousand nodes with thirty Pods each, a hundred waiting, and a template with rules.
func BenchmarkEstimate(b *testing.B) {
	for name, sizes := range map[string][2]int{"1000 nodes, 30000 pods": {1000, 30}, "5000 nodes, 150000 pods": {5000, 30}} {
		w := crowd(sizes[0], sizes[1])
		for rules, template := range map[string]*corev1.PodTemplateSpec{"free": plain(), "spread": spreading()} {
			b.Run(name+", "+rules, func(b *testing.B) {
				w.template = template
				nodes, pods := recordsOf(w.nodes, NodeOf), recordsOf(w.pods, PodOf)
				b.ReportAllocs()
				for b.Loop() {
					benchmarkSink = Estimate(Inventory{Nodes: nodes, Pods: pods}, Workload{Namespace: "shop", Selector: w.ours(), Template: w.template})
				}
			})
		}
	}
}

func plain() *corev1.PodTemplateSpec {
	t := &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "ours"}}}
	t.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse(
		"1"), "memory": resource.MustParse("1Gi")}}}}
	t.Spec.NodeSelector = map[string]string{"disk": "ssd"}
	return t
}

func spreading() *corev1.PodTemplateSpec {
	t := plain()
	ours := &metav1.LabelSelector{MatchLabels: t.Labels}
	t.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 2, TopologyKey: corev1.LabelHostname,
		WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: ours}}
	t.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelHostname, LabelSelector: ours}}}}
	return t
}

func crowd(nodes, podsPerNode int) *world {
	w := &world{}
	for i := range nodes {
		name := fmt.Sprintf("node%05d", i)
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"disk": "ssd", corev1.LabelHostname: name}}}
		n.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("64"), "memory": resource.MustParse("256Gi"),
			"pods": resource.MustParse("110")}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		w.nodes = append(w.nodes, n)
		for j := range podsPerNode {
			p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprintf("ns%d", j), Name: fmt.Sprintf("pod-%d-%d", i, j),
				Labels: map[string]string{"app": fmt.Sprintf("app%d", j%7)}}}
			p.Spec = *plain().Spec.DeepCopy()
			if i*j%300 != 299 {
				p.Spec.NodeName = name
			}
			w.pods = append(w.pods, p)
		}
	}
	return w
}
