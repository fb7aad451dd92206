// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/apis/autoscaling/v1alpha1"
)

// client writes objects as kubectl does, and hears warnings.
type client struct{ dynamic.Interface }

// said is what the hub said to one request.
type said struct {
	object   *unstructured.Unstructured // nil if refused
	warnings []string
	by       string   // the webhook that refused; empty for the schema
	causes   []string // of the refusal, as field: message
}

func (e *env) client(t testing.TB) client {
	t.Helper()
	config, err := e.Hub().RESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	config.WarningHandlerWithContext = heard{}
	return client{dynamic.NewForConfigOrDie(config)}
}

// warnings are those of one request.
type warnings struct {
	mu  sync.Mutex
	all []string
}

type warningsKey struct{}

// heard puts warnings where the request's context says.
type heard struct{}

func (heard) HandleWarningHeaderWithContext(ctx context.Context, code int, _, text string) {
	if w, ok := ctx.Value(warningsKey{}).(*warnings); ok && code == 299 {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.all = append(w.all, text)
	}
}

var _ rest.WarningHandlerWithContext = heard{}

// try asks whether an object may be made, and makes none.
func (c client) try(ctx context.Context, namespace string, object map[string]any) (said, error) {
	return c.hear(ctx, func(ctx context.Context) (*unstructured.Unstructured, error) {
		options := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict}
		return c.of(namespace, object).Create(ctx, &unstructured.Unstructured{Object: object}, options)
	})
}

// tryUpdate asks whether what is stored may become object, and changes nothing.
func (c client) tryUpdate(ctx context.Context, namespace string, object map[string]any) (said, error) {
	return c.hear(ctx, func(ctx context.Context) (*unstructured.Unstructured, error) {
		options := metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict}
		return c.of(namespace, object).Update(ctx, &unstructured.Unstructured{Object: object}, options)
	})
}

func (c client) hear(ctx context.Context, ask func(context.Context) (*unstructured.Unstructured, error)) (said, error) {
	w := &warnings{}
	object, err := ask(context.WithValue(ctx, warningsKey{}, w))
	s := said{object: object, warnings: w.all}
	var status apierrors.APIStatus
	if err != nil && errors.As(err, &status) {
		s.object = nil
		s.by = denial(status.Status().Message)
		if details := status.Status().Details; details != nil {
			for _, cause := range details.Causes {
				s.causes = append(s.causes, cause.Field+": "+cause.Message)
			}
		}
	}
	return s, err
}

// denial is the webhook that refused.
func denial(message string) string {
	if found := regexp.MustCompile(`admission webhook "([^"]*)" denied the request: `).FindStringSubmatch(message); found != nil {
		return found[1]
	}
	return ""
}

func (c client) of(namespace string, object map[string]any) dynamic.ResourceInterface {
	kind, _ := object["kind"].(string)
	group := v1alpha1.SchemeGroupVersion
	if kind == "HorizontalPodAutoscaler" {
		group = schema.GroupVersion{Group: "autoscaling", Version: "v2"}
	}
	return c.Resource(group.WithResource(strings.ToLower(kind) + "s")).Namespace(namespace)
}

// webhookOf is the webhook that judges a kind.
func webhookOf(kind string) string { return strings.ToLower(kind) + ".fleetscale.io" }

// probe is a FederatedHPA that is accepted, or refused by the webhook alone if
// maxReplicas is below 1.
func probe(name string, maxReplicas int64) map[string]any {
	metric := map[string]any{"type": "Resource",
		"resource": map[string]any{"name": "cpu", "target": map[string]any{"type": "Utilization", "averageUtilization": int64(60)}}}
	if maxReplicas < 1 {
		metric["resource"].(map[string]any)["name"] = "gpu"
		maxReplicas = 1
	}
	return map[string]any{
		"apiVersion": v1alpha1.SchemeGroupVersion.String(),
		"kind":       v1alpha1.FederatedHPAKind,
		"metadata":   map[string]any{"name": name},
		"spec": map[string]any{
			"scaleTargetRef": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
			"maxReplicas":    maxReplicas,
			"metrics":        []any{metric},
		},
	}
}
