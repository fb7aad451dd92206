// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func (c memberCluster) Get(context.Context, string, autoscalingv2.CrossVersionObjectReference) (*unstructured.Unstructured, error) {
	panic("being written")
}

func (c memberCluster) Create(context.Context, *unstructured.Unstructured) error {
	panic("being written")
}

func (c memberCluster) Remove(context.Context, *unstructured.Unstructured) error {
	panic("being written")
}
