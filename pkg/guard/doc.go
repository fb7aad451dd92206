// SPDX-License-Identifier: Apache-2.0

// Package guard reports whether the bytes of an object may be decoded.
//
// A quantity such as 1e-2147483648 is valid to Kubernetes' API machinery, which
// computes ten to that power to round it: [resource.ParseQuantity] does not come
// back within any deadline, and nothing can stop it. Members, and authors of
// objects on the hub, are not trusted that far. So whoever decodes what they sent
// asks here first.
//
// How long a quantity takes grows with its exponent and its length. Parsing
// 1e-999 takes 14 µs, 1e-99999 1 ms, 1e-9999999 1.5 s; 1e9999 is parsed at once,
// but comparing it takes 200 µs, and 1e9999999 more than 5 s. A million digits take
// 3 s. Refused is what has an exponent beyond ±999, which is more than a float64
// can hold, or more than 256 characters.
//
// A list of items of which nothing is said takes thousands of times its bytes: two make a Pod of 1200, and a list is moved as it grows. So
// what decoding allocates is weighed, too: a bound that follows from the Go type, as sizes of structs and how slices
// and maps grow, and from the elements, fields and texts that the bytes have (shape.go, weigh.go, weighjson.go). Refused is what would take
// more than 16 MiB and 64 times its bytes; real objects take up to 40 times as much. Of all else the bound is returned, for
// a budget; of ordinary lists it is some 1.5 times what they take.
//
// Of texts only quantities are refused: a label, an image digest or a resource version may
// be any text. Where an object's quantities are follows from its Go type, for JSON
// by the names of the fields and for protobuf by their numbers. What cannot be
// followed is an error too: so what passes here holds no harmful quantity for any
// decoder of the same type.
//
// [resource.ParseQuantity]: https://pkg.go.dev/k8s.io/apimachinery/pkg/api/resource#ParseQuantity
package guard
