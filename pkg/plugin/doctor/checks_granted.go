// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"slices"
	"strings"

	membersv1alpha1 "github.com/fleetscale/fleetscale/pkg/apis/members/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/grants"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// granted judges what members that are ready told the programs of their own rights. What [identities] finds of the same is told there.
func granted(v *verdict, p *Picture) {
	all := members(v, p)
	for i := range all {
		m := &all[i]
		if m.Status.State == membersv1alpha1.MemberReady {
			p.lacks(v, m, reader(), "reads", m.Status.MissingRights)
		}
		if c := m.Status.ControllerManager; c != nil && c.State == membersv1alpha1.MemberReady && !c.Stale {
			p.lacks(v, m, writer(), "writes", c.MissingRights)
		}
	}
}

func (p *Picture) lacks(v *verdict, m *membersv1alpha1.Member, identity program, does string, missing []string) {
	if len(missing) == 0 || slices.ContainsFunc(p.Visited, func(visit Visit) bool {
		return visit.Cluster == m.Name && len(visit.Denied.Value[identity.account]) > 0
	}) {
		return
	}
	fix := p.grant(m.Name, identity)
	if m.Status.Source.Name != registration.SecretSource {
		fix += " # and bind its roles to the identity of the registration"
	}
	v.add(Finding{Error, m.Name, source(m), fmt.Sprintf("its credential that %s may not %s there", does,
		strings.Join(grants.Few(missing, mostNamed+1), ", ")), fix})
}

// grant is the command that grants an identity its rights in a member.
func (s *Settings) grant(cluster string, identity program) string {
	if len(s.Scope) == 0 {
		return s.member(cluster, apply(identity.folder)...)
	}
	folder := "member-namespaced/read"
	if identity.account == grants.Writer {
		folder = "member-namespaced/write"
	}
	commands := []string{s.member(cluster, apply(folder)...)}
	for _, namespace := range s.Scope {
		commands = append(commands, s.member(cluster, append([]string{"-n", namespace}, apply(folder+"/rights")...)...))
	}
	return strings.Join(commands, " && ")
}
