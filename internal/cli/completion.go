package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help implements kong.HelpProvider.
func (completionCmd) Help() string {
	return `So that every shell has it:

    source <(starter completion bash)                                  (in ~/.bashrc)
    source <(starter completion zsh)                                   (in ~/.zshrc, after compinit)
    starter completion fish > ~/.config/fish/completions/starter.fish`
}

// Run prints the shell's script.
func (c completionCmd) Run(s *session, parser *kong.Kong) error {
	nodes := completionNodes(parser.Model.Node, "starter")
	switch c.Shell {
	case "fish":
		return fishCompletion(s.env.Stdout, nodes)
	case "zsh":
		// Its bash emulation completes words well enough for one script.
		if _, err := fmt.Fprintln(s.env.Stdout, "autoload -U +X bashcompinit && bashcompinit"); err != nil {
			return err
		}
	}
	return bashCompletion(s.env.Stdout, nodes)
}

// completionNode is a command with its possible continuations.
type completionNode struct {
	path  string // "starter hosts block"
	words []string
	help  map[string]string
}

func completionNodes(n *kong.Node, path string) []completionNode {
	node := completionNode{path: path, help: map[string]string{}}
	add := func(word, help string) {
		node.words = append(node.words, word)
		node.help[word], _, _ = strings.Cut(help, "\n")
	}
	var below []completionNode
	for _, child := range n.Children {
		if child.Type == kong.CommandNode && !child.Hidden {
			add(child.Name, child.Help)
			below = append(below, completionNodes(child, path+" "+child.Name)...)
		}
	}
	for _, group := range n.AllFlags(true) {
		for _, flag := range group {
			add("--"+flag.Name, flag.Help)
		}
	}
	return append([]completionNode{node}, below...)
}

func bashCompletion(out io.Writer, nodes []completionNode) error {
	var b strings.Builder
	b.WriteString("# bash completion of recrawl's starter\n_starter() {\n" +
		"  local path=starter word words=\"\" i\n" +
		"  for ((i = 1; i < COMP_CWORD; i++)); do\n" +
		"    word=\"${COMP_WORDS[i]}\"\n    case \"$path $word\" in\n")
	for _, n := range nodes[1:] {
		fmt.Fprintf(&b, "      %q) path=%q ;;\n", n.path, n.path)
	}
	b.WriteString("    esac\n  done\n  case \"$path\" in\n")
	for _, n := range nodes {
		fmt.Fprintf(&b, "    %q) words=%q ;;\n", n.path, strings.Join(n.words, " "))
	}
	b.WriteString("  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\n" +
		"complete -o default -F _starter starter\n")
	_, err := io.WriteString(out, b.String())
	return err
}

func fishCompletion(out io.Writer, nodes []completionNode) error {
	var b strings.Builder
	b.WriteString("# fish completion of recrawl's starter\n")
	for _, n := range nodes {
		condition := "__fish_use_subcommand"
		if _, below, ok := strings.Cut(n.path, " "); ok {
			condition = "__fish_seen_subcommand_from " + below[strings.LastIndexByte(below, ' ')+1:]
		}
		for _, word := range n.words {
			option := "-a " + word
			if name, ok := strings.CutPrefix(word, "--"); ok {
				option = "-l " + name
			}
			fmt.Fprintf(&b, "complete -c starter -n %q %s -d %q\n", condition, option, n.help[word])
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}
