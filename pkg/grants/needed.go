// SPDX-License-Identifier: Apache-2.0

package grants

import (
	"slices"

	"github.com/fleetscale/fleetscale/deploy"
)

// The accounts that deploy/ makes in members.
const (
	Reader = "fleetscale-read"
	Writer = "fleetscale-write"
)

// tokens are not needed to act: identities of a cloud have none, and of tokens that are not renewed an Event tells.
const tokens = "serviceaccounts/token"

// InMember are the rights that deploy/ grants to one of the accounts in a member, in all namespaces or, if some are named, in these: those
// of deploy/member or deploy/member-write, or of deploy/member-namespaced.
func InMember(account string, namespaces []string) ([]Right, error) {
	folder, namespaced := "member", "member-namespaced/read"
	if account == Writer {
		folder, namespaced = "member-write", "member-namespaced/write"
	}
	all, err := To(deploy.Member, folder, account, nil)
	if err != nil || len(namespaces) == 0 {
		return all, err
	}
	all = slices.DeleteFunc(all, func(r Right) bool { return r.Resource != tokens }) // which both have
	for _, of := range []string{namespaced, namespaced + "/rights"} {
		rights, err := To(deploy.Member, of, account, namespaces)
		if err != nil {
			return nil, err
		}
		all = append(all, rights...)
	}
	return all, nil
}

// NeededByAdapter are the rights that the metrics adapter needs in a member.
func NeededByAdapter(namespaces []string) ([]Right, error) { return InMember(Reader, namespaces) }

// NeededByControllerManager are those of the controller-manager, which may observe only: then those of deploy/member-observe suffice. The
// rights of deploy/member-create and deploy/member-sizes are needed by some autoscalers only, which tell of it.
func NeededByControllerManager(observes bool, namespaces []string) ([]Right, error) {
	all, err := InMember(Writer, namespaces)
	return slices.DeleteFunc(all, func(r Right) bool { return r.Resource == tokens || observes && !r.reads() }), err
}

func (r Right) reads() bool { return slices.Contains([]string{"get", "list", "watch"}, r.Verb) }
