// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"net/http"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/fleetscale/fleetscale/pkg/tenancy"
)

// Handlers are the webhooks by their paths. hub is a cache that was given to
// [Watch], of the namespaces in scope; it is read only. reviewer is asked whether authors may create the workloads
// that are created in clusters; nil: none are.
func Handlers(hub client.Reader, scope tenancy.Scope, kinds *Kinds, reviewer Reviewer, metrics *Metrics) map[string]http.Handler {
	all := map[string]http.Handler{}
	addKind(all, federatedHPA(), hub, scope, kinds, reviewer, metrics)
	addKind(all, cronFederatedHPA(), hub, scope, kinds, reviewer, metrics)
	addKind(all, multidimPodAutoscaler(), hub, scope, kinds, reviewer, metrics)
	return all
}

func addKind[T client.Object](all map[string]http.Handler, k kind[T], hub client.Reader, scope tenancy.Scope, kinds *Kinds,
	reviewer Reviewer, metrics *Metrics) {
	add := func(webhook string, j judge) {
		path := "/" + webhook + "-" + strings.ToLower(k.name)
		all[path] = &admission.Webhook{Handler: observed{judge: j, webhook: webhook, kind: k.name, metrics: metrics}}
	}
	add("mutate", mutator[T]{k})
	add("validate", validator[T]{k, hub, scope, kinds, reviewer})
}
