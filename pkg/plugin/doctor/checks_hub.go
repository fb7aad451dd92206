// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/fleetscale/fleetscale/pkg/fleet"
)

// program is one of ours that acts on the hub.
type program struct {
	account string
	// folder of deploy/ that grants its rights there.
	folder string
}

const (
	adapter     = "metrics-adapter"
	controllers = "controller-manager"
	webhooks    = "webhook"
)

func ourPrograms() []program {
	return []program{{adapter, "base/hub"}, {controllers, "base/controller-manager-hub"}, {webhooks, "base/webhook-hub"}}
}

// apply is the argument that applies a folder of deploy/, also over what others have changed there.
func apply(folder string) []string {
	return []string{"apply", "--server-side", "--force-conflicts", "-k", "deploy/" + folder}
}

func namespaces(v *verdict, p *Picture) {
	all, ok := known(v, p.Namespaces)
	if !ok {
		return
	}
	for _, n := range []struct{ name, folder string }{
		{SystemNamespace, "base/namespace"}, {p.Registrations, "base/registrations"}, {p.Writers, "base/registrations"},
	} {
		if !slices.Contains(all, n.name) {
			v.add(Finding{Error, "", "Namespace " + n.name, "it does not exist: is this the hub (--context), and fleetscale installed there?",
				p.kubectl(apply(n.folder)...)})
		}
	}
}

// metricsOnly: the adapter was installed alone, and nobody asks for more. [rights] says so.
func (p *Picture) metricsOnly() bool {
	return p.Accounts.Unknown == "" && !slices.Contains(p.Accounts.Value, controllers) && !slices.Contains(p.Accounts.Value, webhooks) &&
		len(p.Federated.Value)+len(p.Cron.Value)+len(p.Multidim.Value) == 0
}

func kinds(v *verdict, p *Picture) {
	faults, ok := known(v, p.Schema)
	if !ok || p.metricsOnly() {
		return
	}
	for _, kind := range slices.Sorted(maps.Keys(faults)) {
		v.add(Finding{Error, "", "Kind " + kind, faults[kind], p.kubectl(apply("crds")...)})
	}
}

func rights(v *verdict, p *Picture) {
	denied, _ := known(v, p.Denied)
	accounts, ok := known(v, p.Accounts)
	if !ok {
		return
	}
	for _, program := range ourPrograms() {
		object := "ServiceAccount " + SystemNamespace + "/" + program.account
		if !slices.Contains(accounts, program.account) {
			severity := Warning // who reads metrics only installs the adapter alone
			if program.account == adapter {
				severity = Error
			}
			v.add(Finding{severity, "", object, "it does not exist: the " + program.account + " is not installed",
				p.kubectl(apply(program.folder)...)})
			continue
		}
		if lacks := denied[program.account]; len(lacks) > 0 {
			v.add(Finding{Error, "", object, "it may not " + few(lacks), p.kubectl(apply(program.folder)...)})
		}
	}
}

// mostNamed is how many things of one kind a finding names.
const mostNamed = 5

func few(all []string) string {
	if more := len(all) - mostNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:mostNamed], ", "), more)
	}
	return strings.Join(all, ", ")
}

// programs judges the Deployments that the hub has. Where programs run elsewhere, it has none, and nothing is wrong.
func programs(v *verdict, p *Picture) {
	all, ok := known(v, p.Deployments)
	if !ok {
		return
	}
	for i := range all {
		d := &all[i]
		named := func(program program) bool { return program.account == d.Name }
		if !slices.ContainsFunc(ourPrograms(), named) {
			continue
		}
		wanted := int32(1)
		if d.Spec.Replicas != nil {
			wanted = *d.Spec.Replicas
		}
		if d.Status.AvailableReplicas >= max(wanted, 1) {
			continue
		}
		severity := Error
		if d.Status.AvailableReplicas > 0 {
			severity = Warning
		}
		v.add(Finding{severity, "", "Deployment " + SystemNamespace + "/" + d.Name,
			fmt.Sprintf("%d of %s available", d.Status.AvailableReplicas, fleet.Counted(int(wanted), "replica")), p.pods(d.Name)})
	}
}

// pods shows what is wrong with those of a program.
func (s *Settings) pods(program string) string {
	return s.kubectl("-n", SystemNamespace, "describe", "pods", "-l", "app.kubernetes.io/name="+program)
}

// slack is by how much later than promised a Lease may be renewed, as clocks differ.
const slack = 5 * time.Second

func leader(v *verdict, p *Picture) {
	all, ok := known(v, p.Leases)
	if !ok || p.metricsOnly() {
		return
	}
	if p.Elsewhere != "" {
		v.unknown(p.Elsewhere)
	}
	object := func(l *coordinationv1.Lease) string { return "Lease " + l.Namespace + "/" + l.Name }
	var held []*coordinationv1.Lease
	for i := range all {
		if isHeld(&all[i], p.Now) {
			held = append(held, &all[i])
		}
	}
	const absent = "nothing is scaled, and what is shown of members' write credentials is old"
	switch {
	case len(held) == 1:
	case len(held) > 1:
		var where []string
		for _, l := range held {
			where = append(where, l.Namespace)
		}
		v.add(Finding{Error, "", object(held[1]), "controller-managers work in the namespaces " + strings.Join(where, " and ") +
			" at the same time, and undo each other's work: stop one of them",
			p.kubectl("get", "pods", "-A", "-l", "app.kubernetes.io/name="+controllers)})
	case len(all) == 0:
		v.add(Finding{Error, "", "", "no controller-manager has ever worked: " + absent, p.pods(controllers)})
	default:
		l := &all[0]
		what := "no controller-manager holds it: " + absent
		if at := l.Spec.RenewTime; at != nil && holder(l) != "" {
			what = fmt.Sprintf("%s renewed it last %v ago, and no other controller-manager took over: %s", holder(l),
				p.Now.Sub(at.Time).Round(time.Second), absent)
		}
		v.add(Finding{Error, "", object(l), what, p.pods(controllers)})
	}
}

func holder(l *coordinationv1.Lease) string {
	if l.Spec.HolderIdentity == nil {
		return ""
	}
	return *l.Spec.HolderIdentity
}

// isHeld: somebody holds the Lease, and renews it.
func isHeld(l *coordinationv1.Lease, now time.Time) bool {
	if holder(l) == "" || l.Spec.RenewTime == nil || l.Spec.LeaseDurationSeconds == nil {
		return false
	}
	return now.Before(l.Spec.RenewTime.Add(time.Duration(*l.Spec.LeaseDurationSeconds)*time.Second + slack))
}
