// Package plan turns what was decided about an image into a plan file. It decides
// nothing: [Write] takes a decision and adds what an executor needs to find out
// whether the cluster is still as it was decided about: identity, fingerprint and
// totals of every item, the directories inside, the guards, what stood in the roots,
// and what a move changes in quotas.
//
// Where the image contradicts itself about an item, the item is left out, and the
// other items of its job with it.
//
// The package opens no file but a temporary one, asks no cluster and does not know
// the time.
package plan
