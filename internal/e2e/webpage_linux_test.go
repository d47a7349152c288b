package e2e

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// descendants are a process and all that it started.
func descendants(t *testing.T, root int) []int {
	t.Helper()
	children := map[int][]int{}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:])) // from field 3, state
		parent, err := strconv.Atoi(fields[1])
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.Split(path, "/")[2])
		if err != nil {
			t.Fatal(err)
		}
		children[parent] = append(children[parent], pid)
	}
	all := []int{root}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}

// listening are the addresses on which a process accepts TCP connections.
func listening(t *testing.T, pid int) []netip.AddrPort {
	t.Helper()
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	sockets := map[string]bool{}
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil {
			sockets[target] = true
		}
	}
	var all []netip.AddrPort
	for _, table := range []string{"tcp", "tcp6"} {
		file, err := os.Open(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for lines := bufio.NewScanner(file); lines.Scan(); {
			if f := strings.Fields(lines.Text()); len(f) > 9 && f[3] == "0A" && sockets["socket:["+f[9]+"]"] {
				all = append(all, kernelAddress(t, f[1]))
			}
		}
	}
	return all
}

// kernelAddress reads an address as /proc/net/tcp writes it: words of four bytes,
// each the wrong way round.
func kernelAddress(t *testing.T, text string) netip.AddrPort {
	t.Helper()
	ip, port, _ := strings.Cut(text, ":")
	bytes, err := hex.DecodeString(ip)
	if err != nil {
		t.Fatal(err)
	}
	for word := range slices.Chunk(bytes, 4) {
		slices.Reverse(word)
	}
	addr, ok := netip.AddrFromSlice(bytes)
	number, err := strconv.ParseUint(port, 16, 16)
	if !ok || err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return netip.AddrPortFrom(addr.Unmap(), uint16(number))
}

// forgery is a request that a page of attacker.example can have the operator's
// browser make.
type forgery struct {
	method, path, body string
	header             map[string]string
}

// forgeries are calls that end workflows, start some, or read from them.
func forgeries(address netip.AddrPort) []forgery {
	const batch = `{"visibilityQuery":"ExecutionStatus='Running'","reason":"x","terminationOperation":{"identity":"x"}}`
	calls := []forgery{
		{method: "POST", path: "/api/v1/namespaces/default/batch-operations/forged", body: batch},
		{method: "POST", path: "/namespaces/default/batch-operations/forged", body: batch},
		{method: "POST", path: "/api/v1/namespaces/default/workflows/crawl%2Ft/terminate", body: "{}"},
		{method: "POST", path: "/api/v1/namespaces/default/workflows/crawl%2Ft/cancel", body: "{}"},
		{method: "POST", path: "/api/v1/namespaces/default/workflows/forged", body: `{"workflowType":{"name":"Crawl"},"taskQueue":{"name":"recrawl"}}`},
		{method: "POST", path: "/api/v1/cluster/namespaces", body: `{"namespace":"forged","workflowExecutionRetentionPeriod":"86400s"}`},
		{method: "DELETE", path: "/api/v1/namespaces/default/schedules/x"},
		{method: "GET", path: "/api/v1/namespaces/default/workflows"},
		{method: "GET", path: "/namespaces/default/workflows"},
	}
	var all []forgery
	for _, c := range calls {
		across := map[string]string{"Origin": "http://attacker.example", "Content-Type": "text/plain", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
		// Older browsers do not say where a request comes from, other than by its Origin.
		old := map[string]string{"Origin": "http://attacker.example", "Content-Type": "text/plain"}
		sandboxed := map[string]string{"Origin": "null", "Content-Type": "application/x-www-form-urlencoded"}
		// A site of our own machine is another site too.
		neighbour := map[string]string{"Origin": "http://localhost:3000", "Content-Type": "text/plain", "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}
		for _, header := range []map[string]string{across, old, sandboxed, neighbour} {
			all = append(all, forgery{c.method, c.path, c.body, header})
		}
		// A name of the attacker's that leads to this machine makes the page one of the
		// same origin: it may send any header and read all answers.
		for _, host := range []string{"attacker.example", "localhost.attacker.example", "127.0.0.1.attacker.example"} {
			host := fmt.Sprintf("%s:%d", host, address.Port())
			rebound := map[string]string{"Host": host, "Content-Type": "application/json", "Sec-Fetch-Site": "same-origin", "Cookie": "_csrf=forged", "X-Csrf-Token": "forged"}
			if c.method != "GET" {
				rebound["Origin"] = "http://" + host
			}
			all = append(all, forgery{c.method, c.path, c.body, rebound})
		}
	}
	return all
}

// send makes a request as it is. It returns the status, 0 if it was not answered
// as HTTP.
func (f forgery) send(t *testing.T, address netip.AddrPort) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, f.method, "http://"+address.String()+f.path, strings.NewReader(f.body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range f.header {
		r.Header.Set(name, value)
	}
	if host := f.header["Host"]; host != "" {
		r.Host = host
	}
	client := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(r)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %s %s of %v: no refusal within %s", address, f.method, f.path, f.header, patience())
		}
		return 0
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// TestWebPage: no page in the operator's browser can do anything to the workflows of
// `starter dev`, or read from them, on whatever port of its processes.
func TestWebPage(t *testing.T) {
	sideBySide(t, 15)
	s := serve(t, tree(3))
	d := startDev(t, filepath.Join(t.TempDir(), "data"), crawlArgs(s, "10ms")...)
	d.await("the pages are visited", d.crawled("t", 3, 1))
	counts := func(want int, query string) bool {
		return strings.TrimSpace(d.temporal("workflow", "count", "--query", query)) == fmt.Sprintf("Total: %d", want)
	}
	// Without Discovers, which come and go.
	running := func() bool { return counts(4, "ExecutionStatus = 'Running' AND WorkflowType IN ('Crawl', 'Page')") }
	d.await("the crawl and its pages run", running)
	ui := d.state().UI
	ports := map[uint16]bool{}
	for _, pid := range descendants(t, d.cmd.Process.Pid) {
		for _, address := range listening(t, pid) {
			ports[address.Port()] = true
			if !address.Addr().IsLoopback() {
				t.Errorf("process %d listens on %s, beyond this machine", pid, address)
			}
			attack(t, address)
		}
	}
	for _, known := range []string{d.state().Address, strings.TrimPrefix(ui, "http://")} {
		if _, port, err := net.SplitHostPort(known); err != nil || !ports[portNumber(t, port)] {
			t.Errorf("%s is not among the ports that were found: %v", known, ports)
		}
	}
	d.await("the crawl and its pages run after the attack", running)
	if !counts(0, "ExecutionStatus IN ('Terminated', 'Canceled') OR WorkflowId = 'forged'") {
		t.Errorf("workflows were ended or started: %s", d.temporal("workflow", "list"))
	}
	if batches := d.temporal("batch", "list"); strings.Contains(batches, "forged") {
		t.Errorf("batch operations were started: %s", batches)
	}
	if namespaces := d.temporal("operator", "namespace", "list"); strings.Contains(namespaces, "forged") {
		t.Errorf("namespaces were made: %s", namespaces)
	}
	checkUI(t, ui)
	d.stop()
}

// attack sends every forgery to an address. The UI's server has a loopback address of its
// own, which no page can know or find among millions: there only forgeries that need no
// name of the attacker's are refused.
func attack(t *testing.T, address netip.AddrPort) {
	t.Helper()
	hidden := address.Addr().Is4() && address.Addr() != netip.MustParseAddr("127.0.0.1")
	for _, f := range forgeries(address) {
		if hidden && (f.header["Host"] != "" || f.method == "GET") {
			continue
		}
		if status := f.send(t, address); status != 0 && status < 400 {
			t.Errorf("%s: %s %s of %v was answered %d", address, f.method, f.path, f.header, status)
		}
	}
}

// checkUI uses the UI as a browser does: a page, what it reads, and a change, with
// the token that it got.
func checkUI(t *testing.T, ui string) {
	t.Helper()
	for _, base := range []string{ui, strings.Replace(ui, "localhost", "127.0.0.1", 1)} {
		get := func(path string, header map[string]string) *http.Response {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			for name, value := range header {
				r.Header.Set(name, value)
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { resp.Body.Close() })
			return resp
		}
		page := get("/", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}) // by a link
		text, err := io.ReadAll(page.Body)
		if err != nil || page.StatusCode != http.StatusOK || !strings.Contains(string(text), "<html") {
			t.Errorf("%s: %d, %v: %.100s", base, page.StatusCode, err, text)
		}
		list := get("/api/v1/namespaces/default/workflows", map[string]string{"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"})
		text, err = io.ReadAll(list.Body)
		if err != nil || list.StatusCode != http.StatusOK || !strings.Contains(string(text), "crawl/t") {
			t.Errorf("%s lists %d, %v: %.100s", base, list.StatusCode, err, text)
		}
		change, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
			base+"/api/v1/namespaces/default/workflows/crawl%2Ft/signal/none", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Origin": base, "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "Content-Type": "application/json"} {
			change.Header.Set(name, value)
		}
		for _, c := range page.Cookies() {
			change.AddCookie(c)
			if c.Name == "_csrf" {
				change.Header.Set("X-Csrf-Token", c.Value)
			}
		}
		resp, err := http.DefaultClient.Do(change)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s: a signal was answered %d", base, resp.StatusCode)
		}
	}
}

func portNumber(t *testing.T, text string) uint16 {
	t.Helper()
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	return uint16(port)
}
