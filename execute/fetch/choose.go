package fetch

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fsweep/execute"
)

// SparedError says that an image could be had only from the ACTIVE NameNode, or one that might be it.
type SparedError struct{ Servers []execute.ImageServer }

// Error says what each NameNode is.
func (e *SparedError) Error() string {
	if len(e.Servers) == 1 {
		return "there is only one NameNode, and " + describe(&e.Servers[0]) + "; it is not asked for its image without leave"
	}
	return "no NameNode is a standby or an observer: " + describeAll(e.Servers)
}

// NoServerError says that no NameNode that may be asked gave its image.
type NoServerError struct {
	Servers    []execute.ImageServer
	Faults     []*execute.ImageError // of those that were asked
	FromActive bool                  // all of them may be asked
}

// Error gives all reasons.
func (e *NoServerError) Error() string {
	switch {
	case len(e.Faults) > 0:
	case e.FromActive:
		return "no NameNode can be asked for its image: " + describeAll(e.Servers)
	default:
		return "no standby or observer can be asked for its image: " + describeAll(e.Servers)
	}
	texts := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		texts[i] = f.Error()
	}
	return "no image: " + strings.Join(texts, "; ")
}

// Unwrap gives the faults, and what kept NameNodes from being asked.
func (e *NoServerError) Unwrap() []error {
	var errs []error
	for _, f := range e.Faults {
		errs = append(errs, f)
	}
	for i := range e.Servers {
		if err := e.Servers[i].Err; err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// again tells whether it could be otherwise a little later.
func (e *NoServerError) again() bool {
	if len(e.Faults) == 0 { // somebody may come back, or say what he is
		return slices.ContainsFunc(e.Servers, func(s execute.ImageServer) bool { return s.Err == nil })
	}
	return slices.ContainsFunc(e.Faults, func(f *execute.ImageError) bool { return f.Fault.Again() })
}

// Spared tells whether a NameNode was not asked that might have an image.
func (e *NoServerError) Spared() bool {
	return !e.FromActive && slices.ContainsFunc(e.Servers, func(s execute.ImageServer) bool { return s.Err == nil && !spare(&s) })
}

// spare tells whether a NameNode has time to spare.
func spare(s *execute.ImageServer) bool {
	return s.Role == execute.StandbyRole || s.Role == execute.ObserverRole
}

// choose gives the NameNodes that may be asked, the best one first.
func choose(servers []execute.ImageServer, fromActive bool) ([]execute.ImageServer, error) {
	var may []execute.ImageServer
	active := 0
	for _, s := range servers {
		if s.Err == nil && (fromActive || spare(&s)) {
			may = append(may, s)
		}
		if s.Role == execute.ActiveRole {
			active++
		}
	}
	switch {
	case len(may) > 0:
	case active == len(servers) && !fromActive:
		return nil, &SparedError{servers}
	default:
		return nil, &NoServerError{Servers: servers, FromActive: fromActive}
	}
	slices.SortStableFunc(may, func(a, b execute.ImageServer) int {
		return cmp.Or(cmp.Compare(b.TxID, a.TxID), cmp.Compare(rank(&a), rank(&b)))
	})
	return may, nil
}

// rank puts first who has most time to spare.
func rank(s *execute.ImageServer) int {
	switch s.Role {
	case execute.StandbyRole:
		return 0
	case execute.ObserverRole:
		return 1
	case execute.UnknownRole, execute.ActiveRole:
	}
	return 2
}

// describeAll says what all NameNodes are.
func describeAll(servers []execute.ImageServer) string {
	texts := make([]string, len(servers))
	for i := range servers {
		texts[i] = describe(&servers[i])
	}
	return strings.Join(texts, "; ")
}

func describe(s *execute.ImageServer) string {
	role := strings.ToUpper(s.Role.String())
	switch {
	case s.Role != execute.ActiveRole && s.Role != execute.UnknownRole:
		role = s.Role.String()
	case s.Role == execute.UnknownRole:
		role = "not known to be a standby"
	}
	err := s.Err
	if err == nil && s.Role == execute.UnknownRole {
		err = s.JMX
	}
	if err == nil {
		return s.Label() + " is " + role
	}
	text := err.Error()
	if e, ok := errors.AsType[*execute.ImageError](err); ok { // which begins with the NameNode
		text = strings.TrimPrefix(text, e.NameNode.Label()+" ")
	}
	return fmt.Sprintf("%s is %s: %s", s.Label(), role, text)
}
