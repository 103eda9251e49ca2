package policy

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits of a policy file. Policies are written by people: what is larger is
// another file. They also keep the parser, which takes time that grows with the
// square of depth and keys, far below a second.
const (
	MaxBytes  = 1 << 20
	maxKeys   = 8000
	maxTokens = 100_000
	maxDepth  = 12 // the policy itself needs six
)

// Parse reads a policy. name is that of the file and appears in messages.
// Keys that are left out have their defaults. An error is a [*Error] and has
// all problems, unless the first kept the rest from being looked at.
func Parse(name string, src []byte) (*Policy, error) {
	text, problem := checkText(src)
	s := newSource(name, text)
	if problem != nil {
		return nil, s.failed(*problem)
	}
	body, problem := parseYAML(text)
	if problem != nil {
		return nil, s.failed(*problem)
	}
	p := Defaults()
	p.name = name
	d := decoder{source: s}
	d.document(body, &p)
	if len(d.problems) > 0 {
		return nil, s.failed(d.problems...)
	}
	if !s.has("hold_paths") {
		p.HoldPaths = []Path{p.LockDir + holdFile}
	}
	if problems := check(&p, s); len(problems) > 0 {
		return nil, s.failed(problems...)
	}
	return &p, nil
}

// byteOrderMark may start a text: some editors write it, and it means nothing.
const byteOrderMark = "\ufeff"

// checkText checks bytes before anything looks at their meaning.
func checkText(src []byte) (string, *Problem) {
	if len(src) > MaxBytes {
		return "", &Problem{Message: fmt.Sprintf("%d bytes are too large for a policy; the limit is %d", len(src), MaxBytes)}
	}
	text := strings.TrimPrefix(string(src), byteOrderMark)
	text = strings.ReplaceAll(text, "\r\n", "\n")
	line := 0
	for l := range strings.Lines(text) {
		line++
		at := position{line: line}
		indent := true
		for i := 0; i < len(l); {
			r, n := utf8.DecodeRuneInString(l[i:])
			i += n
			at.column++
			if message := checkRune(r, n, indent); message != "" {
				p := at.problem("", message)
				return text, &p
			}
			indent = indent && r == ' '
		}
	}
	return text, nil
}

// checkRune tells what is wrong with a character of n bytes.
func checkRune(r rune, n int, indent bool) string {
	switch {
	case r == utf8.RuneError && n == 1:
		return "the file is not UTF-8 here"
	case r == '\t' && indent:
		return "a tab where the line is indented; YAML allows only blanks"
	case r == '\t', r == '\n':
		return ""
	case r < ' ', r >= 0x7f && r < 0xa0, r == 0x2028, r == 0x2029, r == 0xfeff:
		return fmt.Sprintf(`the control character U+%04X; in double quotes it can be written as "\u%04x"`, r, r)
	}
	return ""
}

// parseYAML gives the one document of the text.
func parseYAML(text string) (body ast.Node, problem *Problem) {
	fail := func(at position, format string, args ...any) (ast.Node, *Problem) {
		p := at.problem("", fmt.Sprintf(format, args...))
		return nil, &p
	}
	// The library panics on some texts that are no YAML: that is an error of theirs.
	defer func() {
		if v := recover(); v != nil {
			body, problem = fail(position{line: 1, column: 1}, "not YAML that can be read: %v", v)
		}
	}()
	tokens := lexer.Tokenize(text)
	if p := checkTokens(tokens); p != nil {
		return nil, p
	}
	if p := checkForm(tokens, text); p != nil {
		return nil, p
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) // the decoder finds them
	if syntax, ok := errors.AsType[*yaml.SyntaxError](err); ok {
		return fail(tokenPosition(syntax.Token), "not valid YAML: %s", plainer(syntax.Message))
	}
	if err != nil {
		return fail(position{line: 1, column: 1}, "not valid YAML: %v", err)
	}
	for _, doc := range file.Docs {
		if doc.Body != nil && body != nil {
			return fail(tokenPosition(doc.Body.GetToken()), "a second document; a policy is one")
		}
		if doc.Body != nil {
			body = doc.Body
		}
	}
	if body == nil {
		return fail(position{}, "the policy is empty; nothing is planned without one")
	}
	return body, nil
}

// plainer says some of the library's messages to people who do not know its words.
func plainer(message string) string {
	switch message {
	case "non-map value is specified":
		return "this has no colon, so it is no key with a value"
	case "value is not allowed in this context":
		return "this does not belong here; is it indented as what is above?"
	}
	return message
}

// checkTokens refuses what a policy has no use for, and what is too much to parse.
func checkTokens(tokens token.Tokens) *Problem {
	var n amount
	content := false
	for _, t := range tokens {
		message := refused(t, content)
		if message == "" && n.tooMuch(t) {
			message = "too many or too deep values for a policy"
		}
		if message != "" {
			p := tokenPosition(t).problem("", message)
			return &p
		}
		content = content || t.Type != token.CommentType && t.Type != token.DocumentHeaderType
	}
	return nil
}

// refused tells why a token may not be in a policy. content is whether something
// stood before it.
func refused(t *token.Token, content bool) string {
	switch t.Type {
	case token.AnchorType, token.AliasType, token.MergeKeyType:
		return "anchors, aliases and merge keys are not allowed: whoever reads a policy must see what is in force; write the value out"
	case token.TagType:
		return "tags are not allowed; write the value without"
	case token.DirectiveType, token.DocumentEndType:
		return "directives and ends of documents are not allowed"
	case token.MappingKeyType:
		return "keys with ? are not allowed; write key: value"
	case token.LiteralType, token.FoldedType:
		return "block text is not allowed; write the value in quotes on its line"
	case token.InvalidType:
		return "not valid YAML: " + t.Error
	case token.DocumentHeaderType:
		if content {
			return "a second document; a policy is one"
		}
	default:
	}
	return ""
}

// amount counts what makes parsing slow.
type amount struct{ tokens, keys, flow, dashes int }

func (n *amount) tooMuch(t *token.Token) bool {
	n.tokens++
	if t.Type == token.SequenceEntryType {
		n.dashes++ // in a row: one list in another
	} else {
		n.dashes = 0
	}
	switch t.Type {
	case token.MappingValueType:
		n.keys++
	case token.SequenceStartType, token.MappingStartType:
		n.flow++
	case token.SequenceEndType, token.MappingEndType:
		n.flow--
	default:
	}
	return n.tokens > maxTokens || n.keys > maxKeys || n.flow > maxDepth || n.dashes > maxDepth
}

func tokenPosition(t *token.Token) position {
	if t == nil || t.Position == nil {
		return position{}
	}
	return position{t.Position.Line, t.Position.Column}
}
