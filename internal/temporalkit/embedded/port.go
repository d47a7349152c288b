package embedded

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ErrPortInUse: a port that must be used is not free.
var ErrPortInUse = errors.New("is in use: choose another")

// Port is the port that a server should have, and whether another will do.
type Port struct {
	Number int
	Must   bool
}

// listenOn listens on the wanted port if it is free, else, unless it must be that
// one, on another.
func listenOn(want Port, what string) (net.Listener, error) {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(want.Number)))
	if err != nil && want.Must {
		return nil, fmt.Errorf("port %d for %s %w", want.Number, what, ErrPortInUse)
	}
	if err != nil {
		if l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return nil, fmt.Errorf("no free port for %s: %w", what, err)
		}
	}
	return l, nil
}

// Listen listens on the wanted port of this machine's loopback if it is free, else, unless it
// must be that one, on another.
func Listen(want Port, what string) (net.Listener, error) { return listenOn(want, what) }

// ChoosePort returns the wanted port if it is free, else, unless it must be that
// one, another free port.
func ChoosePort(want Port, what string) (int, error) {
	l, err := listenOn(want, what)
	if err != nil {
		return 0, err
	}
	return portOf(l), l.Close()
}

func portOf(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

func accepts(address string) bool {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// listens reports whether the process is the one that listens on the port: the one
// that accepts there may be another server, which took the port a moment before.
// Where the system gives no information (it has no /proc), the port counts as ours.
func listens(pid, port int) bool {
	if _, err := os.Stat("/proc/self/net/tcp"); err != nil {
		return true
	}
	sockets, err := listeners(pid, port)
	if err != nil {
		return false
	}
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		return false
	}
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && sockets[target] {
			return true
		}
	}
	return false
}

// listeners names the sockets, as /proc/PID/fd does, that listen on the port in
// the process's network, for any address.
func listeners(pid, port int) (map[string]bool, error) {
	const listen = "0A" // the state column's TCP_LISTEN
	sockets := map[string]bool{}
	for _, table := range []string{"tcp", "tcp6"} {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(bytes.NewReader(data))
		for lines.Scan() {
			// sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode
			f := strings.Fields(lines.Text())
			if len(f) > 9 && f[3] == listen && strings.HasSuffix(f[1], fmt.Sprintf(":%04X", port)) {
				sockets["socket:["+f[9]+"]"] = true
			}
		}
	}
	return sockets, nil
}
