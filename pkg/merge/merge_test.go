// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/metrics/pkg/apis/custom_metrics"
	"k8s.io/metrics/pkg/apis/external_metrics"

	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/fleet/fleettest"
)

func TestWords(t *testing.T) {
	tests := map[string]struct {
		values             []string // one for each cluster
		sum, avg, max, min string
	}{
		"two":                           {[]string{"10", "2500m"}, "12500m", "6250m", "10", "2500m"},
		"one stays as it is":            {[]string{"1Ki"}, "1Ki", "1Ki", "1Ki", "1Ki"},
		"one stays as fine as it is":    {[]string{"100u"}, "100u", "100u", "100u", "100u"},
		"sums are rounded up once":      {[]string{"100u", "100u"}, "1m", "1m", "1m", "1m"},
		"ten tenths of a milli are one": {[]string{"500u", "500u"}, "1m", "1m", "1m", "1m"},
		"a third is rounded up":         {[]string{"1", "0", "0"}, "1", "334m", "1", "0"},
		"binary and decimal":            {[]string{"1Ki", "1k"}, "2024", "1012", "1024", "1k"},
		"negative ones":                 {[]string{"-3", "1"}, "-2", "-1", "1", "-3"},
		"negative ones, away from zero": {[]string{"-100u", "0"}, "-1m", "-1m", "0", "-1m"},
		"the sum stops at the highest":  {[]string{"9P", "9P"}, "9223372036854775807m", "9P", "9P", "9P"},
		"and at the lowest":             {[]string{"-900T", "-900T"}, "-999999999999999999m", "-900T", "-900T", "-900T"},
		"beyond the highest":            {[]string{"1e100", "1"}, "9223372036854775807m", "4611686018427388404m", "9223372036854775807m", "1"},
		"beyond the highest, alone": {[]string{"10P"}, "9223372036854775807m", "9223372036854775807m", "9223372036854775807m",
			"9223372036854775807m"},
		"beyond the lowest, alone": {[]string{"-1P"}, "-999999999999999999m", "-999999999999999999m", "-999999999999999999m",
			"-999999999999999999m"},
		"too long to be written out": {[]string{"1e999999999", "-1e999999999"}, "8223372036854775808m", "4111686018427387904m",
			"9223372036854775807m", "-999999999999999999m"},
		"a zero that is long to read":    {[]string{"0e999999999"}, "0", "0", "0", "0"},
		"zeros that are long to read":    {[]string{"0e999999999", "1"}, "1", "500m", "1", "0"},
		"one that would be read wrapped": {[]string{"-900Ti"}, "-989560464998400", "-989560464998400", "-989560464998400", "-989560464998400"},
		"one that would not":             {[]string{"900Ti"}, "900Ti", "900Ti", "900Ti", "900Ti"},
		"a long one that would be": {[]string{"-9223372036854775807e-8"}, "-92233720368548m", "-92233720368548m", "-92233720368548m",
			"-92233720368548m"},
		"nanos count":                      {[]string{"999991n", "10n"}, "2m", "1m", "1m", "1m"},
		"the largest of what is not finer": {[]string{"1001u", "1002u"}, "3m", "2m", "2m", "2m"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			parts := objects{}
			for i, value := range tc.values {
				parts[string(rune('a'+i))] = []custom_metrics.MetricValue{object("web", value)}
			}
			for word, want := range map[Word]string{Sum: tc.sum, Avg: tc.avg, Max: tc.max, Min: tc.min, "": tc.sum} {
				whole, found := Object(word, parts)
				if got := whole.Value.String(); !found || got != want {
					t.Errorf("%q of %v = %s, %v, want %s", word, tc.values, got, found, want)
				}
			}
		})
	}
}

// Nothing so fine comes over the wire; it is rounded as it would be there.
func TestFinerThanANano(t *testing.T) {
	tests := map[string]struct {
		value int64
		scale resource.Scale
		want  int64
	}{
		"one and a half":  {15, -10, 2},
		"on the way down": {-15, -10, -2},
		"very little":     {1, -100, 1},
		"just one":        {10, -10, 1},
	}
	for name, tc := range tests {
		if got := nanos(*resource.NewScaledQuantity(tc.value, tc.scale)); got.Int64() != tc.want {
			t.Errorf("%s: %de%d is %v nanos, want %d", name, tc.value, tc.scale, got, tc.want)
		}
	}
}

func TestObject(t *testing.T) {
	selector := func(key string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{key: "x"}}
	}
	described := func(selector *metav1.LabelSelector, version string, seconds int, window *int64) custom_metrics.MetricValue {
		return with(object("web", "1"), func(v *custom_metrics.MetricValue) {
			v.DescribedObject.UID, v.DescribedObject.ResourceVersion, v.DescribedObject.APIVersion = "u", "1", version
			v.Metric.Selector, v.Timestamp, v.WindowSeconds = selector, at(seconds), window
		})
	}
	noTime := with(described(nil, "v3", 0, nil), func(v *custom_metrics.MetricValue) { v.Timestamp = metav1.Time{} })
	type list = []custom_metrics.MetricValue
	tests := map[string]struct {
		parts        objects
		wantValue    string
		wantVersion  string
		wantAt       metav1.Time
		wantWindow   *int64
		wantSelector *metav1.LabelSelector
	}{
		"one cluster": {objects{"a": {described(selector("k"), "v1", 5, new(int64(9)))}, "b": nil},
			"1", "v1", at(5), new(int64(9)), selector("k")},
		"the first by name describes it": {objects{"b": {described(selector("k"), "v2", 5, nil)}, "c": {described(selector("k"), "v1", 5, nil)}},
			"2", "v2", at(5), nil, selector("k")},
		"the oldest, though it is the last": {objects{"a": {described(nil, "v1", 5, nil)}, "b": {described(nil, "v1", 2, nil)}},
			"2", "v1", at(2), nil, nil},
		"the oldest, though it is the first": {objects{"a": {described(nil, "v1", 2, nil)}, "b": {described(nil, "v1", 5, nil)}},
			"2", "v1", at(2), nil, nil},
		"no time is not the oldest": {objects{"a": {described(nil, "v1", 2, nil)}, "b": {noTime}}, "2", "v1", at(2), nil, nil},
		"no time first":             {objects{"a": {noTime}, "b": {described(nil, "v1", 2, nil)}}, "2", "v3", at(2), nil, nil},
		"the widest window of three": {objects{"a": {described(nil, "v1", 0, new(int64(1)))}, "b": {described(nil, "v1", 0, new(int64(3)))},
			"c": {described(nil, "v1", 0, new(int64(2)))}}, "3", "v1", at(0), new(int64(3)), nil},
		"one gives a window": {objects{"a": {described(nil, "v1", 0, nil)}, "b": {described(nil, "v1", 0, new(int64(0)))}}, "2", "v1", at(0),
			new(int64(0)), nil},
		"they disagree on what was selected": {objects{"a": {described(selector("k"), "v1", 0, nil)},
			"b": {described(selector("l"), "v1", 0, nil)}},
			"2", "v1", at(0), nil, nil},
		"only the last selected": {objects{"a": {described(nil, "v1", 0, nil)}, "b": {described(selector("l"), "v1", 0, nil)}},
			"2", "v1", at(0), nil, nil},
		"the one in the middle disagrees": {objects{"a": {described(selector("k"), "v1", 0, nil)}, "b": {described(selector("l"), "v1", 0, nil)},
			"c": {described(selector("k"), "v1", 0, nil)}},
			"3", "v1", at(0), nil, nil},
		"a cluster that names it twice counts once": {objects{"a": list{object("web", "3"), object("web", "5"), object("web", "4")},
			"b": {object("web", "1")}},
			"6", "", at(0), nil, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before := text(t, tc.parts)
			got, found := Object("", tc.parts)
			want := with(object("web", tc.wantValue), func(v *custom_metrics.MetricValue) {
				v.DescribedObject.APIVersion = tc.wantVersion
				v.Timestamp, v.WindowSeconds, v.Metric.Selector = tc.wantAt, tc.wantWindow, tc.wantSelector
			})
			if !found {
				t.Fatal("not found")
			}
			equal(t, "Object", want, got)
			if after := text(t, tc.parts); after != before {
				t.Errorf("the input was written to:\n%s\n%s", before, after)
			}
		})
	}
}

func TestObjectThatNobodyHas(t *testing.T) {
	if got, found := Object(Sum, objects{"a": nil, "b": {}}); found {
		t.Errorf("Object() = %v, want none", got)
	}
}

func TestTwiceInOneClusterIsOnce(t *testing.T) {
	parts := objects{"a": {object("web", "5"), object("web", "3")}, "b": {object("web", "9")}}
	for word, want := range map[Word]string{Sum: "14", Avg: "7", Max: "9", Min: "3"} {
		if whole, _ := Object(word, parts); whole.Value.String() != want {
			t.Errorf("%s = %v, want %s", word, &whole.Value, want)
		}
	}
}

func TestObjects(t *testing.T) {
	asked := &metav1.LabelSelector{
		MatchLabels:      map[string]string{"verb": "GET"},
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "code", Operator: metav1.LabelSelectorOpExists}},
	}
	change := func(name, value string, f func(*custom_metrics.MetricValue)) custom_metrics.MetricValue {
		return with(object(name, value), f)
	}
	parts := objects{
		"west": {
			object("web-1", "3"), object("web-0", "1Ki"),
			change("web-0", "2", func(v *custom_metrics.MetricValue) { v.DescribedObject.Namespace = "bank" }),
		},
		"east": {
			change("web-0", "100u", func(v *custom_metrics.MetricValue) { v.Metric.Selector = asked }),
			change("web-0", "7", func(v *custom_metrics.MetricValue) { v.DescribedObject.Kind = "Job" }),
			change("web-0", "8", func(v *custom_metrics.MetricValue) { v.Metric.Name = "errors" }),
			object("twice", "5"), object("twice", "6"), object("twice", "4"),
		},
		"north": nil,
	}
	want := []string{
		"bank Pod web-0 rps west 2 {fleetscale.io/cluster=west}",
		"shop Pod twice rps east 6 {fleetscale.io/cluster=east}",
		"shop Job web-0 rps east 7 {fleetscale.io/cluster=east}",
		"shop Pod web-0 errors east 8 {fleetscale.io/cluster=east}",
		"shop Pod web-0 rps east 100u {code,fleetscale.io/cluster=east,verb=GET}",
		"shop Pod web-0 rps west 1Ki {fleetscale.io/cluster=west}",
		"shop Pod web-1 rps west 3 {fleetscale.io/cluster=west}",
	}
	var got []string
	for _, item := range Objects(parts) {
		o := item.DescribedObject
		got = append(got, o.Namespace+" "+o.Kind+" "+o.Name+" "+item.Metric.Name+" "+marked(item)+" "+item.Value.String()+
			" {"+metav1.FormatLabelSelector(item.Metric.Selector)+"}")
	}
	fleettest.Same(t, "Objects()", want, got)
	if _, written := asked.MatchLabels[fleet.ClusterLabel]; written {
		t.Error("the input was written to")
	}
}

// What a member says of a cluster is not believed: we know whom we asked.
func TestObjectsBearOurMark(t *testing.T) {
	item := with(object("web", "1"), func(v *custom_metrics.MetricValue) {
		v.Metric.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{fleet.ClusterLabel: "forged"}}
	})
	if got := Objects(objects{"east": {item}}); marked(got[0]) != "east" {
		t.Errorf("the item is marked %q, want east", marked(got[0]))
	}
}

func TestObjectsOfNobody(t *testing.T) {
	if got := Objects(objects{"a": nil}); got == nil || len(got) != 0 {
		t.Errorf("Objects() = %#v, want an empty list, which is not null in JSON", got)
	}
}

// However a cluster orders two items of one object and one value, the same one stays.
func TestObjectsTies(t *testing.T) {
	tests := map[string]struct {
		stays, goes func(*custom_metrics.MetricValue)
	}{
		"the larger value": {func(v *custom_metrics.MetricValue) { v.Value, v.Timestamp = resource.MustParse("2"), at(9) },
			func(v *custom_metrics.MetricValue) {}},
		"the older": {func(v *custom_metrics.MetricValue) {}, func(v *custom_metrics.MetricValue) { v.Timestamp = at(1) }},
		"by window": {func(v *custom_metrics.MetricValue) {}, func(v *custom_metrics.MetricValue) { v.WindowSeconds = new(int64(3)) }},
		"by UID": {func(v *custom_metrics.MetricValue) { v.DescribedObject.UID = "a" },
			func(v *custom_metrics.MetricValue) { v.DescribedObject.UID = "b" }},
		"by how it is written": {func(v *custom_metrics.MetricValue) { v.Value = resource.MustParse("1000e-3") },
			func(v *custom_metrics.MetricValue) { v.Value = resource.MustParse("1e0") }},
		"by selector": {func(v *custom_metrics.MetricValue) {}, func(v *custom_metrics.MetricValue) {
			v.Metric.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			a, b := with(object("web", "1"), tc.stays), with(object("web", "1"), tc.goes)
			one, other := Objects(objects{"c": {a, b}}), Objects(objects{"c": {b, a}})
			equal(t, "the two orders", one, other)
			equal(t, "what stays", Objects(objects{"c": {a}}), one)
		})
	}
}

func TestSeries(t *testing.T) {
	parts := seriesMap{
		"west": {external("7", map[string]string{"queue": "mail"}), external("100u", map[string]string{"queue": "west"})},
		"east": {
			with(external("9", map[string]string{"queue": "mail"}), func(v *external_metrics.ExternalMetricValue) {
				v.Timestamp, v.WindowSeconds = at(-5), new(int64(60))
			}),
			external("1", nil), external("2", map[string]string{"queue": "mail", "region": "eu"}),
		},
		"north": {external("4", map[string]string{}),
			with(external("3", nil), func(v *external_metrics.ExternalMetricValue) { v.MetricName = "age" })},
	}
	tests := map[Word][]string{
		"":  {"3", "4", "9", "2", "100u"},
		Max: {"3", "4", "9", "2", "100u"},
		Min: {"3", "1", "7", "2", "100u"},
		Sum: {"3", "5", "16", "2", "100u"},
		Avg: {"3", "2500m", "8", "2", "100u"},
	}
	for word, want := range tests {
		var got []string
		merged := Series(word, parts)
		for _, s := range merged {
			got = append(got, s.Value.String())
		}
		fleettest.Same(t, fmt.Sprintf("Series(%q)", word), want, got)
		equal(t, "the queue's labels, time and window",
			with(external(want[2], map[string]string{"queue": "mail"}), func(v *external_metrics.ExternalMetricValue) {
				v.Timestamp, v.WindowSeconds = at(-5), new(int64(60))
			}), merged[2])
	}
}

func TestSeriesTwiceInOneCluster(t *testing.T) {
	parts := seriesMap{"a": {external("5", nil), external("3", nil)}, "b": {external("9", nil)}}
	for word, want := range map[Word]string{Sum: "14", Avg: "7", Max: "9", Min: "3"} {
		if got := Series(word, parts)[0].Value; got.String() != want {
			t.Errorf("%s = %v, want %s", word, &got, want)
		}
	}
}

func TestSeriesOfNobody(t *testing.T) {
	if got := Series("", seriesMap{"a": nil}); got == nil || len(got) != 0 {
		t.Errorf("Series() = %#v, want an empty list, which is not null in JSON", got)
	}
}

func TestCovers(t *testing.T) {
	mail, web := external("1", map[string]string{"queue": "mail"}), external("1", map[string]string{"queue": "web"})
	type list = []external_metrics.ExternalMetricValue
	parts := seriesMap{"a": {external("7", mail.MetricLabels)}, "b": {web}}
	tests := map[string]struct {
		before list
		want   bool
	}{
		"it had none":                  {nil, true},
		"one, of another value":        {list{mail}, true},
		"all, in two clusters":         {list{web, mail}, true},
		"one that nobody else has":     {list{mail, external("1", nil)}, false},
		"one of another name":          {list{with(mail, func(v *external_metrics.ExternalMetricValue) { v.MetricName = "age" })}, false},
		"one that has one label more":  {list{external("1", map[string]string{"queue": "mail", "x": ""})}, false},
		"the same twice is still only": {list{mail, mail}, true},
	}
	for name, tc := range tests {
		if got := Covers(parts, SeenIn(tc.before)); got != tc.want {
			t.Errorf("%s: Covers() = %v, want %v", name, got, tc.want)
		}
	}
}
