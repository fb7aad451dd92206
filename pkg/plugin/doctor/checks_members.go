// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/metrics/pkg/apis/metrics"

	membersv1alpha1 "github.com/fleetscale/fleetscale/pkg/apis/members/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/fleet"
	"github.com/fleetscale/fleetscale/pkg/grants"
	"github.com/fleetscale/fleetscale/pkg/registration"
)

// members are those that are known; that they are not is noted.
func members(v *verdict, p *Picture) []membersv1alpha1.Member {
	all, ok := known(v, p.Members)
	if !ok {
		return nil
	}
	return all
}

func reached(v *verdict, p *Picture) {
	all, ok := known(v, p.Members)
	if !ok {
		return
	}
	if len(all) == 0 {
		v.add(Finding{Warning, "", "", "no cluster is a member", p.membership("join", "east")})
	}
	for i := range all {
		m := &all[i]
		switch s := &m.Status; {
		case s.State == membersv1alpha1.MemberReady, s.State == membersv1alpha1.MemberSpare, s.Reason == "NotContacted":
		default:
			v.add(Finding{Error, m.Name, source(m), silence(s.State, s.Reason, s.Message), p.reach(m, s.Reason, s.Message, "member")})
		}
	}
}

// written judges what the controller-manager says of the members that the adapter reaches. Of the others, [reached] says it.
func written(v *verdict, p *Picture) {
	all := members(v, p)
	for i := range all {
		m := &all[i]
		c := m.Status.ControllerManager
		if c == nil || m.Status.State != membersv1alpha1.MemberReady || c.State == membersv1alpha1.MemberReady ||
			c.State == membersv1alpha1.MemberSpare || c.Reason == "NotContacted" {
			continue
		}
		f := Finding{Error, m.Name, source(m), "the controller-manager does not reach it, so nothing is scaled there: " +
			silence(c.State, c.Reason, c.Message), p.reach(m, c.Reason, c.Message, "member-write")}
		if c.Reason == string(registration.ReasonMissingCredentials) { // as a cluster that joined to be read has none
			f.Severity, f.Fix = Warning, p.membership("join", m.Name)
		}
		v.add(f)
	}
}

func silence(state membersv1alpha1.MemberState, reason, message string) string {
	said := fmt.Sprintf("it is %s (%s", state, reason)
	if message != "" {
		said += ": " + message
	}
	return said + ")"
}

// source is the object that registers a member.
func source(m *membersv1alpha1.Member) string {
	s := m.Status.Source
	name := s.ObjectName
	if s.Namespace != "" {
		name = s.Namespace + "/" + name
	}
	return cmp.Or(s.Kind, "registration") + " " + name
}

// reach is the command that helps where a member is silent for a reason; folder is that of deploy/ with the rights of the identity.
func (s *Settings) reach(m *membersv1alpha1.Member, reason, message, folder string) string {
	from := m.Status.Source
	where := append([]string{}, "-n", from.Namespace)
	if from.Namespace == "" {
		where = nil
	}
	annotate := func(annotation string) string {
		return s.kubectl(append(where, "annotate", strings.ToLower(from.Kind), from.ObjectName, annotation)...)
	}
	switch fleet.Reason(reason) {
	case fleet.ReasonForbidden:
		if strings.HasPrefix(message, "401") {
			return s.membership("rotate", m.Name)
		}
		return s.member(m.Name, apply(folder)...)
	case fleet.ReasonTimeout, fleet.ReasonUnreachable, fleet.ReasonServerError, fleet.ReasonRateLimited:
		return s.member(m.Name, "get", "--raw", "/readyz?verbose")
	case fleet.ReasonCertificate, fleet.ReasonBadAnswer, registration.ReasonMissingCredentials:
		if from.Name == registration.SecretSource {
			return s.membership("join", m.Name)
		}
	case "IdentityConflict":
		return annotate("fleetscale.io/same-as=NAME") + " # of the cluster that it is, too; if it is none, remove the registration"
	case "InvalidName", "NameConflict":
		return annotate(registration.NameAnnotation + "=NAME")
	case "HubMetricsServerUnset":
		return s.kubectl(apply("overlays/beside-metrics-server")...)
	}
	return s.kubectl("get", "member", m.Name, "-o", "yaml")
}

func metricsServers(v *verdict, p *Picture) {
	answered, asked := known(v, p.Coverage)
	all := members(v, p)
	for i := range all {
		m := &all[i]
		if m.Status.State != membersv1alpha1.MemberReady {
			continue
		}
		fix := p.member(m.Name, "get", "apiservice", "v1beta1."+metrics.GroupName)
		because := slices.IndexFunc(answered.Silent, func(s fleet.SilentMember) bool { return s.Cluster == m.Name })
		switch {
		case asked && because >= 0:
			v.add(Finding{Error, m.Name, "", fmt.Sprintf("it gives no metrics of cpu and memory (%s)", answered.Silent[because].Reason), fix})
		case slices.Contains(answered.Absent, m.Name), !asked && m.Status.KubernetesVersion != "" &&
			!slices.Contains(m.Status.MetricsAPIs, metrics.GroupName):
			v.add(Finding{Error, m.Name, "", "it has no metrics of cpu and memory: install a metrics-server there", p.member(m.Name,
				"apply", "--server-side", "-f", "https://github.com/kubernetes-sigs/metrics-server/releases/latest/download/components.yaml")})
		}
	}
}

// Decisions trust the clock of a cluster up to a minute, and no more than that is told of it.
const (
	clockEnds  = time.Minute
	clockWarns = clockEnds / 2
)

func clocks(v *verdict, p *Picture) {
	all := members(v, p)
	for i := range all {
		m := &all[i]
		if m.Status.ClockOffsetMilliseconds == nil {
			continue
		}
		offset := time.Duration(*m.Status.ClockOffsetMilliseconds) * time.Millisecond
		way := "ahead of"
		if offset < 0 {
			way = "behind"
		}
		f := Finding{Error, m.Name, "", fmt.Sprintf("its clock is a minute or more %s ours, and is not believed", way),
			p.member(m.Name, "get", "nodes", "-o", "wide") + " # and synchronize the clocks of its control plane, as by NTP"}
		switch {
		case offset.Abs() >= clockEnds:
			v.add(f)
		case offset.Abs() >= clockWarns:
			f.Severity, f.What = Warning, fmt.Sprintf("its clock is %v %s ours: beyond a minute it is not believed",
				offset.Abs().Round(time.Second), way)
			v.add(f)
		}
	}
}

func tokens(v *verdict, p *Picture) {
	secrets, written := known(v, p.Secrets)
	all := members(v, p)
	for i := range all {
		m := &all[i]
		c := m.Status.ControllerManager
		if c == nil || c.TokenExpiry == nil {
			continue
		}
		life := time.Duration(0)
		if written {
			life = lifeOf(m, c.TokenExpiry.Time, secrets)
		}
		left := c.TokenExpiry.Sub(p.Now)
		f := Finding{Error, m.Name, source(m), "", p.membership("rotate", m.Name)}
		switch {
		case left <= 0:
			f.What = "a token of its registration has expired"
			v.add(f)
		case left < soon(life):
			f.What = fmt.Sprintf("a token of its registration expires in %v, and was not renewed: an Event on the registration says why",
				left.Round(time.Second))
			v.add(f)
		}
	}
}

// lifeOf is how long the token that expires then was issued for: since the first of the member's Secrets was written. 0: not known.
func lifeOf(m *membersv1alpha1.Member, expiry time.Time, secrets []metav1.PartialObjectMetadata) time.Duration {
	var first time.Time
	for i := range secrets {
		if secrets[i].Name != m.Status.Source.ObjectName {
			continue
		}
		if at := dataWritten(&secrets[i]); first.IsZero() || at.Before(first) {
			first = at
		}
	}
	if first.IsZero() {
		return 0
	}
	return expiry.Sub(first)
}

// dataWritten is when the data of a Secret were last written.
func dataWritten(s *metav1.PartialObjectMetadata) time.Time {
	last := s.CreationTimestamp.Time
	for _, f := range s.ManagedFields {
		if f.Time != nil && f.FieldsV1 != nil && f.Time.After(last) && bytes.Contains(f.FieldsV1.GetRawBytes(), []byte(`"f:data"`)) {
			last = f.Time.Time
		}
	}
	return last
}

const (
	// soonAtMost and soonAtLeast bound how near the end of a token is told.
	soonAtMost  = 72 * time.Hour
	soonAtLeast = 15 * time.Minute
)

// soon is how near the end of a token of such a life means that it is not renewed: it should have been at two thirds, so that a third is
// left; what is left of a failure or two is a quarter.
func soon(life time.Duration) time.Duration { return min(soonAtMost, max(soonAtLeast, life/4)) }

// elsewhere labels Secrets that multicluster-runtime registers clusters by.
const elsewhere = "sigs.k8s.io/multicluster-runtime-kubeconfig"

func registrations(v *verdict, p *Picture) {
	if labelled, ok := known(v, p.Labelled); ok {
		for i := range labelled {
			s := &labelled[i]
			if s.Namespace != p.Registrations && s.Namespace != p.Writers {
				v.add(Finding{Error, "", "Secret " + s.Namespace + "/" + s.Name, "it has the label of a registration, and is never read: " +
					"registrations are read in namespace " + p.Registrations, p.membership("join", s.Name) + " && " +
					p.kubectl("-n", s.Namespace, "delete", "secret", s.Name)})
			}
		}
	}
	all, ok := known(v, p.Secrets)
	if !ok {
		return
	}
	registered := map[string]bool{}
	for i := range all {
		s := &all[i]
		if s.Namespace != p.Registrations {
			continue
		}
		registered[s.Name] = true
		if s.Labels[registration.MemberLabel] != "true" && s.Labels[elsewhere] != "true" {
			const label = registration.MemberLabel + "=true"
			v.add(Finding{Warning, "", "Secret " + s.Namespace + "/" + s.Name, "it registers no cluster: it lacks the label " + label,
				p.kubectl("-n", s.Namespace, "label", "--overwrite", "secret", s.Name, label)})
		}
	}
	for i := range all {
		if s := &all[i]; s.Namespace == p.Writers && !registered[s.Name] && p.Writers != p.Registrations {
			v.add(Finding{Warning, "", "Secret " + s.Namespace + "/" + s.Name, "it holds a credential that writes, and no Secret of its name in " +
				p.Registrations + " registers that cluster", p.leave(s.Name)})
		}
	}
}

// visiting is what to give to have members asked themselves.
const visiting = "give --member-context"

func identities(v *verdict, p *Picture) {
	if len(p.Visited) == 0 {
		v.skipped = visiting
	}
	for i := range p.Visited {
		visit := &p.Visited[i]
		denied, ok := known(v, visit.Denied)
		if !ok {
			continue
		}
		for _, identity := range ourIdentities() {
			if lacks := denied[identity.account]; len(lacks) > 0 {
				v.add(Finding{Error, visit.Cluster, "ServiceAccount " + memberNamespace + "/" + identity.account, "it may not " + few(lacks),
					p.grant(visit.Cluster, identity)})
			}
		}
	}
}

// memberNamespace is that of our identities in members.
const memberNamespace = "fleetscale-member"

// ourIdentities are those that deploy/ makes in members, and the folders that grant their rights.
func ourIdentities() []program { return []program{reader(), writer()} }

func reader() program { return program{grants.Reader, "member"} }
func writer() program { return program{grants.Writer, "member-write"} }
