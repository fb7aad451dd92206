// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// serveScale reads and sets the replicas of a workload.
func (m *Member) serveScale(w http.ResponseWriter, r *http.Request, s served, info *request.RequestInfo) {
	m.world.mu.Lock()
	scale, refused := m.scale(r, s, info)
	m.world.mu.Unlock()
	if refused != nil {
		refuse(w, r, refused)
		return
	}
	m.reply(w, r, http.StatusOK, scale, autoscalingv1.SchemeGroupVersion)
}

func (m *Member) scale(r *http.Request, s served, info *request.RequestInfo) (*autoscalingv1.Scale, *apierrors.StatusError) {
	running := m.world.workloads[workloadKey{s.plural, keyOf(info)}]
	if running == nil {
		return nil, apierrors.NewNotFound(s.gr(), info.Name)
	}
	present := m.world.scaleOf(running)
	if info.Verb == "get" {
		return present, nil
	}
	wanted, refused := m.wantedScale(r, s, info, present)
	switch {
	case refused != nil:
		return nil, refused
	case wanted.ResourceVersion != "" && wanted.ResourceVersion != present.ResourceVersion:
		return nil, apierrors.NewConflict(s.gr(), info.Name, errChanged)
	case wanted.Spec.Replicas < 0:
		return nil, apierrors.NewBadRequest("spec.replicas: must be 0 or more")
	}
	if wanted.Spec.Replicas != present.Spec.Replicas {
		m.scaled.add(ScaleWrite{time.Now(), s.plural, info.Namespace, info.Name, running.Replicas, int(wanted.Spec.Replicas)})
		m.world.scale(running, int(wanted.Spec.Replicas))
	}
	return m.world.scaleOf(running), nil
}

func (m *Member) wantedScale(r *http.Request, s served, info *request.RequestInfo, present *autoscalingv1.Scale) (*autoscalingv1.Scale,
	*apierrors.StatusError) {
	switch info.Verb {
	case "update":
		o, refused := m.read(r)
		if refused != nil {
			return nil, refused
		}
		if wanted, ok := o.(*autoscalingv1.Scale); ok {
			return wanted, nil
		}
		return nil, apierrors.NewBadRequest("it is no Scale")
	case "patch":
		wanted := *present
		wanted.ResourceVersion = "" // a patch need not say of which one it is
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(body, &wanted) // a merge patch of two numbers
		}
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return &wanted, nil
	default:
		return nil, apierrors.NewMethodNotSupported(s.gr(), info.Verb)
	}
}

// scaleOf is the present one. The lock is held.
func (w *world) scaleOf(of *workload) *autoscalingv1.Scale {
	e, _ := w.shelves[plural(of.Kind)].find(of.Workload.key().key)
	return &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Namespace: of.Namespace, Name: of.Name, UID: e.object().GetUID(),
			ResourceVersion: strconv.FormatInt(e.revision(), 10)},
		Spec:   autoscalingv1.ScaleSpec{Replicas: int32(of.Replicas)},
		Status: autoscalingv1.ScaleStatus{Replicas: of.present(), Selector: labels.Set(of.Labels).String()},
	}
}
