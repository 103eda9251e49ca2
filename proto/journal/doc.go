// Package journal is what `fsweep-exec` notes down of what it does to a cluster: the
// types, the codec, the chain of hashes and every rule that a file must keep to be a
// journal. It opens nothing and decides nothing: [Encoder] makes bytes of lines,
// [Open] reads them from an [io.ReadSeeker]. Package execute/journalfile puts them
// into files.
//
// A journal is JSON Lines in one canonical form, described in docs/format/journal.md
// and in journal.schema.json ([Schema]):
//
//	header    who acts, by which plan, on which cluster ([Header])
//	intent    a change that is going to be asked for ([Intent])
//	done      it happened, seen with own eyes ([Done])
//	skipped   a check kept an item ([Skipped])
//	failed    the change was refused, or could not be asked for ([Failed])
//	unknown   whether it happens is not known ([Unknown])
//	settled   what became of an intent, found out later ([Settled])
//	resumed   another process goes on ([Resumed])
//	end       the process ended by its own will ([End])
//
// Every line has its number and the SHA-256 of the line before, so a line that is
// changed, taken out, put in or moved is noticed at the next one, and the last hash
// stands for the whole file. Who has it on paper can tell that a journal is whole.
//
// # Reading
//
// A crash leaves a beginning of a journal, cut anywhere. [Open] checks every line and
// accepts exactly that: complete lines that keep all rules, and behind them at most
// one piece without newline, which is torn and of which nothing but its length is
// told. Anything else is refused, with line and column, and nothing of such a file is
// handed out.
//
// The iterators read the same descriptor again and compare blocks of 64 KiB with what
// Open saw before a byte of them is decoded. A journal that another process is writing
// to can be read: it is what it was when it was opened.
//
// # Memory
//
// Lines are streamed. Encoder and Reader keep about 120 bytes for each item, and 12
// for each call of the present process; a Reader also 32 for each 64 KiB. What is
// returned is the caller's and stays valid.
//
// # Goroutines
//
// An Encoder or a Reader belongs to one goroutine at a time. Iterators of one Reader
// may be nested.
package journal
