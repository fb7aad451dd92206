// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"encoding/json"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/guard"
)

// page is how many objects a list has in one answer.
const page = 500

// Objects are those at a path of the hub. What would do harm to who decodes it, as anybody who may write in a namespace can store it, and
// what cannot be decoded, unreadable is told of, and the rest is returned.
func Objects[T any](ctx context.Context, hub rest.Interface, path string, unreadable func(metav1.ObjectMeta, error)) (all []*T, err error) {
	for next := ""; ; {
		answer := hub.Get().AbsPath(path).Param("limit", strconv.Itoa(page)).Param("continue", next).Do(ctx)
		if err := answer.Error(); err != nil { // which reads what the hub says of it
			return nil, err
		}
		text, err := answer.Raw()
		if err != nil {
			return nil, err
		}
		var one struct {
			Metadata metav1.ListMeta   `json:"metadata"`
			Items    []json.RawMessage `json:"items"`
		}
		if err := json.Unmarshal(text, &one); err != nil {
			return nil, err
		}
		for _, raw := range one.Items {
			object, err := decoded[T](raw)
			if err != nil {
				var named metav1.PartialObjectMetadata
				_ = json.Unmarshal(raw, &named) // then it has no name
				unreadable(named.ObjectMeta, err)
				continue
			}
			all = append(all, object)
		}
		if next = one.Metadata.Continue; next == "" {
			return all, nil
		}
	}
}

// Object is the one at a path of the hub, unless it would do harm to who decodes it.
func Object[T any](ctx context.Context, hub rest.Interface, path string) (*T, error) {
	answer := hub.Get().AbsPath(path).Do(ctx)
	if err := answer.Error(); err != nil { // which reads what the hub says of it
		return nil, err
	}
	text, err := answer.Raw()
	if err != nil {
		return nil, err
	}
	return decoded[T](text)
}

func decoded[T any](raw []byte) (*T, error) {
	object := new(T)
	if err := guard.JSON(raw, object); err != nil {
		return nil, err
	}
	return object, json.Unmarshal(raw, object)
}
