package trap

import "testing"

// Of a page with the content of another, links that lead to copies again are told from those
// that lead to pages of their own.
func TestLeads(t *testing.T) {
	t.Parallel()
	const a, b = "9f86d081884c7d65", "60303ae22b998861"
	for _, c := range []struct {
		name                string
		first, to, copy, on string
		has                 bool
	}{
		{"the same page", "/gallery?page=1", "/about", "/gallery?page=2", "/about", true},
		{"the pictures of a gallery", "/gallery?page=1", "/photo/1", "/gallery?page=2", "/photo/13", false},
		{"its next page", "/gallery?page=1", "/gallery?page=2", "/gallery?page=2", "/gallery?page=3", false},
		{"pictures by random names", "/gallery/1", "/photo/" + a, "/gallery/2", "/photo/" + b, false},
		{"a list below the one of posts", "/blog/", "/blog/page/2/", "/blog/page/2/", "/blog/page/3/", false},
		{"a folder that contains itself", "/a/", "/a/x", "/a/loop/", "/a/loop/x", true},
		{"and a folder in it", "/a/", "/a/b/", "/a/loop/", "/a/loop/b/", true},
		{"an error at each address", "/info/", "/info/about/", "/info/about/", "/info/about/about/", true},
		{"and beside it", "/info/", "/info/about/", "/jobs/", "/jobs/about/", true},
		{"a session in the query", "/p?v=" + a, "/q?v=" + a, "/p?v=" + b, "/q?v=" + b, true},
		{"a new session for each answer", "/p?v=1" + a, "/q?v=2" + a, "/p?v=1" + b, "/q?v=2" + b, true},
		{"a short one", "/p?v=1", "/q?v=1", "/p?v=2", "/q?v=2", true},
		{"a session that is found", "/p", "/q?sid=" + a, "/p?x=1", "/q?sid=" + b, true},
		{"a session in the path", "/" + a + "/p", "/" + a + "/q", "/" + b + "/p", "/" + b + "/q", true},
		{"a new one in the path", "/v/1/1" + a, "/v/2/2" + a, "/v/1/1" + b, "/v/2/2" + b, true},
		{"an action with a token", "/p/3", "/p/3?do=vote&key=1" + a, "/p/3?do=vote&key=1" + b, "/p/3?do=vote&key=2" + b, true},
		{"another action", "/p/3", "/p/3?do=flag&key=1" + a, "/p/3?do=vote&key=1" + b, "/p/3?do=flag&key=2" + b, true},
		{"the next part after a random name, which looks like a session", "/l?from=" + a, "/l?from=" + b, "/l?from=" + b, "/l?from=1" + b, true},
		{"days of months", "/2001/01/", "/2001/01/05", "/2001/02/", "/2001/02/05", false},
		{"the next day", "/2001/01/05", "/2001/01/06", "/2001/02/05", "/2001/02/06", false},
		{"versions", "/v1.2/", "/v1.2/intro.html", "/v1.10/", "/v1.10/intro.html", false},
		{"languages", "/en/", "/en/intro.html", "/pt-br/", "/pt-br/intro.html", false},
		{"another host", "/a/", "http://b.example/x/", "/loop/a/", "http://b.example/y/", false},
	} {
		resolve := func(page, link string) (from, to string) {
			const host = "http://a.example"
			if link[0] == '/' {
				link = host + link
			}
			return host + page, link
		}
		page, on := resolve(c.copy, c.on)
		leads := NewLeads(canonical(t, page))
		from, to := resolve(c.first, c.to)
		leads.Add(canonical(t, from), canonical(t, to))
		if has := leads.Has(canonical(t, on)); has != c.has {
			t.Errorf("%s: %v", c.name, has)
		}
	}
}
