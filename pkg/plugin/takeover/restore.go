// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"
	typed "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset/typed/apiregistration/v1"

	"github.com/fleetscale/fleetscale/pkg/hub/apiservice"
)

// Restore undoes [Takeover] for the groups, of [apiservice.Groups], at least one: it restores the former APIServices, and
// deletes those that did not exist before. An APIService that was not taken over is left unchanged; one that has been
// pointed elsewhere since is an error. The steps are those that succeeded, and the restore may be repeated. dryRun is that of
// the API: nil or All.
func Restore(ctx context.Context, client aggregator.Interface, groups, dryRun []string) ([]Step, error) {
	return each("restoring", groups, nil, func(v apiservice.Version) (string, error) {
		return restore(ctx, client.ApiregistrationV1().APIServices(), v.APIService(), dryRun)
	})
}

func restore(ctx context.Context, apis typed.APIServiceInterface, name string, dryRun []string) (done string, err error) {
	api, err := apis.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "not there, so nothing was restored", nil
	}
	if err != nil {
		return "", err
	}
	record, err := recordOf(api)
	switch {
	case err != nil:
		return "", err
	case record == nil:
		return fmt.Sprintf("unchanged: it points at %s and was not taken over", apiservice.Describe(apiservice.Target(api))), nil
	case !record.holds(api):
		return "", fmt.Errorf("since the takeover by %s it has been pointed at %s; if that is intended, remove the annotation: "+
			"kubectl annotate apiservice %s %s-",
			apiservice.Describe(types.NamespacedName(record.By)), apiservice.Describe(apiservice.Target(api)), name, FormerAnnotation)
	case record.Former == nil:
		return "deleted: it did not exist before the takeover", remove(ctx, apis, api, dryRun)
	}
	return "restored to " + apiservice.Describe(record.Former.target()), put(ctx, apis, api, record.Former, dryRun)
}

// remove deletes what was read, not what may have replaced it since.
func remove(ctx context.Context, apis typed.APIServiceInterface, api *apiregistrationv1.APIService, dryRun []string) error {
	return apis.Delete(ctx, api.Name, metav1.DeleteOptions{
		DryRun:        dryRun,
		Preconditions: &metav1.Preconditions{UID: &api.UID, ResourceVersion: &api.ResourceVersion},
	})
}

func put(ctx context.Context, apis typed.APIServiceInterface, api *apiregistrationv1.APIService, was *former, dryRun []string) error {
	api.Labels, api.Annotations, api.Spec = was.Labels, was.Annotations, was.Spec
	_, err := apis.Update(ctx, api, metav1.UpdateOptions{DryRun: dryRun})
	return err
}

func (f *former) target() types.NamespacedName {
	return apiservice.Target(&apiregistrationv1.APIService{Spec: f.Spec})
}
