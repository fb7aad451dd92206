// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// TestMain leaves out the handler of errors that waits until a moment has passed since the last error: in a bubble of time, that is
// years ahead, and nothing is retried after an error.
func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	m.Run()
}
