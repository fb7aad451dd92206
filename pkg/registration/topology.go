// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"cmp"
	"strings"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Annotations of a registration, whatever its kind, that say where its cluster runs.
const (
	providerAnnotation = "fleetscale.io/provider"
	regionAnnotation   = "fleetscale.io/region"
	// zonesAnnotation holds one zone or several, with commas between them.
	zonesAnnotation = "fleetscale.io/zones"
)

// Topology is where a cluster runs. Any part may be unknown, thus empty.
type Topology struct {
	Provider string
	Region   string
	Zones    []string
}

const (
	// mostPlaceLength is how long the value of a fieldSelector may be, in bytes.
	mostPlaceLength = 253
	// mostZones bounds what is compared for one cluster.
	mostZones = 100
)

// topologyOf reads the annotations of a registration, and where they say nothing the labels that nodes have for the same
// purpose. A fault is for an annotation that no fieldSelector could name; its value is left out.
func topologyOf(object *metav1.ObjectMeta) (t Topology, faults []Fault) {
	place := func(annotation string) string {
		value, wrong := placeOf(annotation, object.Annotations[annotation])
		faults = append(faults, wrong...)
		return value
	}
	t.Provider = place(providerAnnotation)
	t.Region = cmp.Or(place(regionAnnotation), object.Labels[corev1.LabelTopologyRegion])
	zones, wrong := zonesOf(object.Annotations[zonesAnnotation])
	if zone := object.Labels[corev1.LabelTopologyZone]; len(zones) == 0 && zone != "" {
		zones = []string{zone}
	}
	t.Zones = zones
	return t, append(faults, wrong...)
}

func placeOf(annotation, text string) (string, []Fault) {
	text = strings.TrimSpace(text)
	if len(text) <= mostPlaceLength && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return text, nil
	}
	return "", []Fault{faultf(reasonInvalidTopology,
		"annotation %s: %q is too long or not printable; write at most %d bytes of printable characters",
		annotation, shorten(text), mostPlaceLength)}
}

func zonesOf(text string) (zones []string, faults []Fault) {
	if n := strings.Count(text, ",") + 1; n > mostZones {
		return nil, []Fault{faultf(reasonInvalidTopology, "annotation %s: it names %d zones; name at most %d", zonesAnnotation, n, mostZones)}
	}
	for one := range strings.SplitSeq(text, ",") {
		zone, wrong := placeOf(zonesAnnotation, one)
		faults = append(faults, wrong...)
		if zone != "" {
			zones = append(zones, zone)
		}
	}
	return zones, faults
}
