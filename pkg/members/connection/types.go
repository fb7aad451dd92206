// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"reflect"
	"sync"

	"github.com/fleetscale/fleetscale/pkg/guard"
)

// learned are the types that were asked for, by reflect.Type. There are as many as the program decodes.
var learned sync.Map

// TypeOf is guard.TypeOf, which learns each type once.
func TypeOf(object any) *guard.Type {
	t := reflect.TypeOf(object)
	known, found := learned.Load(t)
	if !found {
		known, _ = learned.LoadOrStore(t, guard.TypeOf(object))
	}
	return known.(*guard.Type)
}
