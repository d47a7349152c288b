package webhook

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"recrawl/internal/crawl"
)

// nameServer answers queries with the given addresses, one after the other; the last one
// stays. It returns a resolver that asks it, by UDP.
func nameServer(t *testing.T, addrs ...string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return // closed
			}
			var m dnsmessage.Message
			if err := m.Unpack(buf[:n]); err != nil || len(m.Questions) != 1 {
				t.Errorf("a question that is none: %v", err)
				continue
			}
			q := m.Questions[0]
			reply := dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true, Authoritative: true}, Questions: m.Questions}
			if addr := netip.MustParseAddr(addrs[0]); addr.Is4() == (q.Type == dnsmessage.TypeA) {
				var body dnsmessage.ResourceBody = &dnsmessage.AAAAResource{AAAA: addr.As16()}
				if addr.Is4() {
					body = &dnsmessage.AResource{A: addr.As4()}
				}
				reply.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 0}, Body: body}}
				addrs = addrs[min(1, len(addrs)-1):]
			}
			packed, err := reply.Pack()
			if err != nil {
				t.Error(err)
				continue
			}
			if _, err := conn.WriteTo(packed, from); err != nil {
				return
			}
		}
	})
	t.Cleanup(func() {
		conn.Close()
		served.Wait()
	})
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// A name that leads to this machine, or inside, gets nothing, whatever it led to before.
func TestRebinding(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"127.0.0.1", "::1", "10.0.0.1", "192.168.1.1", "169.254.169.254", "100.100.100.200", "168.63.129.16", "fd00:ec2::254", "64:ff9b::7f00:1", "0.0.0.0"} {
		r := listen(t, false, nil)
		s, err := New(crawl.SinkSpec{To: "http://rebind.example:" + port(r)}, Options{Resolver: nameServer(t, addr)})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Send(t.Context(), change()); outcome(err) != "later" || !strings.Contains(err.Error(), "rebind.example: its address "+addr+" is ") {
			t.Errorf("%s: %v", addr, err)
		}
		if n := len(r.all()); n != 0 {
			t.Errorf("%s: %d requests came through", addr, n)
		}
		s.Close()
	}
}

// allow_private opens this machine and private networks; a name that changes to an address
// where clouds keep secrets is still refused.
func TestRebindingToMetadata(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"169.254.169.254", "fe80::1", "fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "168.63.129.16"} {
		r := listen(t, false, nil)
		s := sender(t, crawl.SinkSpec{To: "http://rebind.example:" + port(r)}, Options{Resolver: nameServer(t, "127.0.0.1", addr)}, nil)
		s.transport.DisableKeepAlives = true // so that the name is asked for again
		if err := s.Send(t.Context(), change()); err != nil {
			t.Fatal(err)
		}
		if err := s.Send(t.Context(), change()); outcome(err) != "later" || !strings.Contains(err.Error(), "one that no sink may send to") {
			t.Errorf("%s: %v", addr, err)
		}
		if n := len(r.all()); n != 1 {
			t.Errorf("%s: %d requests", addr, n)
		}
	}
}

func TestReach(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]struct{ plain, private bool }{
		"93.184.216.34": {true, true}, "2606:2800:220:1::1": {true, true},
		"127.0.0.1": {false, true}, "::1": {false, true}, "10.1.2.3": {false, true}, "172.31.0.1": {false, true},
		"192.168.0.1": {false, true}, "100.64.0.1": {false, true}, "fd12::1": {false, true},
		"169.254.0.1": {}, "169.254.169.254": {}, "fe80::1": {}, "fe80::1%eth0": {}, "fd00:ec2::254": {}, "fd20:ce::254": {},
		"fd00:ec2::254%eth0": {}, "100.100.100.200": {}, "168.63.129.16": {}, "0.0.0.0": {}, "::": {}, "224.0.0.1": {}, "255.255.255.255": {},
		"64:ff9b::a9fe:a9fe": {}, "2002:7f00:1::": {},
	} {
		for private, may := range map[bool]bool{false: want.plain, true: want.private} {
			a := netip.MustParseAddr(addr)
			network := "tcp6"
			if a.Is4() {
				network = "tcp4"
			}
			if err := reach(private).Control()(network, netip.AddrPortFrom(a, 443).String(), nil); (err == nil) != may {
				t.Errorf("%s, allow_private %v: %v", addr, private, err)
			}
		}
	}
}

// A proxy of the environment would look up the name itself, and could reach anything.
func TestProxyIsNotUsed(t *testing.T) {
	proxied := 0
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { proxied++ }))
	defer proxy.Close()
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"} {
		t.Setenv(name, proxy.URL)
	}
	r := listen(t, false, nil)
	s := sender(t, crawl.SinkSpec{To: "http://inside.example:" + port(r)}, Options{Resolver: nameServer(t, "169.254.169.254")}, nil)
	if err := s.Send(t.Context(), change()); outcome(err) != "later" || !strings.Contains(err.Error(), "one that no sink may send to") {
		t.Errorf("%v", err)
	}
	if proxied != 0 || len(r.all()) != 0 {
		t.Errorf("%d requests to the proxy, %d to the receiver", proxied, len(r.all()))
	}
}

func port(r *receiver) string { return r.URL[strings.LastIndexByte(r.URL, ':')+1:] }
