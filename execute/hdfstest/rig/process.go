package rig

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	// startTime is long because the first start of a version fetches it.
	startTime = 15 * time.Minute
	// commandTime is more than any command takes on a busy machine.
	commandTime = 90 * time.Second
)

// process is one JVM: scripts/rigs/hadoop/rig serve or kdc, which replaces itself by it.
type process struct {
	name   string
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan string   // what it says; closed at its end
	done   chan struct{} // closed when it has ended
	stderr string        // a file
}

// startProcess starts servers of Hadoop. It does not wait until they are ready.
func startProcess(t testing.TB, c *Cluster, name string, args ...string) *process {
	t.Helper()
	env := []string{"RIG_HEAP=512m"}
	if c.kdc != nil {
		env = append(env, "RIG_KRB5="+c.serverKrb5(), "RIG_JAVA="+c.opts.Kerberos.JavaOptions)
	}
	return start(t, c, name, env, append([]string{"serve", c.opts.Version}, args...)...)
}

// start starts the script with a verb and its arguments.
func start(t testing.TB, c *Cluster, name string, env []string, args ...string) *process {
	t.Helper()
	p := &process{name: name, lines: make(chan string, 1), done: make(chan struct{}), stderr: filepath.Join(c.dir, name+".err")}
	p.cmd = exec.Command(script(t), args...)
	p.cmd.Env = append(os.Environ(), env...)
	// A process that was frozen would otherwise outlive a test that was killed.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	stderr, err := os.OpenFile(p.stderr, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatalf("rig: %v", err)
	}
	defer stderr.Close()
	p.cmd.Stderr = stderr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatalf("rig: %v", err)
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		t.Fatalf("rig: %v", err)
	}
	p.cmd.Stdout = stdout
	started := make(chan error)
	go p.run(started)
	err = <-started
	_ = stdout.Close() // the process has its own
	if err != nil {
		_ = out.Close()
		t.Fatalf("rig: %v", err)
	}
	go p.read(out)
	// A restarted NameNode lives longer than the test that restarted it.
	c.owner.Cleanup(func() { p.end(c.owner) })
	return p
}

// run stays on its thread: the system takes the end of the thread that started a
// process for the end of its parent.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer close(p.done)
	err := p.cmd.Start()
	started <- err
	if err == nil {
		_ = p.cmd.Wait() // it is killed in the end, so the status says nothing
	}
}

func (p *process) read(out io.ReadCloser) {
	defer close(p.lines)
	defer out.Close()
	for r := bufio.NewReader(out); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		select {
		case p.lines <- strings.TrimSuffix(line, "\n"):
		case <-p.done:
			return
		}
	}
}

// end kills it, and shows what it complained about if the test failed.
func (p *process) end(t testing.TB) {
	p.kill()
	if !t.Failed() {
		return
	}
	b, err := os.ReadFile(p.stderr)
	if s := withoutNoise(string(b)); err == nil && s != "" {
		t.Logf("rig: %s says:\n%s", p.name, s[max(0, len(s)-8<<10):])
	}
}

// withoutNoise leaves out a thread that fails at every failover, in Hadoop itself.
func withoutNoise(log string) string {
	var b strings.Builder
	noise := false
	for line := range strings.Lines(log) {
		if !strings.HasPrefix(line, "\tat ") {
			noise = strings.Contains(line, `"reencryptionUpdaterThread`)
		}
		if !noise {
			b.WriteString(line)
		}
	}
	return b.String()
}

func (p *process) signal(s syscall.Signal) error {
	if p.ended() {
		return fmt.Errorf("%s has ended", p.name)
	}
	return p.cmd.Process.Signal(s)
}

// freeze stops it with SIGSTOP, or lets it go on.
func (p *process) freeze(frozen bool) error {
	if frozen {
		return p.signal(syscall.SIGSTOP)
	}
	return p.signal(syscall.SIGCONT)
}

// stopped tells whether each of its threads has been stopped by a signal. The
// state follows the name in parentheses.
func (p *process) stopped() bool {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.cmd.Process.Pid))
	if err != nil || len(tasks) == 0 {
		return false
	}
	for _, task := range tasks {
		b, err := os.ReadFile(task)
		if err != nil {
			continue // the thread has ended
		}
		if i := strings.LastIndexByte(string(b), ')'); i < 0 || !strings.HasPrefix(string(b[i:]), ") T") {
			return false
		}
	}
	return true
}

// kill kills the group: while it is being built, the script has children.
func (p *process) kill() {
	if !p.ended() {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // it may end meanwhile
	}
	<-p.done
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *process) awaitReady(t testing.TB) {
	t.Helper()
	line, err := p.line(startTime)
	if err != nil || !strings.HasPrefix(line, "READY ") {
		t.Fatalf("rig: %s is not ready: %q, %v", p.name, line, err)
	}
}

func (p *process) line(limit time.Duration) (string, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case line, ok := <-p.lines:
		if !ok {
			return "", errors.New("the process has ended")
		}
		return line, nil
	case <-timer.C:
		return "", fmt.Errorf("no answer within %v", limit)
	}
}

// command has it carry out one command and gives the result. One at a time.
func (p *process) command(words ...string) (string, error) {
	coded := make([]string, len(words))
	for i, w := range words {
		coded[i] = url.QueryEscape(w)
	}
	if _, err := io.WriteString(p.in, strings.Join(coded, " ")+"\n"); err != nil {
		return "", err
	}
	line, err := p.line(commandTime)
	if err != nil {
		return "", err
	}
	status, text, _ := strings.Cut(line, " ")
	text, err = url.QueryUnescape(text)
	if err != nil {
		return "", fmt.Errorf("answer %q: %w", line, err)
	}
	if status != "OK" {
		first, _, _ := strings.Cut(text, "\n")
		return "", errors.New(first)
	}
	return text, nil
}

func (p *process) must(t testing.TB, words ...string) string {
	t.Helper()
	s, err := p.command(words...)
	if err != nil {
		t.Fatalf("rig: %s: %.200q: %v", p.name, words, err)
	}
	return s
}
