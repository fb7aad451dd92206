// SPDX-License-Identifier: Apache-2.0

package past

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/storage"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/controllers/federatedhpa/federatedhpatest"
	"github.com/fleetscale/fleetscale/pkg/plugin"
	"github.com/fleetscale/fleetscale/pkg/plugin/replaying"
	"github.com/fleetscale/fleetscale/pkg/recording"
	"github.com/fleetscale/fleetscale/pkg/replay"
	"github.com/fleetscale/fleetscale/pkg/replicas"
)

// phase is how long after a scrape the controller decides.
const phase = 4 * time.Second

// window is for how long a recommendation holds scale-in.
const window = 5 * time.Minute

// a and b are the replicas of the controller-manager.
const a, b = "10.0.0.1:8443", "10.0.0.2:8443"

func target(address string, more ...string) model.LabelSet {
	all := model.LabelSet{model.AddressLabel: model.LabelValue(address), "namespace": "fleetscale-system"}
	for i := 0; i < len(more); i += 2 {
		all[model.LabelName(more[i])] = model.LabelValue(more[i+1])
	}
	return all
}

// asked is what the command makes of a database, and what it says.
type asked struct {
	replaying.Prometheus
	since     time.Duration
	namespace string
	read      []storage.Storage
}

// record has the command write the record of shop/web, and reads it.
func (q asked) record(d *database, w *world) (records []*recording.Record, said string, err error) {
	d.t.Helper()
	hub, done := listens(w)
	defer done()
	q.URL, done = d.api(q.read...)
	defer done()
	dir := d.t.TempDir()
	kubeconfig := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"hub","clusters":[{"name":"hub","cluster":{"server":%q}}],`+
		`"contexts":[{"name":"hub","context":{"cluster":"hub","namespace":%q}}]}`, hub, cmp.Or(q.namespace, web.Namespace))
	if err := os.WriteFile(filepath.Join(dir, "kubeconfig"), []byte(kubeconfig), 0o600); err != nil {
		d.t.Fatal(err)
	}
	d.t.Setenv("KUBECONFIG", filepath.Join(dir, "kubeconfig"))
	out := &bytes.Buffer{}
	caller := plugin.NewCaller(genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: out, ErrOut: out})
	q.Step, q.since = cmp.Or(q.Step, period), cmp.Or(q.since, 2*time.Hour)
	file := filepath.Join(dir, "web.fsr")
	if err := replaying.Record(d.t.Context(), caller, replaying.RecordOptions{
		Words: []string{"fhpa/web"}, Since: q.since, File: file, Prometheus: q.Prometheus,
	}); err != nil {
		return nil, out.String(), err
	}
	stream, err := os.Open(file)
	if err != nil {
		d.t.Fatal(err)
	}
	defer stream.Close()
	for from := recording.NewDecoder(stream); ; {
		r, err := from.Next()
		if errors.Is(err, io.EOF) {
			return records, out.String(), nil
		}
		if err != nil {
			d.t.Fatal(err)
		}
		records = append(records, r)
	}
}

// verdict is how a record compares with what was decided.
type verdict struct {
	// decisions are those that were recorded at the time that they were made; again those that stand for one that was made before.
	decisions, again int
	// untold are those of which it is not known what they were told.
	untold int
	// wrong are those before which something else was decided, and differing those that do not come out again as they were.
	wrong, differing []string
}

func judge(t *testing.T, w *world, records []*recording.Record) (v verdict) {
	t.Helper()
	for _, r := range records {
		needs := r.Question.NeedsMetrics()
		if needs && len(r.Question.Metrics) == 0 {
			v.untold++
		} else if again := replicas.Decide(r.Question).Replicas; again != r.Decided {
			v.differing = append(v.differing, fmt.Sprintf("%s, again %d", short(r), again))
		}
		truth := w.truth(r.Question.Now)
		switch {
		case truth == nil:
			v.wrong = append(v.wrong, short(r)+", when nothing was decided")
			continue
		case truth.Question.Now.Truncate(time.Microsecond).Equal(r.Question.Now):
			v.decisions++
		default:
			v.again++
		}
		if was, is := short(truth), short(r); was[len("15:04:05"):] != is[len("15:04:05"):] {
			v.wrong = append(v.wrong, is+", was "+was)
		}
	}
	result, err := replay.Run(records, replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if result.Differences != len(v.differing) {
		t.Errorf("a replay has %d differences, and not %q", result.Differences, v.differing)
	}
	return v
}

// exact wants all records to be of what was decided, and to come out again, and at least so many of their own time.
func (v verdict) exact(t *testing.T, decisions int) {
	t.Helper()
	if len(v.wrong) > 0 || len(v.differing) > 0 || v.untold > 0 || v.decisions < decisions {
		t.Errorf("%d decisions and %d again, want %d; untold %d\nwrong %s\ndiffering %s", v.decisions, v.again, decisions, v.untold,
			strings.Join(v.wrong, "\n\t"), strings.Join(v.differing, "\n\t"))
	}
}

// nearly is exact, but for a few that come out otherwise: what was decided twice between two scrapes is told of once.
func (v verdict) nearly(t *testing.T, decisions int) {
	t.Helper()
	if few := v.decisions / 50; len(v.differing) <= few {
		v.differing = nil
	}
	v.exact(t, decisions)
}

// short is a record in short: when, the bounds, from how many to how many.
func short(r *recording.Record) string {
	return fmt.Sprintf("%s %d..%d %d>%d", r.Question.Now.UTC().Format(time.TimeOnly), *r.Spec.MinReplicas, r.Spec.MaxReplicas,
		r.Question.Scale.Replicas, r.Decided)
}

// decides is one reconcile, and the time until the next.
func (l *leader) decides() {
	l.t.Helper()
	quiet := klog.NewContext(l.t.Context(), logr.Discard())
	_, err := l.program.Reconcile(quiet, reconcile.Request{NamespacedName: web})
	if err != nil && l.members[1].silence == nil { // or the other one may have no replica, by which it could be scaled
		l.t.Fatal(err)
	}
	time.Sleep(period)
}

// lives is so many reconciles while the load goes from what it is to another one.
func (l *leader) lives(reconciles int, load int64) {
	l.t.Helper()
	from := l.load
	for i := range int64(reconciles) {
		l.load = from + (load-from)*(i+1)/int64(reconciles)
		l.decides()
	}
}

// day is a peak, a valley and a second peak, in so many reconciles each.
func (l *leader) day(each int) {
	l.t.Helper()
	for _, load := range []int64{5000, 14_000, 14_000, 3000, 3000, 9000} {
		l.lives(each, load)
	}
}

// begun is a world of which a database has scraped the replicas a and b from the beginning, of which a leads.
//
// The times of decisions, of scrapes and of what a query checks are three.
func begun(t *testing.T, configuration string, labels ...string) (*world, *database, *leader) {
	t.Helper()
	w, d := newWorld(t), newDatabase(t)
	l := w.lead()
	d.network.serves(a, l)
	d.network.serves(b, standby())
	time.Sleep(7 * time.Second) // at which no query looks
	d.starts(configuration, target(a, labels...), target(b, labels...))
	time.Sleep(phase)
	return w, d, l
}

func TestPlainPast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, d, l := begun(t, honoring)
		l.day(20)
		records, said, err := asked{}.record(d, w)
		if err != nil {
			t.Fatal(err)
		}
		judge(t, w, records).exact(t, 60)
		if strings.Contains(said, "by turns") || !strings.Contains(said, "what 0 of them were told") {
			t.Error(said)
		}
	})
}

// A spec that was edited is read as it was, also where its bounds decide.
func TestEdits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, d, l := begun(t, honoring)
		l.lives(20, 12_000)
		w.edit(func(s *v1alpha1.FederatedHPASpec) { s.MaxReplicas = 15 })
		l.lives(20, 12_000)
		w.edit(func(s *v1alpha1.FederatedHPASpec) { s.MaxReplicas, s.MinReplicas = 40, new(int32(5)) })
		l.lives(20, 12_000)
		w.edit(func(s *v1alpha1.FederatedHPASpec) { s.Metrics[0] = federatedhpatest.CPU(70) })
		l.lives(40, 1000)
		records, _, err := asked{}.record(d, w)
		if err != nil {
			t.Fatal(err)
		}
		judge(t, w, records).exact(t, 40)
	})
}

// While Prometheus is down nothing is recorded, and nothing is made up. What was recommended meanwhile is not known: until the window of
// scale-in is over, decisions may come out otherwise.
func TestScrapeGaps(t *testing.T) {
	for _, gap := range []time.Duration{4 * time.Minute, 14 * time.Minute} {
		t.Run(gap.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, d, l := begun(t, honoring)
				l.lives(20, 12_000)
				d.stops()
				down := time.Now()
				l.lives(int(gap/period)/2, 20_000)
				l.lives(int(gap/period)/2, 12_000)
				time.Sleep(period - phase)
				d.starts(honoring, target(a), target(b))
				up := time.Now()
				time.Sleep(phase)
				l.lives(60, 9000)
				records, _, err := asked{}.record(d, w)
				if err != nil {
					t.Fatal(err)
				}
				v := judge(t, w, records)
				v.differing = slices.DeleteFunc(v.differing, func(line string) bool { return line < up.Add(window).UTC().Format(time.TimeOnly) })
				v.exact(t, 40)
				within := 0
				for _, r := range records {
					if at := r.Question.Now; at.After(down) && at.Before(up.Add(-2*period)) {
						within++
					}
				}
				if within > 1 { // the one that the first scrape tells of
					t.Errorf("%d decisions while nothing was scraped", within)
				}
			})
		})
	}
}

// A controller-manager that is restarted continues where it ended, and so does another leader, with all that it was told.
func TestLeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, d, l := begun(t, honoring)
		l.lives(20, 12_000)
		d.network.ends(a) // it is restarted
		time.Sleep(40 * time.Second)
		l = w.lead()
		d.network.serves(a, l)
		l.lives(20, 14_000)
		l = w.lead() // and a serves on what it knew
		d.network.serves(b, l)
		l.lives(10, 20_000)
		d.network.serves(a, standby())
		l.lives(50, 8000)
		records, said, err := asked{}.record(d, w)
		if err != nil {
			t.Fatal(err)
		}
		judge(t, w, records).exact(t, 40)
		if strings.Contains(said, "by turns") {
			t.Error(said)
		}
	})
}

// The labels that series have besides ours do not matter, nor does it if ours are renamed for them.
func TestLabels(t *testing.T) {
	const own = `
global: {scrape_interval: 15s, scrape_timeout: 5s}
scrape_configs:
- {job_name: controller-manager, honor_labels: false}
`
	for name, tc := range map[string]struct {
		configuration string
		labels        []string
	}{
		"more labels, and one of the name of ours": {honoring, []string{"hub", "eu", "cluster", "eu-1", "pod", "cm-1"}},
		"honor_labels: false":                      {own, []string{"hub", "eu"}},
		"honor_labels: false, and more":            {own, []string{"hub", "eu", "cluster", "eu-1", "mode", "x", "kind", "y"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, d, l := begun(t, tc.configuration, tc.labels...)
				l.day(8)
				q := asked{Prometheus: replaying.Prometheus{Match: `hub="eu"`}}
				records, _, err := q.record(d, w)
				if err != nil {
					t.Fatal(err)
				}
				judge(t, w, records).exact(t, 20)
				for _, r := range records {
					if len(r.Question.Clusters) != 2 || r.Question.Clusters[0].Name != "east" || r.Question.Clusters[1].Name != "west" {
						t.Fatalf("%s: %+v", short(r), r.Question.Clusters)
					}
				}
				q.namespace = "fleetscale-system" // where the program is, and nobody's object
				if _, _, err := q.record(d, w); err == nil || !strings.Contains(err.Error(), "there are no series of it") {
					t.Error(err)
				}
			})
		})
	}
}

// A cluster that cannot be seen is not known by its name, but counts.
func TestSilentCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, d, l := begun(t, honoring)
		l.lives(20, 12_000)
		w.members[1].silence = federatedhpatest.Silence()
		l.lives(40, 3000)
		w.members[1].silence = nil
		l.lives(30, 9000)
		records, _, err := asked{}.record(d, w)
		if err != nil {
			t.Fatal(err)
		}
		judge(t, w, records).exact(t, 30)
	})
}

// Whatever happens, what is recorded is what was decided, and nearly all of it comes out again.
func TestLives(t *testing.T) {
	lives := uint64(30)
	if testing.Short() {
		lives = 3
	}
	for seed := range lives {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 1))
				w, d, l := begun(t, honoring)
				time.Sleep(time.Duration(r.IntN(9)) * time.Second)
				for range 12 {
					switch r.IntN(6) {
					case 0:
						w.members[1].silence = federatedhpatest.Silence()
					case 1:
						w.edit(func(s *v1alpha1.FederatedHPASpec) { s.MinReplicas, s.MaxReplicas = new(1+r.Int32N(8)), 10+r.Int32N(40) })
					case 2:
						w.edit(func(s *v1alpha1.FederatedHPASpec) { s.Metrics[0] = federatedhpatest.CPU(30 + r.Int32N(50)) })
					default:
						w.members[1].silence = nil
					}
					l.lives(1+r.IntN(8), 500+r.Int64N(20_000))
					l.lives(r.IntN(25), l.load)
				}
				records, _, err := asked{}.record(d, w)
				if err != nil {
					t.Fatal(err)
				}
				judge(t, w, records).nearly(t, 20)
			})
		})
	}
}

// More than Prometheus answers at once is read in parts, and is the same as a part of it is.
func TestLongPast(t *testing.T) {
	step, each := time.Second, 130 // 3 h 15 min
	if !testing.Short() {
		step, each = period, 2000 // two days
	}
	synctest.Test(t, func(t *testing.T) {
		w, d, l := begun(t, honoring)
		began := time.Now()
		l.day(each)
		since := time.Since(began)
		if since/step <= 11_000 {
			t.Fatalf("%v are not long", since)
		}
		records, _, err := asked{Prometheus: replaying.Prometheus{Step: step}, since: since}.record(d, w)
		if err != nil {
			t.Fatal(err)
		}
		judge(t, w, records).exact(t, each)
	})
}

// What Prometheus could not read of other stores is not taken for the whole.
func TestStoreThatIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, d, l := begun(t, honoring)
		l.lives(4, 5000)
		q := asked{read: []storage.Storage{dead{}}}
		records, _, err := q.record(d, w)
		const want = "the past may not be whole, as it warns: remote_read: connection refused: ask again when all that it reads from is up"
		if err == nil || !strings.HasSuffix(err.Error(), want) || len(records) > 0 {
			t.Error(err)
		}
	})
}
