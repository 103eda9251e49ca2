// Package probe looks at a live cluster and tells whether a plan could be carried out
// there by this user: which NameNode is ACTIVE, whether there is a trash and whether
// it is usable, whether anything holds or locks the executor, and what of the roots
// of a policy the user may move. It changes nothing: all it has are ports that cannot.
//
// Everything is looked at, also after a reason was found why nothing could be carried
// out, so that one probe names all of them. Only when no NameNode answers any more is
// the rest not asked. What the cluster does not tell an ordinary user stays unknown,
// and is said to be.
//
// What a probe cannot see is what only the items tell: directories inside of runs
// that belong to somebody else, open files, references. For that there is a dry run.
package probe
