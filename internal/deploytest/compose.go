// Package deploytest reads docker-compose.yml with Compose's own parser, for
// tests that check it and that run its commands without containers. Tests only.
package deploytest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Project is the content of a Compose file, with all defaults and variables filled in.
type Project struct {
	Services map[string]Service `json:"services"`
}

// Service is the part of a service that the tests look at.
type Service struct {
	Image         string                `json:"image"`
	Build         *Build                `json:"build"`
	Entrypoint    []string              `json:"entrypoint"` // nil is the image's
	Command       []string              `json:"command"`    // nil is the image's
	Environment   map[string]*string    `json:"environment"`
	Ports         []Port                `json:"ports"`
	Volumes       []Mount               `json:"volumes"`
	DependsOn     map[string]Dependency `json:"depends_on"`
	Healthcheck   *Healthcheck          `json:"healthcheck"`
	Deploy        Deploy                `json:"deploy"`
	Profiles      []string              `json:"profiles"`
	Restart       string                `json:"restart"`
	StopGrace     string                `json:"stop_grace_period"`
	NetworkMode   string                `json:"network_mode"`
	Privileged    bool                  `json:"privileged"`
	User          string                `json:"user"`
	ContainerName string                `json:"container_name"`
}

// Build says how a service's image is made.
type Build struct {
	Context    string `json:"context"`
	Dockerfile string `json:"dockerfile"`
}

// Port is a port that is published on the machine.
type Port struct {
	HostIP    string `json:"host_ip"`
	Published string `json:"published"`
	Target    int    `json:"target"`
}

// Mount is a volume or a folder of the machine in a container.
type Mount struct {
	Type     string `json:"type"`   // bind or volume
	Source   string `json:"source"` // absolute path, or the volume's name
	Target   string `json:"target"`
	ReadOnly bool   `json:"read_only"`
}

// Dependency is the required state of another service.
type Dependency struct {
	Condition string `json:"condition"`
	Required  bool   `json:"required"`
}

// Conditions of a Dependency.
const (
	Healthy   = "service_healthy"
	Completed = "service_completed_successfully"
)

// Healthcheck is the command by which a container is found healthy.
type Healthcheck struct {
	Test []string `json:"test"`
}

// Deploy says how many containers a service has.
type Deploy struct {
	Replicas *int `json:"replicas"`
}

// Replicas returns the number of a service's containers.
func (s Service) Replicas() int {
	if s.Deploy.Replicas == nil {
		return 1
	}
	return *s.Deploy.Replicas
}

// Env returns the service's environment, without variables that have no value.
func (s Service) Env() map[string]string {
	env := map[string]string{}
	for name, value := range s.Environment {
		if value != nil {
			env[name] = *value
		}
	}
	return env
}

// Argv returns the command that the service's container runs; image is the command of its
// image.
func (s Service) Argv(image ...string) []string {
	switch {
	case len(s.Entrypoint) == 0 && len(s.Command) == 0:
		return image
	case len(s.Command) == 0:
		return s.Entrypoint
	}
	return slices.Concat(s.Entrypoint, s.Command)
}

// Load reads the repository's docker-compose.yml in an environment of the given
// NAME=value pairs alone. It fails on what Compose refuses: unknown fields, wrong
// types, unset required variables, missing services and volumes.
func Load(ctx context.Context, env ...string) (Project, error) {
	root, err := Root(ctx)
	if err != nil {
		return Project{}, err
	}
	return LoadFile(ctx, filepath.Join(root, "docker-compose.yml"), env...)
}

// LoadFile is Load for another file.
func LoadFile(ctx context.Context, file string, env ...string) (Project, error) {
	root, err := Root(ctx)
	if err != nil {
		return Project{}, err
	}
	parser := filepath.Join(root, "bin", "compose-config")
	if _, err := os.Stat(parser); err != nil {
		return Project{}, fmt.Errorf("compose's parser is missing (%s): run `make compose-config`", parser)
	}
	cmd := exec.CommandContext(ctx, parser, file)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
	var problem strings.Builder
	cmd.Stderr = &problem
	text, err := cmd.Output()
	if err != nil {
		return Project{}, fmt.Errorf("%w: %s", err, strings.TrimSpace(problem.String()))
	}
	var p Project
	if err := json.Unmarshal(text, &p); err != nil {
		return Project{}, fmt.Errorf("read what the parser prints: %w", err)
	}
	return p, nil
}

// Root returns the repository's folder.
func Root(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

// Order lists the services so that each comes after those it depends on. A
// circle is an error that names it.
func (p Project) Order() ([]string, error) {
	var order, path []string
	done := map[string]bool{}
	var visit func(name string) error
	visit = func(name string) error {
		if i := slices.Index(path, name); i >= 0 {
			return fmt.Errorf("services depend on each other: %s", strings.Join(append(path[i:], name), " → "))
		}
		service, ok := p.Services[name]
		switch {
		case !ok:
			return fmt.Errorf("%s depends on %s, which is not a service", path[len(path)-1], name)
		case done[name]:
			return nil
		}
		path = append(path, name)
		for _, before := range slices.Sorted(maps.Keys(service.DependsOn)) {
			if err := visit(before); err != nil {
				return err
			}
		}
		path = path[:len(path)-1]
		done[name] = true
		order = append(order, name)
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(p.Services)) {
		if err := visit(name); err != nil {
			return nil, err
		}
	}
	return order, nil
}

// Job reports whether a service runs once: others wait for its end.
func (p Project) Job(name string) bool {
	for _, s := range p.Services {
		if s.DependsOn[name].Condition == Completed {
			return true
		}
	}
	return false
}
