// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/apis/vpa"
)

// sentences say what to do where asker and by scale one workload: when asker is stored, when it works, and when it works in a
// member; empty where there is nothing to say. What asker scales is the first argument, by the second, and in a member a way to give
// by to asker the third.
func sentences(asker, by string) (stored, works, there string) {
	const federated, cron, multidim = v1alpha1.FederatedHPAKind, v1alpha1.CronFederatedHPAKind, v1alpha1.MultidimPodAutoscalerKind
	switch [2]string{asker, by} {
	case [2]string{federated, federated}:
		return "%[1]s is scaled by %[2]s already: delete that, or name another workload", "", ""
	case [2]string{federated, localKind}:
		return "%[1]s is scaled by %[2]s already: delete that, or name another workload", "",
			"the workload is scaled there by %[2]s: delete it, %[3]sor take the cluster out of clusterAffinity"
	case [2]string{federated, cron}:
		return "%[2]s sets the replicas of %[1]s too, and its rules will fail: make it name this FederatedHPA", "", ""
	case [2]string{federated, multidim}:
		return "%[1]s belongs to %[2]s already: write the metrics into its goals, or name another workload", "", ""
	case [2]string{multidim, multidim}:
		return "%[1]s belongs to %[2]s already: delete that, or name another workload",
			"%[1]s belongs to %[2]s already: delete one of the two, or name another workload", ""
	case [2]string{multidim, federated}, [2]string{multidim, localKind}:
		return "%[1]s is scaled by %[2]s already: write its metrics into goals and delete it, or name another workload",
			"%[1]s is scaled by %[2]s: write its metrics into goals and delete it, or name another workload",
			"the workload is scaled there by %[2]s: delete it, or take the cluster out of clusterAffinity"
	case [2]string{multidim, vpa.Kind}:
		return "", "%[1]s is sized by %[2]s: delete that or set its updateMode to Off, or name another workload",
			"the workload is sized there by %[2]s: delete it or set its updateMode to Off, or take the cluster out of clusterAffinity"
	case [2]string{multidim, cron}:
		return "%[2]s sets the replicas of %[1]s too, and its rules will fail: make it name this MultidimPodAutoscaler",
			"%[2]s sets the replicas of %[1]s too, and its rules fail: make it name this MultidimPodAutoscaler", ""
	case [2]string{cron, multidim}:
		return "%[1]s belongs to %[2]s, and the rules will fail: name that MultidimPodAutoscaler instead",
			"%[1]s belongs to %[2]s: name that MultidimPodAutoscaler in scaleTargetRef, and set its bounds", ""
	case [2]string{cron, federated}:
		return "%[1]s is scaled by %[2]s, and the rules will fail: name that FederatedHPA instead",
			"%[1]s is scaled by %[2]s: name that FederatedHPA in scaleTargetRef, and set its bounds", ""
	case [2]string{cron, localKind}:
		return "%[1]s is scaled by %[2]s, and the rules will fail: delete that, or use a FederatedHPA and name it here",
			"%[1]s is scaled by %[2]s: delete that, or make a FederatedHPA of it and name that in scaleTargetRef",
			"the workload is scaled there by %[2]s: delete that, or make a FederatedHPA of it and name that in scaleTargetRef"
	case [2]string{cron, cron}:
		return "%[2]s sets %[1]s too, and whichever rule runs last wins: put all rules into one", "", ""
	}
	return "", "", ""
}

// WhenStored is told to whoever stores the object that asks; empty if there is nothing to say.
func (c Claim) WhenStored() string {
	stored, _, _ := sentences(c.asker.Kind, c.by.Kind)
	return c.say(stored, fmt.Sprintf("%s %q", c.by.Kind, c.by.Name))
}

// AtWork is told by the controller of the object that asks, of a claim on the hub; empty if there is nothing to say.
func (c Claim) AtWork() string {
	_, works, _ := sentences(c.asker.Kind, c.by.Kind)
	return c.say(works, fmt.Sprintf("%s %q", c.by.Kind, c.by.Name))
}

// InTheWay is told by the controller of the object that asks, of all claims in a member; empty if there are
// none.
func InTheWay(found []Claim) string {
	var why []string
	for _, kind := range []string{localKind, vpa.Kind} {
		others := slices.DeleteFunc(slices.Clone(found), func(c Claim) bool { return c.name || c.by.Kind != kind })
		if len(others) > 0 {
			_, _, there := sentences(others[0].asker.Kind, kind)
			first := max(0, slices.IndexFunc(others, func(c Claim) bool { return c.by.ManagedBy == "" })) // one that can be given
			why = append(why, others[first].say(there, few(Names(others))))
		}
	}
	if i := slices.IndexFunc(found, func(c Claim) bool { return c.name }); i >= 0 {
		why = append(why, found[i].by.String()+" has the name of ours there, and scales something else: delete it, give the FederatedHPA "+
			"another name, or take the cluster out of clusterAffinity")
	}
	return strings.Join(why, "; ")
}

// ScaledToo tells an observer of those beside it; empty if there are none.
func ScaledToo(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; in its way once it acts: " + few(names)
}

// mostNamed is how many of those in the way in one member are named: a member may have any number of them.
const mostNamed = 3

func few(names []string) string {
	if more := len(names) - mostNamed; more > 0 {
		names = append(names[:mostNamed:mostNamed], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

func (c Claim) say(sentence, by string) string {
	if sentence == "" {
		return ""
	}
	target, give := c.asker.Target, ""
	if c.asker.Adopts && c.by.ManagedBy == "" {
		give = fmt.Sprintf("annotate it with %s: %s, ", v1alpha1.AdoptByAnnotation, c.asker.Name)
	}
	return fmt.Sprintf(sentence, fmt.Sprintf("%s %q", target.Kind, target.Name), by, give)
}

// Names returns those whose claims they are.
func Names(found []Claim) []string {
	var names []string
	for _, c := range found {
		names = append(names, c.by.String())
	}
	return names
}

// String names an autoscaler as in HorizontalPodAutoscaler shop/web.
func (a Autoscaler) String() string {
	name := a.Kind + " " + a.Namespace + "/" + a.Name
	if a.ManagedBy != "" {
		name += " (of another FederatedHPA)"
	}
	return name
}
