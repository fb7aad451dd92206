// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"
	typed "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset/typed/apiregistration/v1"

	"github.com/fleetscale/fleetscale/pkg/hub/apiservice"
)

// groupPriority is what the APIServices of metrics-server, prometheus-adapter and
// KEDA have: clients prefer the same groups before and after a takeover.
const groupPriority = 100

// Options say where the APIServices should point, and how the hub verifies the
// server there.
type Options struct {
	// APIs are the groups to take over, of [apiservice.Groups]. It must not be empty.
	APIs    []string
	Service types.NamespacedName
	Port    int32
	// CABundle is PEM. Without it the hub trusts its system's authorities.
	CABundle []byte
	// DryRun is that of the API: nil or All.
	DryRun []string
}

// Step is what became of one APIService.
type Step struct {
	APIService string
	// Done is for people: a clause in the past tense.
	Done string
}

// Takeover points the APIServices at our Service, and our own besides, which
// only lack the authority where the adapter does not keep that itself. The former APIService
// is kept in an annotation for [Restore]; a second takeover keeps the first one's.
// The steps are those that succeeded; the error names all that did not, and
// the takeover may be repeated.
func Takeover(ctx context.Context, client aggregator.Interface, o Options) ([]Step, error) {
	return each("taking over", o.APIs, apiservice.Own(), func(v apiservice.Version) (string, error) {
		return takeOver(ctx, client.ApiregistrationV1().APIServices(), v, o)
	})
}

// each acts on every APIService of the groups and of those besides, so that one that fails does not block the others.
func each(gerund string, groups []string, besides []apiservice.Version, act func(apiservice.Version) (string, error)) ([]Step, error) {
	all, err := apiservice.Versions(groups)
	if err != nil {
		return nil, fmt.Errorf("%s APIServices: %w", gerund, err)
	}
	var steps []Step
	var errs []error
	for _, v := range slices.Concat(all, besides) {
		var done string
		err := retry.OnError(retry.DefaultRetry, raced, func() (err error) {
			done, err = act(v)
			return err
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("%s APIService %s: %w", gerund, v.APIService(), err))
			continue
		}
		steps = append(steps, Step{v.APIService(), done})
	}
	return steps, errors.Join(errs...)
}

// raced is true for errors of those who lost a race: a retry helps.
func raced(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err)
}

func takeOver(ctx context.Context, apis typed.APIServiceInterface, v apiservice.Version, o Options) (done string, err error) {
	before, err := apis.Get(ctx, v.APIService(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return create(ctx, apis, v, o)
	}
	if err != nil {
		return "", err
	}
	record, err := recordOf(before)
	if err != nil {
		return "", err
	}
	after, done := before.DeepCopy(), "updated: it was ours already"
	after.Spec = o.spec(v)
	switch ours := record.holds(before) || apiservice.Target(before) == o.Service; {
	case !ours:
		done = "taken over from " + apiservice.Describe(apiservice.Target(before))
		err = o.claim(&after.ObjectMeta, formerOf(before))
	case record != nil:
		record.By = serviceName(o.Service)
		err = record.annotate(&after.ObjectMeta)
	}
	if err != nil {
		return "", err
	}
	if equality.Semantic.DeepEqual(before, after) {
		return "left as it is: it is ours already", nil
	}
	_, err = apis.Update(ctx, after, metav1.UpdateOptions{DryRun: o.DryRun})
	return done, err
}

func create(ctx context.Context, apis typed.APIServiceInterface, v apiservice.Version, o Options) (done string, err error) {
	api := &apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: v.APIService()}, Spec: o.spec(v)}
	if err := o.claim(&api.ObjectMeta, nil); err != nil {
		return "", err
	}
	_, err = apis.Create(ctx, api, metav1.CreateOptions{DryRun: o.DryRun})
	return "created", err
}

// claim replaces the labels and annotations of others by ours: a tool that
// finds its objects by them must not hold this one for its own.
func (o Options) claim(meta *metav1.ObjectMeta, was *former) error {
	meta.Labels = map[string]string{
		"app.kubernetes.io/name":    "metrics-adapter",
		"app.kubernetes.io/part-of": "fleetscale",
	}
	meta.Annotations = nil
	return (&takeoverRecord{By: serviceName(o.Service), Former: was}).annotate(meta)
}

func (o Options) spec(v apiservice.Version) apiregistrationv1.APIServiceSpec {
	return apiregistrationv1.APIServiceSpec{
		Group:                v.Group,
		Version:              v.Version,
		Service:              &apiregistrationv1.ServiceReference{Namespace: o.Service.Namespace, Name: o.Service.Name, Port: new(o.Port)},
		CABundle:             o.CABundle,
		GroupPriorityMinimum: groupPriority,
		VersionPriority:      v.Priority,
	}
}
