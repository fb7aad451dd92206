// SPDX-License-Identifier: Apache-2.0

package shards

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	division "github.com/fleetscale/fleetscale/pkg/shards"
	"github.com/fleetscale/fleetscale/test/lab"
)

const (
	// leaseLasts is --leader-elect-lease-duration, by default.
	leaseLasts = 15 * time.Second
	// calmly is how long a decision takes at most where nobody fails: two sync periods, and what is kept of the metric for so long, on a
	// machine that has other things to do.
	calmly = 20 * time.Second
	// afterFailure is the same where the Leases of a replica have to expire first; then others try, every 2 s, and read the objects.
	afterFailure = leaseLasts + 10*time.Second + calmly
	// atHandOver is the same where they are released: once what is in progress has ended.
	atHandOver = 10*time.Second + calmly
)

// The objects: FederatedHPAs of workloads on the hub, of workloads that are divided among members, and in distributed mode;
// and CronFederatedHPAs of workloads that members have, with a rule for each minute of four.
var (
	ofHub       = names("hub", 14)
	ofMembers   = names("divided", 6)
	distributed = names("split", 6)
	crons       = names("cron", 14)
)

func names(kind string, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("%s-%02d", kind, i))
	}
	return all
}

// Objects of each kind are in shards of all replicas.
func TestEachKindIsDivided(t *testing.T) {
	for kind, of := range map[string][]string{"hub": ofHub, "divided": ofMembers, "split": distributed, "cron": crons} {
		in := map[int]bool{}
		for _, name := range of {
			in[division.Of(shop, name, shards)] = true
		}
		if len(in) < 4 {
			t.Errorf("all of %s are in %d shards", kind, len(in))
		}
	}
}

// story is what happens to the replicas, and what was to be decided meanwhile.
type story struct {
	*env
	t     *testing.T
	began time.Time
	steps []due
}

func TestEachObjectHasOneWriter(t *testing.T) {
	if testing.Short() {
		t.Skip("Leases expire in their own time; it runs in make test-full PARTS=shards")
	}
	needsAddresses(t)
	s := &story{env: shared.Of(t), t: t, began: time.Now()}
	for range 3 {
		s.must(s.launch(t, shards))
	}
	s.begin()
	from := time.Now().Truncate(time.Minute).Add(time.Minute)

	killed := s.leader(t)
	s.must(killed.Kill())
	s.decide("a replica is killed", afterFailure)
	s.recover()

	stopped := s.follower(t, nil)
	s.must(stopped.Freeze())
	s.decide("one stands still for longer than its Leases", afterFailure)
	s.must(stopped.Thaw())
	s.decide("it continues, and does not know", calmly)
	s.recover()

	cut := s.follower(t, stopped)
	cut.way.partition(portOf(s.Hub()))
	s.decide("one does not reach the hub", afterFailure)
	cut.way.heal()
	s.decide("it reaches the hub again", calmly)
	s.recover()

	ended := s.leader(t)
	ending := make(chan error, 1)
	go func() { ending <- s.ends(ended) }()
	s.decide("one is ended", atHandOver)
	s.must(<-ending)
	s.recover()

	s.recordsAreRead()
	until := s.minutePasses(from)
	s.judge(from, until)
}

// ends ends a replica as Kubernetes does. It is an error if that has to be enforced.
func (s *story) ends(r *replica) error {
	const grace = 10 * time.Second // of the lab
	begin := time.Now()
	if err := r.Stop(); err != nil {
		return err
	}
	if took := time.Since(begin); took >= grace {
		return fmt.Errorf("%s had to be killed %v after it was told to end", r.Name, took)
	}
	return nil
}

func (s *story) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// begin makes the objects, and returns once each was decided and the shards are divided.
func (s *story) begin() {
	s.t.Helper()
	s.divided(s.t, shards)
	s.must(s.Apply(s.t.Context(), s.Hub(), shop, joined(ofHub, deployment)))
	s.must(s.Apply(s.t.Context(), s.member, shop, joined(slices.Concat(ofMembers, distributed, crons), deployment)))
	s.must(s.setLoad(1))
	s.must(s.Apply(s.t.Context(), s.Hub(), shop,
		joined(ofHub, autoscaler("maxReplicas: 30, "+byLoad))+
			joined(ofMembers, autoscaler("maxReplicas: 30, "+byLoad+", replicaDistribution: {type: StaticWeighted}"))+joined(crons, cron)))
	s.comes(s.t, "all are seen", func(ctx context.Context) error {
		return errors.Join(
			s.all(ctx, s.member, "hpa", "{.spec.maxReplicas}", distributed, "1"),
			s.all(ctx, s.Hub(), "cronfhpa", "{.status.observedGeneration}", crons, "1"),
		)
	})
	s.decide("all are made", patience)
}

// recover has ended replicas begin again, and all have their part, with which they decide.
func (s *story) recover() {
	s.t.Helper()
	for _, r := range s.replicas {
		r.revives(s.t)
	}
	s.divided(s.t, shards)
	s.decide("all are there", calmly)
}

// decide changes the load, and returns once each FederatedHPA has followed.
func (s *story) decide(when string, within time.Duration) {
	s.t.Helper()
	step := due{time.Now(), within, int32(len(s.steps) + 2)}
	s.steps = append(s.steps, step)
	s.must(s.setLoad(step.to))
	want := fmt.Sprint(step.to)
	s.comes(s.t, when+": all are decided", func(ctx context.Context) error {
		return errors.Join(
			s.all(ctx, s.Hub(), "deployment", "{.spec.replicas}", ofHub, want),
			s.all(ctx, s.member, "deployment", "{.spec.replicas}", ofMembers, want),
			s.all(ctx, s.member, "hpa", "{.spec.maxReplicas}", distributed, want),
		)
	})
	s.t.Logf("%s: all are decided, for %d, after %v", when, step.to, time.Since(step.at).Round(100*time.Millisecond))
}

// setLoad has central mode want so many replicas, and sets the bounds of distributed mode to as many.
func (s *story) setLoad(n int32) error {
	load := lab.Series{Metric: "load", Value: *resource.NewQuantity(10*int64(n), resource.DecimalSI)}
	bounds := fmt.Sprintf("maxReplicas: %d, %s, federatedHPAAssignment: {}", n, byMuchLoad)
	return errors.Join(s.member.SetSeries(s.t.Context(), load),
		s.Apply(s.t.Context(), s.Hub(), shop, joined(distributed, autoscaler(bounds))))
}

// all is nil once objects of a kind have that there.
func (s *story) all(ctx context.Context, c *lab.Cluster, kind, path string, of []string, want string) error {
	said, err := s.Ask(ctx, "--context", c.Name, "-n", shop, "get", kind, "-o",
		`jsonpath={range .items[*]}{.metadata.name}=`+path+`{"\n"}{end}`)
	if err != nil {
		return err
	}
	has := map[string]bool{}
	for line := range strings.Lines(said.Stdout) {
		name, values, _ := strings.Cut(strings.TrimSpace(line), "=")
		has[name] = slices.Contains(strings.Fields(values), want)
	}
	var lack []string
	for _, name := range of {
		if !has[name] {
			lack = append(lack, name)
		}
	}
	if len(lack) > 0 {
		return fmt.Errorf("not %s yet: %s of %s %v", want, kind, c.Name, lack)
	}
	return nil
}

// recordsAreRead returns once the hub tells the last decision of each FederatedHPA, whichever replica recorded it.
func (s *story) recordsAreRead() {
	s.t.Helper()
	last := s.steps[len(s.steps)-1].to
	for _, name := range slices.Concat(ofHub, ofMembers) {
		s.comes(s.t, "the record of "+name+" is read", func(ctx context.Context) error {
			said, err := s.Fleetscale(ctx, "replay", "fhpa/"+name, "-n", shop, "-o", "json")
			if err != nil {
				return err
			}
			var replay struct {
				Points []struct{ Was struct{ Replicas int32 } }
			}
			if err := json.Unmarshal([]byte(said.Stdout), &replay); err != nil {
				return err
			}
			if n := len(replay.Points); n == 0 || replay.Points[n-1].Was.Replicas != last {
				return fmt.Errorf("%d decisions, and the last is not for %d", n, last)
			}
			return nil
		})
	}
}

// minutePasses returns the end of a whole minute of which all that was due was done.
func (s *story) minutePasses(from time.Time) time.Time {
	s.t.Helper()
	last := time.Now().Truncate(time.Minute)
	if last.Before(from.Add(time.Minute)) {
		s.t.Fatalf("it took from %v to %v only", from, last)
	}
	s.comes(s.t, "the last rules have run", func(ctx context.Context) error {
		return s.all(ctx, s.Hub(), "cronfhpa", "{.status.executionHistories[*].lastScheduleTime}", crons, last.UTC().Format(time.RFC3339))
	})
	return last.Add(time.Minute)
}

// judge holds the audit logs to what should have been written, and by whom.
func (s *story) judge(from, until time.Time) {
	s.t.Helper()
	hub, member := s.writes(s.t, s.began)
	leases, err := leaseWrites(hub, shards)
	s.must(err)
	spans, faults := spansOf(leases, leaseLasts)
	onHub, more := foreign(hub, spans, shards)
	faults = append(faults, more...)
	inMember, more := foreign(member, spans, shards)
	faults = append(faults, more...)

	end := s.steps[len(s.steps)-1].at.Add(patience)
	slowest := make([]time.Duration, len(s.steps))
	for _, kind := range []struct {
		of         []string
		writes     []lab.Write
		read       func([]lab.Write, string) ([]change, error)
		repeatable bool
	}{{ofHub, hub, scalings, false}, {ofMembers, member, scalings, false}, {distributed, member, boundings, true}} {
		dues := s.steps
		if kind.repeatable { // these had bounds from the beginning
			dues = slices.Insert(slices.Clone(dues), 0, due{s.began, s.steps[0].at.Sub(s.began), 1})
		}
		for _, name := range kind.of {
			came, err := kind.read(kind.writes, name)
			s.must(err)
			late, more := missed(name, came, dues, end, kind.repeatable)
			faults = append(faults, more...)
			if len(late) < len(dues) {
				continue
			}
			for i, lasted := range late[len(late)-len(slowest):] {
				slowest[i] = max(slowest[i], lasted)
			}
		}
	}
	var rules []due
	for minute := from; minute.Before(until); minute = minute.Add(time.Minute) {
		rules = append(rules, due{minute, min(afterFailure, time.Minute), ruleOf(minute)})
	}
	for _, name := range crons {
		came, err := scalings(member, name)
		s.must(err)
		_, more := missed(name, came, rules, until, false)
		faults = append(faults, more...)
		more, err = recordedRuns(hub, name, rules)
		s.must(err)
		faults = append(faults, more...)
	}
	for _, fault := range faults {
		s.t.Error(fault)
	}
	s.showShares(spans, hub, member)
	s.t.Logf("judged: %d writes on the hub, %d in the member; %d steps of %d FederatedHPAs, the slowest decisions after %v; %d runs of each "+
		"of %d CronFederatedHPAs", onHub, inMember, len(s.steps), len(ofHub)+len(ofMembers)+len(distributed), rounded(slowest), len(rules),
		len(crons))
}

// showShares prints what each life of a replica held and wrote, and wants each to have done so.
func (s *story) showShares(spans []span, logs ...[]lab.Write) {
	s.t.Helper()
	held, wrote := map[string]int{}, map[string]int{}
	for _, h := range spans {
		held[h.by]++
	}
	for _, writes := range logs {
		for i := range writes {
			if is, _ := isOfObject(&writes[i]); is {
				wrote[writes[i].Source]++
			}
		}
	}
	for _, r := range s.replicas {
		for life := range r.lives {
			address := fmt.Sprintf("127.0.%d.%d", r.number, life+1)
			s.t.Logf("%s, life %d: held shards %d times, and wrote %d times", r.Name, life+1, held[address], wrote[address])
			if held[address] == 0 || wrote[address] == 0 {
				s.t.Errorf("life %d of %s has held no shard, or written nothing: nothing is proven of it", life+1, r.Name)
			}
			delete(held, address)
			delete(wrote, address)
		}
	}
	if len(held)+len(wrote) > 0 {
		s.t.Errorf("others hold shards: %v, or write: %v", held, wrote)
	}
}

func rounded(all []time.Duration) (shown []time.Duration) {
	for _, d := range all {
		shown = append(shown, d.Round(100*time.Millisecond))
	}
	return shown
}

// ruleOf is how many replicas a CronFederatedHPA sets in a minute: another number in each of four.
func ruleOf(minute time.Time) int32 { return int32(minute.Minute()%4 + 2) }

func joined(of []string, manifest func(name string) string) string {
	var all strings.Builder
	for _, name := range of {
		all.WriteString(manifest(name) + "\n---\n")
	}
	return all.String()
}

const (
	byLoad = "metrics: [{type: External, external: {metric: {name: load}, target: {type: AverageValue, averageValue: 10}}}]"
	// byMuchLoad has the members' own autoscalers keep one replica.
	byMuchLoad = "metrics: [{type: External, external: {metric: {name: load}, target: {type: AverageValue, averageValue: 1000}}}]"
)

// deployment is, on the hub, a mere template: nothing runs there.
func deployment(name string) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s}
spec: {replicas: 1, selector: {matchLabels: {app: %[1]s}}, template: {metadata: {labels: {app: %[1]s}}, spec: {containers: [{name: web,
  image: web, resources: {requests: {cpu: 1m}}}]}}}`, name)
}

func autoscaler(rest string) func(name string) string {
	return func(name string) string {
		return fmt.Sprintf("apiVersion: autoscaling.karmada.io/v1alpha1\nkind: FederatedHPA\nmetadata: {name: %[1]s}\nspec: {scaleTargetRef: "+
			"{apiVersion: apps/v1, kind: Deployment, name: %[1]s}, minReplicas: 1, %[2]s}", name, rest)
	}
}

func cron(name string) string {
	var rules []string
	for minute := range 4 {
		rules = append(rules, fmt.Sprintf("{name: of-%[1]d, schedule: %[1]d-59/4 * * * *, targetReplicas: %[2]d}", minute, minute+2))
	}
	return fmt.Sprintf("apiVersion: autoscaling.karmada.io/v1alpha1\nkind: CronFederatedHPA\nmetadata: {name: %[1]s}\nspec: {scaleTargetRef: "+
		"{apiVersion: apps/v1, kind: Deployment, name: %[1]s}, rules: [%[2]s]}", name, strings.Join(rules, ", "))
}
