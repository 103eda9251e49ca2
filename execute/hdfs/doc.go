// Package hdfs is the implementation of the ports of [fsweep/execute] that talks to
// NameNodes. It is the only package of fsweep that opens connections.
//
// A [Conf] is what core-site.xml and hdfs-site.xml say. [Open] makes a [Client] of it, for one
// nameservice; the Client looks ([execute.Inspector]), and only its [Client.Mover] changes
// something ([execute.Mover]). What may be sent at all is listed in one file, allowed.go.
//
// A call goes to the NameNode that says that it is ACTIVE, never to a standby or an observer.
// It ends when its context is done or its own time is up. What the NameNode answers is an
// answer; everything else costs the connection.
package hdfs
