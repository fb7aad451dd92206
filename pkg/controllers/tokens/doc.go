// SPDX-License-Identifier: Apache-2.0

// Package tokens renews the tokens of registration Secrets before they expire: at two thirds of their life a new one of the same
// ServiceAccount is asked of the member, with the credential that writes there, tried, and written to the hub in place of the present
// one.
//
// Nobody gets more by it than they had. A token is renewed only
//
//   - of the account that deploy/member and deploy/member-write make for that credential, so that the one that reads never becomes the
//     one that writes;
//   - while the member accepts it, so that nobody who makes up a token is given a real one;
//   - if both credentials lead to the same server by the same authority, so that neither is shown to another one.
//
// What the member returns is believed no further than that: it must have the form of a token of the same account, with a life no
// longer than was asked for, and is written only to the Secret that the present token is from, once the member has accepted it. So a
// member can neither touch another registration, nor make us lose a credential that works.
package tokens
