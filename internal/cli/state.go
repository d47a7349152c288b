package cli

type stopCmd struct {
	Name string `arg:"" help:"The crawl."`
}

// Run stops a crawl.
func (c stopCmd) Run(s *session) error { return s.change(c.Name, Stop) }

type pauseCmd struct {
	Name string `arg:"" help:"The crawl."`
}

// Run pauses a crawl.
func (c pauseCmd) Run(s *session) error { return s.change(c.Name, Pause) }

type resumeCmd struct {
	Name string `arg:"" help:"The crawl."`
}

// Run resumes a crawl.
func (c resumeCmd) Run(s *session) error { return s.change(c.Name, Resume) }

type rankCmd struct {
	Name string `arg:"" help:"The crawl."`
}

// Run ranks a crawl.
func (c rankCmd) Run(s *session) error { return s.change(c.Name, Rank) }

func (s *session) change(name string, change Change) error {
	if err := checkName(name, nil); err != nil {
		return err
	}
	if s.places.Store != "" {
		message, err := s.env.Backend.ChangeCrawl(s.ctx, s.target(), name, change)
		if err != nil {
			return orNoCrawl(name, err)
		}
		return s.say("%s", message)
	}
	return s.withTemporal(func(client Client) error { // its workflow alone
		message, err := client.ChangeCrawl(s.ctx, name, change)
		if err != nil {
			return orNoCrawl(name, err)
		}
		return s.say("%s", message)
	})
}
