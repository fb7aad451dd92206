// SPDX-License-Identifier: Apache-2.0

// Package install installs what `make dist` makes on clusters with real nodes, as docs/install.md says, and uses it: images and manifests
// meet a kubelet, Services and the admission of Pods here, and nowhere else.
package install
