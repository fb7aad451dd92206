// SPDX-License-Identifier: Apache-2.0

package sizing

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/members/connection"
	"github.com/fleetscale/fleetscale/pkg/members/pods"
)

// SizesManager owns in managedFields what is written of the sizes of Pods.
const SizesManager = "fleetscale-sizes"

// PodRef names one Pod, and not another one of the same name.
type PodRef struct {
	Name string
	UID  types.UID
}

// ContainerResources are what a container is to request and limit. What is to stay as it is, is [pods.None].
type ContainerResources struct {
	Name             string
	Requests, Limits pods.Resources
}

// Resize implements [Sizer].
func (s sizer) Resize(ctx context.Context, namespace string, pod PodRef, containers []ContainerResources) error {
	changed := changesOf(containers)
	if changed == nil {
		return nil
	}
	patch := resizing{}
	patch.Metadata.UID, patch.Spec.Containers = pod.UID, changed
	body, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("resizing Pod %q: %w", pod.Name, err)
	}
	request := podAt(s.Client().Patch(types.StrategicMergePatchType), namespace, pod, "resize").
		Param("fieldManager", SizesManager).Body(body)
	return s.change(ctx, request, "resizing", pod, "patch pods/resize")
}

// podAt leads a request to a subresource of a Pod.
func podAt(request *rest.Request, namespace string, pod PodRef, subresource string) *rest.Request {
	return connection.At(request, corev1.SchemeGroupVersion.WithResource("pods"), namespace).Name(pod.Name).SubResource(subresource)
}

// change sends a request about a Pod, once: whether to repeat it is the caller's to decide.
func (s sizer) change(ctx context.Context, request *rest.Request, doing string, pod PodRef, right string) error {
	if silence := s.Silence(); silence != nil {
		return silence
	}
	if pod.UID == "" {
		return fmt.Errorf("%s Pod %q: its uid is not known", doing, pod.Name)
	}
	if err := request.MaxRetries(0).Do(ctx).Error(); err != nil {
		return fmt.Errorf("%s Pod %q: %w", doing, pod.Name, refusedOr(err, right))
	}
	return nil
}

// resizing is the patch. A Pod of another uid it does not fit.
type resizing struct {
	Metadata struct {
		UID types.UID `json:"uid"`
	} `json:"metadata"`
	Spec struct {
		Containers []changedContainer `json:"containers"`
	} `json:"spec"`
}

type changedContainer struct {
	Name      string                      `json:"name"`
	Resources corev1.ResourceRequirements `json:"resources"`
}

// changesOf are of those containers that do not stay as they are.
func changesOf(containers []ContainerResources) (changed []changedContainer) {
	for _, c := range containers {
		to := corev1.ResourceRequirements{Requests: listOf(c.Requests), Limits: listOf(c.Limits)}
		if to.Requests != nil || to.Limits != nil {
			changed = append(changed, changedContainer{c.Name, to})
		}
	}
	return changed
}

// listOf are the amounts that are set.
func listOf(r pods.Resources) (list corev1.ResourceList) {
	set := func(name corev1.ResourceName, amount *resource.Quantity) {
		if list == nil {
			list = corev1.ResourceList{}
		}
		list[name] = *amount
	}
	if r.MilliCPU != pods.None {
		set(corev1.ResourceCPU, resource.NewMilliQuantity(r.MilliCPU, resource.DecimalSI))
	}
	if r.Memory != pods.None {
		set(corev1.ResourceMemory, resource.NewQuantity(r.Memory, resource.BinarySI))
	}
	return list
}
