package policy

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/token"
)

// checkForm holds tokens against the text that they were made of, and refuses what
// the lexer takes more kindly than YAML allows. It drops characters that it does
// not understand, and tabs within text; with one character less an exclusion is
// another name. So every character must be in a token, and mean what it looks like.
func checkForm(tokens token.Tokens, text string) *Problem {
	rest := text
	before := token.UnknownType
	for _, t := range tokens {
		blank := len(rest) - len(strings.TrimLeft(rest, " \t\n"))
		skipped := rest[strings.LastIndexByte(rest[:blank], '\n')+1 : blank] // in the token's own line
		rest = rest[blank:]
		n, ok := tokenLen(t, rest)
		message := ""
		switch {
		case !ok:
			return problemAt(text, rest, "not valid YAML: this is not understood")
		case strings.Contains(skipped, "\t") && t.Type != token.CommentType:
			message = "a tab before this; write blanks"
		case t.Type == token.StringType:
			message = checkPlain(t)
		case t.Type == token.MappingValueType && n < len(rest) && strings.IndexByte(" \t\n", rest[n]) < 0:
			message = "a blank is missing after this colon; if it belongs to a text, write that in quotes"
		case t.Type == token.CollectEntryType && opensOrSeparates(before):
			message = "nothing stands before this comma"
		}
		if message != "" {
			return problemAt(text, rest, message)
		}
		rest = rest[n:]
		if t.Type != token.CommentType {
			before = t.Type
		}
	}
	if rest = strings.TrimLeft(rest, " \t\n"); rest != "" {
		return problemAt(text, rest, "not valid YAML: this is not understood")
	}
	return nil
}

// problemAt makes a problem about where rest, the end of text, begins.
func problemAt(text, rest, message string) *Problem {
	read := text[:len(text)-len(rest)]
	line := strings.Count(read, "\n") + 1
	column := utf8.RuneCountInString(read[strings.LastIndexByte(read, '\n')+1:]) + 1
	p := position{line, column}.problem("", message)
	return &p
}

// opensOrSeparates tells the tokens that no comma can follow.
func opensOrSeparates(t token.Type) bool {
	return t == token.CollectEntryType || t == token.SequenceStartType || t == token.MappingStartType
}

// checkPlain refuses text without quotes that the lexer changes (it drops tabs and
// joins lines) or takes although YAML does not.
func checkPlain(t *token.Token) string {
	origin := strings.Trim(t.Origin, " \t\n")
	bracket := strings.IndexAny(origin, "[]{}")
	switch {
	case origin != t.Value:
		return "a tab or a line break in text without quotes; write it in quotes on one line"
	case origin != "" && strings.IndexByte("%@`,", origin[0]) >= 0:
		return fmt.Sprintf("text that starts with %c must be in quotes", origin[0])
	case bracket >= 0:
		return fmt.Sprintf("text with %c in it must be in quotes", origin[bracket])
	}
	return ""
}

// tokenLen tells how much of the text a token stands for.
func tokenLen(t *token.Token, text string) (int, bool) {
	if t.Type == token.SingleQuoteType || t.Type == token.DoubleQuoteType {
		n := quotedLen(text) // the library's own idea of what stood there loses escapes
		return n, n > 0
	}
	origin := strings.Trim(t.Origin, " \t\n")
	return len(origin), strings.HasPrefix(text, origin)
}

// quotedLen gives the length of the text in quotes at the start of s, or 0.
func quotedLen(s string) int {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return 0
	}
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && s[0] == '"':
			i++
		case s[i] == s[0] && s[0] == '\'' && strings.HasPrefix(s[i+1:], "'"):
			i++
		case s[i] == s[0]:
			return i + 1
		}
	}
	return 0
}
