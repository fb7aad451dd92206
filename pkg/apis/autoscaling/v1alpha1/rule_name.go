// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "cmp"

// GivenName is the rule's name, in whichever of its two fields it is: before admission it may be in the older one only.
func (r *CronFederatedHPARule) GivenName() string { return cmp.Or(r.Name, r.RuleName) }
