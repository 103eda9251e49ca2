// Package journalfile keeps journals ([journal]) in files, so that what is written
// survives crashes of the process and of the machine.
//
// A line that announces or reports a change of the cluster is on the disk when
// [Writer.Append] returns without an error. Only then the change may be asked for. An
// error is for ever: nothing more is written by that process, nothing is tried again,
// and nothing more may be changed, as nobody could account for it. In particular a
// failed fsync is never repeated: the kernel may have dropped the data and would answer
// success.
//
//	dir, err := journalfile.OpenDir(path)   // never a temporary one
//	w, err := dir.Create(&header)           // the first process
//	err = w.Append(&intent)                 // intent.Seq is set
//	…
//	w, err := dir.Reopen(name)              // a later process
//	… look at w.Journal(), decide
//	err = w.Append(&resumed)                // cuts off a torn line first
//
// A journal has one writer at a time, on one host: it is locked (flock) from creation to
// [Writer.Close], and the system gives the lock back when a process ends.
//
// A Dir may be used by many goroutines at once, a Writer or a File by one at a time.
package journalfile
