package main

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fsweep/cmd/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){program: main})
}

// TestScripts runs what a user types where there is no cluster. "exits N COMMAND…"
// requires an exit code; nobody listens at $NOBODY, host:port.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			env.Setenv("NOBODY", l.Addr().String())
			return l.Close()
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// TestManual: the manual names every flag of every command, and none that there is
// not.
func TestManual(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	flags := map[string]bool{}
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { flags["--"+f.Name] = true })
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(newRoot(&cli.Env{}))
	named := map[string]bool{}
	// What else is written with two dashes are options of other programs, in the commands
	// of which nothing else stands.
	others := regexp.MustCompile("`hdfs [^`]*`")
	for _, f := range regexp.MustCompile(`--[a-z][a-z-]*`).FindAllString(others.ReplaceAllString(string(manual), ""), -1) {
		named[f] = true
		if !flags[f] {
			t.Errorf("docs/operations.md names %s, which does not exist", f)
		}
	}
	for f := range flags {
		if !named[f] {
			t.Errorf("docs/operations.md does not name %s", f)
		}
	}
	if len(flags) < 6 {
		t.Errorf("only %d flags", len(flags))
	}
}

// TestExitCodes: the table of the manual and the help have the same codes.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("../../docs/EXIT_CODES.md")
	if err != nil {
		t.Fatal(err)
	}
	_, own, ok := strings.Cut(string(table), "`fsweep-exec`")
	if !ok {
		t.Fatal("no table of fsweep-exec")
	}
	for _, m := range regexp.MustCompile(`(?m)^  (\d+)  `).FindAllStringSubmatch(exitStatus, -1) {
		if !strings.Contains(own, "\n| "+m[1]+" |") {
			t.Errorf("docs/EXIT_CODES.md does not have code %s of fsweep-exec", m[1])
		}
	}
}
