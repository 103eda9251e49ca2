package cli

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Usage marks an error as one of the command line.
func Usage(cmd *cobra.Command, err error) error {
	return &UsageError{Command: cmd.CommandPath(), Err: err}
}

// NoSubcommand is for a command that only has others below it: whatever is typed is
// not one of them.
func NoSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := Usage(cmd, fmt.Errorf("unknown command %q", args[0]))
	if similar := cmd.SuggestionsFor(args[0]); len(similar) > 0 {
		return WithHint(err, "did you mean %s?", strings.Join(similar, " or "))
	}
	return err
}

// Choice is a flag that takes one of a few words.
type Choice struct {
	Value   string
	allowed []string
}

// String implements pflag.Value.
func (c *Choice) String() string { return c.Value }

// Set takes the value that the user typed.
func (c *Choice) Set(s string) error {
	if !slices.Contains(c.allowed, s) {
		return fmt.Errorf("must be %s", strings.Join(c.allowed, " or "))
	}
	c.Value = s
	return nil
}

// Type is shown in the help.
func (c *Choice) Type() string { return strings.Join(c.allowed, "|") }

// AddChoice adds a flag whose default is the value that it has, if it has one.
func AddChoice(flags *pflag.FlagSet, c *Choice, name, help string, allowed ...string) {
	c.allowed = allowed
	flags.Var(c, name, help)
	if c.Value != "" {
		flags.Lookup(name).DefValue = c.Value
	}
}

// AddOutput adds the flag -o.
func AddOutput(flags *pflag.FlagSet, name *string) {
	flags.StringVarP(name, "output", "o", "-", "`file` to write, complete or not at all; - is standard output")
}

// CheckOutput refuses the empty name: an unset variable of a script, most likely.
func CheckOutput(env *Env, name string) error {
	if name != "" {
		return nil
	}
	return &UsageError{Command: env.Name, Err: errors.New("-o needs the name of a file, or - for standard output")}
}

// Version is what --version prints for a program.
func Version(program string) string {
	return fmt.Sprintf("%s %s %s %s/%s", program, ModuleVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// ModuleVersion is the version that was built.
func ModuleVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
