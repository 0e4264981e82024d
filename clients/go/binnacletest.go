// Package binnacletest starts a Kubernetes API server for a test: in memory, without containers, and with faults, a clock
// that moves, resets and copies.
//
//	server := binnacletest.Start(t)
//	client, err := kubernetes.NewForConfig(server.Config)
package binnacletest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	startTimeout = 30 * time.Second
	stopTimeout  = 20 * time.Second
)

// Server is a running server, or a copy of one.
type Server struct {
	// Config is the access of the administrator.
	Config *rest.Config
	// Kubeconfig is the same as text.
	Kubeconfig []byte

	t testing.TB
}

// Fault is injected into the requests that match all of its fields. See docs/testing.md for the effects.
type Fault struct {
	Verb        []string    `json:"verb,omitempty"`
	Resource    []string    `json:"resource,omitempty"`
	Kind        []string    `json:"kind,omitempty"`
	Group       string      `json:"group,omitempty"`
	Subresource string      `json:"subresource,omitempty"`
	Namespace   string      `json:"namespace,omitempty"`
	Name        string      `json:"name,omitempty"`
	User        string      `json:"user,omitempty"`
	Probability float64     `json:"probability,omitempty"`
	Times       int         `json:"times,omitempty"`
	Latency     string      `json:"latency,omitempty"`
	Status      int         `json:"status,omitempty"`
	RetryAfter  int         `json:"retryAfter,omitempty"`
	Cut         string      `json:"cut,omitempty"`
	AsOf        string      `json:"asOf,omitempty"`
	Behind      int         `json:"behind,omitempty"`
	Webhook     string      `json:"webhook,omitempty"`
	Watch       *WatchFault `json:"watch,omitempty"`
}

// WatchFault is what happens to the events of a watch.
type WatchFault struct {
	DropAfter         int    `json:"dropAfter,omitempty"`
	Delay             string `json:"delay,omitempty"`
	WithholdBookmarks bool   `json:"withholdBookmarks,omitempty"`
	Expired           bool   `json:"expired,omitempty"`
}

// Request is one that the server was sent.
type Request struct {
	Verb      string `json:"verb"`
	Path      string `json:"path"`
	Resource  string `json:"resource"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	User      string `json:"user"`
	UserAgent string `json:"userAgent"`
	Status    int    `json:"status"`
}

// User is one that CreateUser has made.
type User struct {
	Name string
	// Config is the access of the user.
	Config *rest.Config
}

// Start starts a server with further flags of `binnacle serve`, and stops it at the end of the test. If the test fails, the
// requests and the changed objects are logged. The executable is the one that the environment variable BINNACLE names, or
// binnacle in the PATH.
func Start(t testing.TB, flags ...string) *Server {
	t.Helper()
	directory := t.TempDir()
	command := strings.Fields(os.Getenv("BINNACLE"))
	if len(command) == 0 {
		command = []string{"binnacle"}
	}
	if _, err := exec.LookPath(command[0]); err != nil {
		t.Fatalf("%s is not installed: run `npm install --global binnacle`, or let BINNACLE name the executable", command[0])
	}
	args := append(command[1:], "serve", "--testing", "--stop-with-stdin", "--secure-port=0", "--data-dir="+directory)
	process := exec.Command(command[0], append(args, flags...)...)
	var stderr bytes.Buffer
	process.Stderr = &stderr
	stdout, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	// It ends with this program, so that the server stops also when the test is killed.
	if _, err := process.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatalf("binnacle did not start: %v", err)
	}
	t.Cleanup(func() { stop(process) })
	if err := waitReady(process, stdout); err != nil {
		stop(process)
		t.Fatalf("binnacle did not start: %v: %s", err, strings.TrimSpace(stderr.String()))
	}
	kubeconfig, err := os.ReadFile(filepath.Join(directory, "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	server := newServer(t, kubeconfig)
	server.reportFailure()
	return server
}

var ready = regexp.MustCompile(`ready at (\S+?),`)

func waitReady(process *exec.Cmd, stdout io.Reader) error {
	line := make(chan string, 1)
	reader := bufio.NewReader(stdout)
	go func() {
		text, _ := reader.ReadString('\n')
		line <- text
		_, _ = io.Copy(io.Discard, reader)
	}()
	select {
	case text := <-line:
		if !ready.MatchString(text) {
			return errors.New("it ended")
		}
		return nil
	case <-time.After(startTimeout):
		return fmt.Errorf("not ready within %s", startTimeout)
	}
}

func stop(process *exec.Cmd) {
	_ = process.Process.Signal(syscall.SIGTERM)
	killed := time.AfterFunc(stopTimeout, func() { _ = process.Process.Kill() })
	_ = process.Wait()
	killed.Stop()
}

func newServer(t testing.TB, kubeconfig []byte) *Server {
	t.Helper()
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return &Server{Config: config, Kubeconfig: kubeconfig, t: t}
}

// InjectFault switches a fault on.
func (s *Server) InjectFault(fault Fault) { s.t.Helper(); s.call("POST", "/faults", fault, nil) }

// ClearFaults switches all faults off.
func (s *Server) ClearFaults() { s.t.Helper(); s.call("DELETE", "/faults", nil, nil) }

// Chaos switches on a mixture of faults that is the same for the same seed.
func (s *Server) Chaos(seed int) {
	s.t.Helper()
	s.call("POST", "/chaos", map[string]int{"seed": seed}, nil)
}

// InjectedFault is a fault that a request has met.
type InjectedFault struct {
	Verb string `json:"verb"`
	Path string `json:"path"`
	User string `json:"user"`
	// Fault has the fields that were given, with the names of docs/testing.md.
	Fault map[string]any `json:"fault"`
}

// FaultReport has what was injected into which request.
func (s *Server) FaultReport() []InjectedFault {
	s.t.Helper()
	var list struct {
		Report []InjectedFault `json:"report"`
	}
	s.call("GET", "/faults", nil, &list)
	return list.Report
}

// AdvanceClock moves the time of the server.
func (s *Server) AdvanceClock(by time.Duration) {
	s.t.Helper()
	s.call("POST", "/clock", map[string]int64{"advance": by.Milliseconds()}, nil)
}

// MoveClockTo moves the time of the server to a later one.
func (s *Server) MoveClockTo(to time.Time) {
	s.t.Helper()
	s.call("POST", "/clock", map[string]string{"moveTo": to.UTC().Format(time.RFC3339Nano)}, nil)
}

// FreezeClock stops the time of the server; it can still be moved.
func (s *Server) FreezeClock() {
	s.t.Helper()
	s.call("POST", "/clock", map[string]bool{"freeze": true}, nil)
}

// RunClock lets the time of the server run, scale times as fast as usual.
func (s *Server) RunClock(scale float64) {
	s.t.Helper()
	s.call("POST", "/clock", map[string]float64{"run": scale}, nil)
}

// CreateUser makes a user without permissions beyond those of the groups.
func (s *Server) CreateUser(name string, groups ...string) User {
	s.t.Helper()
	var created struct {
		Token string `json:"token"`
	}
	s.call("POST", "/users", map[string]any{"name": name, "groups": append([]string{}, groups...)}, &created)
	config := rest.AnonymousClientConfig(s.Config)
	config.BearerToken = created.Token
	return User{Name: name, Config: config}
}

// Report has the last requests and the changed objects, as text.
func (s *Server) Report() string {
	s.t.Helper()
	var recording struct {
		Report string `json:"report"`
	}
	s.call("GET", "/recording", nil, &recording)
	return recording.Report
}

func (s *Server) reportFailure() {
	s.t.Cleanup(func() {
		if !s.t.Failed() {
			return
		}
		var recording struct {
			Report string `json:"report"`
		}
		if err := s.send("GET", "/recording", nil, &recording); err == nil {
			s.t.Log(recording.Report)
		}
	})
}

// Snapshot remembers the objects under a name.
func (s *Server) Snapshot(name string) {
	s.t.Helper()
	s.call("POST", "/snapshots", map[string]string{"name": name}, nil)
}

// Reset goes back to a snapshot; to the state after the start if the name is empty.
func (s *Server) Reset(name string) {
	s.t.Helper()
	body := map[string]string{}
	if name != "" {
		body["name"] = name
	}
	s.call("POST", "/reset", body, nil)
}

// CompactHistory makes every earlier resourceVersion too old.
func (s *Server) CompactHistory() { s.t.Helper(); s.call("POST", "/history/compact", nil, nil) }

// Requests are those that the server was sent so far.
func (s *Server) Requests() []Request {
	s.t.Helper()
	var list struct {
		Requests []Request `json:"requests"`
	}
	s.call("GET", "/requests", nil, &list)
	return list.Requests
}

// Fork starts an independent copy with the same objects for a test. It ends with the test, or with the server.
func (s *Server) Fork(t testing.TB) *Server {
	t.Helper()
	var copied struct {
		ID         string `json:"id"`
		Kubeconfig string `json:"kubeconfig"`
	}
	s.call("POST", "/forks", nil, &copied)
	t.Cleanup(func() { _ = s.send("DELETE", "/forks/"+copied.ID, nil, nil) })
	fork := newServer(t, []byte(copied.Kubeconfig))
	fork.reportFailure()
	return fork
}

func (s *Server) call(method, path string, body, answer any) {
	s.t.Helper()
	if err := s.send(method, path, body, answer); err != nil {
		s.t.Fatal(err)
	}
}

func (s *Server) send(method, path string, body, answer any) error {
	client, err := rest.HTTPClientFor(s.Config)
	if err != nil {
		return err
	}
	data := []byte("{}")
	if body != nil {
		if data, err = json.Marshal(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequest(method, s.Config.Host+"/binnacle/testing"+path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s: %s", method, path, response.Status, text)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text, answer)
}
