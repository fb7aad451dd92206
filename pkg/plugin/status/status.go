// SPDX-License-Identifier: Apache-2.0

package status

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/fleetscale/fleetscale/pkg/apis/members/v1alpha1"
	"github.com/fleetscale/fleetscale/pkg/plugin"
)

// Options say what is shown.
type Options struct {
	Hub *rest.Config
	// Name is that of one member; empty: all.
	Name   string
	Output *plugin.Output
	Out    io.Writer
}

// Run shows the members once, and for people how the autoscalers are. What of the two can be read is shown where the other cannot.
func Run(ctx context.Context, o Options) error {
	h, err := newHub(o.Hub)
	if err != nil {
		return err
	}
	members, err := o.members(ctx, h)
	goesOn := err == nil || apierrors.ReasonForError(err) != metav1.StatusReasonUnknown && !apierrors.IsUnauthorized(err)
	if err != nil {
		err = explained(err, o.Name)
	}
	if o.Name != "" || o.Output.Machine() || !goesOn {
		return err
	}
	if err == nil {
		_, err = fmt.Fprintf(o.Out, "\n%s\n", sums(members))
	}
	return errors.Join(err, printAutoscalers(ctx, h, o.Out))
}

// members prints and returns those that are asked for.
func (o *Options) members(ctx context.Context, h hub) ([]v1alpha1.Member, error) {
	var table metav1.Table
	if err := h.get(ctx, o.Name, asTable, &table); err != nil {
		return nil, err
	}
	members := make([]v1alpha1.Member, len(table.Rows))
	for i := range table.Rows {
		if err := json.Unmarshal(table.Rows[i].Object.Raw, &members[i]); err != nil {
			return nil, fmt.Errorf("reading the hub's answer: %w", err)
		}
	}
	return members, o.Output.Print(o.Out, &table, shown(members, table.ResourceVersion, o.Name))
}

// shown is what programs get: one member, or the list.
func shown(members []v1alpha1.Member, version, name string) any {
	if name != "" && len(members) == 1 {
		return &members[0]
	}
	return &v1alpha1.MemberList{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "MemberList"},
		ListMeta: metav1.ListMeta{ResourceVersion: version}, Items: members,
	}
}

// Names returns those of all members, for completion.
func Names(ctx context.Context, config *rest.Config) ([]string, error) {
	h, err := newHub(config)
	if err != nil {
		return nil, err
	}
	var list v1alpha1.MemberList
	if err := h.get(ctx, "", "application/json", &list); err != nil {
		return nil, explained(err, "")
	}
	names := make([]string, 0, len(list.Items))
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names, nil
}
