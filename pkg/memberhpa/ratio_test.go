// SPDX-License-Identifier: Apache-2.0

package memberhpa

import (
	"math"
	"math/big"
	"math/rand"
	"slices"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

// reported is the entry that a HorizontalPodAutoscaler writes for the metric.
func reported(m autoscalingv2.MetricSpec, current autoscalingv2.MetricValueStatus) autoscalingv2.MetricStatus {
	s := autoscalingv2.MetricStatus{Type: m.Type}
	switch m.Type {
	case autoscalingv2.ResourceMetricSourceType:
		s.Resource = &autoscalingv2.ResourceMetricStatus{Name: m.Resource.Name, Current: current}
	case autoscalingv2.ContainerResourceMetricSourceType:
		s.ContainerResource = &autoscalingv2.ContainerResourceMetricStatus{Name: m.ContainerResource.Name,
			Container: m.ContainerResource.Container, Current: current}
	case autoscalingv2.PodsMetricSourceType:
		s.Pods = &autoscalingv2.PodsMetricStatus{Metric: m.Pods.Metric, Current: current}
	case autoscalingv2.ObjectMetricSourceType:
		s.Object = &autoscalingv2.ObjectMetricStatus{Metric: m.Object.Metric, DescribedObject: m.Object.DescribedObject, Current: current}
	case autoscalingv2.ExternalMetricSourceType:
		s.External = &autoscalingv2.ExternalMetricStatus{Metric: m.External.Metric, Current: current}
	}
	return s
}

func isAverage(q string) autoscalingv2.MetricValueStatus {
	return autoscalingv2.MetricValueStatus{AverageValue: new(resource.MustParse(q))}
}

func isValue(q string) autoscalingv2.MetricValueStatus {
	return autoscalingv2.MetricValueStatus{Value: new(resource.MustParse(q))}
}

func isUtilization(n int32) autoscalingv2.MetricValueStatus {
	return autoscalingv2.MetricValueStatus{AverageUtilization: &n}
}

func TestRatioOfOneMetric(t *testing.T) {
	both := isAverage("900m")
	both.AverageUtilization = new(int32(90))
	unknown := []int64(nil)
	tests := map[string]struct {
		metric  autoscalingv2.MetricSpec
		current autoscalingv2.MetricValueStatus
		want    []int64
	}{
		"utilization":                       {cpu(60), isUtilization(90), []int64{1500}},
		"utilization, beside the raw value": {cpu(60), both, []int64{1500}},
		"utilization, rounded up":           {cpu(60), isUtilization(50), []int64{834}},
		"utilization of none":               {cpu(60), isUtilization(0), []int64{0}},
		"the most utilization":              {cpu(1), isUtilization(math.MaxInt32), []int64{math.MaxInt32 * 1000}},
		"the raw value of a resource":       {ofResource("memory", average("2Gi")), isAverage("1Gi"), []int64{500}},
		"of a container":                    {ofContainer("cpu", "app", average("300m")), isAverage("100m"), []int64{334}},
		"utilization of a container":        {ofContainer("cpu", "app", utilization(50)), isUtilization(75), []int64{1500}},
		"an average over Pods":              {ofPods("requests", average("1500m")), isAverage("3"), []int64{2000}},
		"an object's value":                 {ofObject("main", "hits", value("2k")), isValue("1999"), []int64{1000}},
		"an object's average":               {ofObject("main", "hits", average("2k")), isAverage("1k"), []int64{500}},
		"an external value":                 {ofExternal("queue", value("30")), isValue("45"), []int64{1500}},
		"an external average":               {ofExternal("queue", average("30")), isAverage("45"), []int64{1500}},

		"a value below zero is none":        {ofExternal("queue", value("30")), isValue("-45"), []int64{0}},
		"billionths count":                  {ofExternal("queue", value("1")), isValue("1n"), []int64{1}},
		"billionths beyond a target count":  {ofExternal("queue", value("2")), isValue("2000000001n"), []int64{1001}},
		"beyond all numbers is the largest": {ofExternal("queue", value("1m")), isValue("9E"), []int64{math.MaxInt64}},
		"huge over huge":                    {ofExternal("queue", value("9E")), isValue("9E"), []int64{1000}},
		"the largest milli":                 {ofExternal("queue", value("1")), isValue("9223372036854775807m"), []int64{math.MaxInt64}},
		"more digits than an int64 has": {ofExternal("queue", value("10000000000000000000000000")), isValue("5000000000000000000000000"),
			[]int64{500}},
		"powers beyond all sense":           {ofExternal("queue", value("1")), isValue("1e2000000000"), unknown},
		"a target beyond all sense":         {ofExternal("queue", value("1e2000000000")), isValue("1"), unknown},
		"a target of zero":                  {ofExternal("queue", value("0")), isValue("1"), unknown},
		"a target below zero":               {ofExternal("queue", value("-1")), isValue("1"), unknown},
		"a target of no utilization":        {cpu(0), isUtilization(1), unknown},
		"an average where a value is aimed": {ofExternal("queue", value("30")), isAverage("45"), unknown},
		"a value where an average is aimed": {ofExternal("queue", average("30")), isValue("45"), unknown},
		"no value":                          {ofExternal("queue", value("30")), autoscalingv2.MetricValueStatus{}, unknown},
		"no target":                         {ofExternal("queue", autoscalingv2.MetricTarget{Type: "Value"}), isValue("45"), unknown},
		"a raw value, utilization aimed":    {cpu(60), isAverage("45"), unknown},
		"what type says is of no importance": {ofResource("cpu", autoscalingv2.MetricTarget{Type: "Value", AverageUtilization: new(int32(50))}),
			isUtilization(100), []int64{2000}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ratios([]autoscalingv2.MetricSpec{tc.metric}, []autoscalingv2.MetricStatus{reported(tc.metric, tc.current)})
			fleettest.Same(t, "", tc.want, got)
		})
	}
}

func TestRatiosOfManyMetrics(t *testing.T) {
	aimed := []autoscalingv2.MetricSpec{cpu(50), ofExternal("queue", value("10")), ofExternal("queue", value("20"))}
	seen := []autoscalingv2.MetricStatus{reported(aimed[0], isUtilization(75)), reported(aimed[1], isValue("10")),
		reported(aimed[2], isValue("10"))}
	tests := map[string]struct {
		metrics []autoscalingv2.MetricSpec
		current []autoscalingv2.MetricStatus
		want    []int64
	}{
		"each over its own target":      {aimed, seen, []int64{1500, 1000, 500}},
		"one that could not be read":    {aimed, []autoscalingv2.MetricStatus{seen[0], {}, seen[2]}, nil},
		"one too few":                   {aimed, seen[:2], nil},
		"one too many":                  {aimed[:2], seen, nil},
		"in another order":              {aimed, []autoscalingv2.MetricStatus{seen[1], seen[0], seen[2]}, nil},
		"none yet":                      {aimed, nil, nil},
		"no metric to know anything of": {nil, nil, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			fleettest.Same(t, "", tc.want, ratios(tc.metrics, tc.current))
		})
	}
}

// What is reported of another metric, as before an edit of the spec, is nothing that is known of this one.
func TestRatioOfAnotherMetric(t *testing.T) {
	kinds := map[string]struct {
		metric  autoscalingv2.MetricSpec
		current autoscalingv2.MetricValueStatus
		edits   map[string]func(*autoscalingv2.MetricStatus)
	}{
		"Resource": {ofResource("cpu", average("1")), isAverage("1"), map[string]func(*autoscalingv2.MetricStatus){
			"name": func(s *autoscalingv2.MetricStatus) { s.Resource.Name = "memory" },
			"type": func(s *autoscalingv2.MetricStatus) { s.Type = "Pods" },
		}},
		"ContainerResource": {ofContainer("cpu", "app", average("1")), isAverage("1"), map[string]func(*autoscalingv2.MetricStatus){
			"name":      func(s *autoscalingv2.MetricStatus) { s.ContainerResource.Name = "memory" },
			"container": func(s *autoscalingv2.MetricStatus) { s.ContainerResource.Container = "sidecar" },
		}},
		"Pods": {ofPods("requests", average("1")), isAverage("1"), map[string]func(*autoscalingv2.MetricStatus){
			"name":     func(s *autoscalingv2.MetricStatus) { s.Pods.Metric.Name = "errors" },
			"selector": func(s *autoscalingv2.MetricStatus) { s.Pods.Metric.Selector = nil },
			"nothing":  func(s *autoscalingv2.MetricStatus) { s.Pods = nil },
			"other label": func(s *autoscalingv2.MetricStatus) {
				s.Pods.Metric.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "back"}}
			},
		}},
		"Object": {ofObject("main", "hits", value("1")), isValue("1"), map[string]func(*autoscalingv2.MetricStatus){
			"name":   func(s *autoscalingv2.MetricStatus) { s.Object.Metric.Name = "misses" },
			"object": func(s *autoscalingv2.MetricStatus) { s.Object.DescribedObject = ingress("other") },
		}},
		"External": {ofExternal("queue", value("1")), isValue("1"), map[string]func(*autoscalingv2.MetricStatus){
			"name":     func(s *autoscalingv2.MetricStatus) { s.External.Metric.Name = "stack" },
			"selector": func(s *autoscalingv2.MetricStatus) { s.External.Metric.Selector = nil },
		}},
	}
	for kind, tc := range kinds {
		edits := tc.edits
		edits["no edit"] = func(*autoscalingv2.MetricStatus) {}
		for name, edit := range edits {
			t.Run(kind+", "+name, func(t *testing.T) {
				s := *new(reported(tc.metric, tc.current)).DeepCopy()
				edit(&s)
				got := ratios([]autoscalingv2.MetricSpec{tc.metric}, []autoscalingv2.MetricStatus{s})
				if known := name == "no edit"; (got != nil) != known {
					t.Errorf("got %v; known must be %v", got, known)
				}
			})
		}
	}
}

// By definition: the ratio is the least whole number of thousandths of the target that reaches the value.
func TestRatioIsTheLeastThatReaches(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	scales := []resource.Scale{resource.Nano, resource.Micro, resource.Milli, 0, resource.Kilo, resource.Exa}
	for range 20_000 {
		a := resource.NewScaledQuantity(1+random.Int63()>>random.Intn(63), scales[random.Intn(len(scales))])
		b := resource.NewScaledQuantity(1+random.Int63()>>random.Intn(63), scales[random.Intn(len(scales))])
		wasA, wasB := *a, *b
		got, known := divide(*a, *b)
		if !known || *a != wasA || *b != wasB {
			t.Fatalf("%v over %v: known is %v, and the arguments are now %v and %v", wasA, wasB, known, a, b)
		}
		if got != math.MaxInt64 && !reaches(got, *a, *b) || reaches(got-1, *a, *b) {
			t.Fatalf("%v over %v: got %d thousandths, which is not the least that reaches", wasA, wasB, got)
		}
	}
}

// reaches: so many thousandths of b are at least a.
func reaches(thousandths int64, a, b resource.Quantity) bool {
	value, target := a.DeepCopy(), b.DeepCopy()
	scale := slices.Max([]int64{0, int64(value.AsDec().Scale()), int64(target.AsDec().Scale())})
	whole := func(q resource.Quantity) *big.Int {
		power := new(big.Int).Exp(big.NewInt(10), big.NewInt(scale-int64(q.AsDec().Scale())), nil)
		return power.Mul(power, q.AsDec().UnscaledBig())
	}
	left := new(big.Int).Mul(whole(target), big.NewInt(thousandths))
	right := new(big.Int).Mul(whole(value), big.NewInt(1000))
	return left.Cmp(right) >= 0
}
