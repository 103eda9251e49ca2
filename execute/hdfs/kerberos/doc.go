// Package kerberos logs in with Kerberos 5 and proves to servers who the user is. A [Login]
// takes the user's ticket from a keytab, or from a credential cache that kinit made, and gets
// tickets for services from the KDC. A [Context] is GSS-API with one server (RFC 4121): its
// tokens, and the protection of messages. [Login.Negotiate] makes the header that web servers
// want (RFC 4559).
//
// The messages and the cryptography are those of github.com/jcmturner/gokrb5. What talks to the
// KDC and reads the files is our own: within deadlines, with bounds, without secrets in errors.
//
// A key or a token stands in no error and in no text that this package makes.
package kerberos
