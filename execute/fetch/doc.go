// Package fetch gets the newest image that the NameNodes of a nameservice have: it
// chooses which one to ask, so that the ACTIVE one is spared, keeps to a rate, verifies the
// MD5 while bytes come in, begins anew where that helps, and finds out when the image was
// saved. It opens no connection and no file: images come from an [execute.ImageServers],
// and go to a [Target].
//
// # Which NameNode
//
// Standbys are asked, and observers. The ACTIVE one is asked only if [Options.FromActive]
// says so: reading and sending its image costs it disk and network. A NameNode of which
// nobody knows what it is counts as ACTIVE. Of those that may be asked it is the one
// whose image is the newest; of equal ones first a standby.
//
// # When an image was saved
//
// Neither an image nor the answer that it comes in says so, but a NameNode tells the time
// of its last checkpoint. It is taken if that checkpoint is this image, which is looked at
// before and after. A NameNode repeats an old time for [execute.SavedDelay], so as long as
// that is waited. After a restart a NameNode has the time of the file in its own
// directory, which is that of a copy, too: so of all NameNodes with this image the
// earliest time counts. It is the end of saving; the contents are those at its beginning.
package fetch
