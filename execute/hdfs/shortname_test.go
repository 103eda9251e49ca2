package hdfs

import (
	"strings"
	"testing"

	"fsweep/execute/hdfs/kerberos"
)

// What Hadoop's KerberosName makes of principals, by its documentation and its own tests.
func TestShortName(t *testing.T) {
	t.Parallel()
	const rules = `RULE:[1:$1@$0](.*@YAHOO\.COM)s/@.*//
		RULE:[2:$1](johndoe)s/^.*$/guest/
		RULE:[2:$1;$2](^.*;admin$)s/;admin$//
		RULE:[2:$2](root)
		DEFAULT`
	for _, tc := range []struct{ rules, principal, want string }{
		{"", "alice@APACHE.ORG", "alice"},
		{"", "alice/host.example@APACHE.ORG", "alice"},
		{"", "alice@FOO.COM", "error: no rule"},
		{rules, "omalley@APACHE.ORG", "omalley"},
		{rules, "hdfs/10.0.0.1@APACHE.ORG", "hdfs"},
		{rules, "oom@YAHOO.COM", "oom"},
		{rules, "johndoe/zoo@FOO.COM", "guest"},
		{rules, "joe/admin@FOO.COM", "joe"},
		{rules, "joe/root@FOO.COM", "root"},
		{rules, "foo@ACME.COM", "error: no rule"},
		{"RULE:[1:$1]s/a/b/", "banana@X", "bbnana"},
		{"RULE:[1:$1]s/a/b/g", "banana@X", "bbnbnb"},
		{"RULE:[1:$1](.*)s/^(b)(.*)$/$2$1x/", "banana@X", "ananabx"},
		{"RULE:[1:$1]/L", "BaNana@X", "banana"},
		{"RULE:[1:$1@$0](.*@X)s/@.*///L", "JOE@X", "joe"},
		{"RULE:[1:$1@$0]", "joe@X", "error: which is no short name"},
		{"RULE:[1:$2]", "joe@X", "error: asks for part 2"},
		{"RULE:[1:$1]((?!a).*)", "joe@X", "error: is not supported"},
		{"RULE:[2:$1] nonsense", "joe@X", `error: "nonsense" is no rule`},
		{"RULE:1:$1", "joe@X", "error: is no rule"},
	} {
		who, err := kerberos.ParsePrincipal(tc.principal)
		if err != nil {
			t.Fatal(err)
		}
		got, err := shortName(who, "APACHE.ORG", tc.rules, "")
		if err != nil {
			got = "error: " + err.Error()
		}
		if text, is := strings.CutPrefix(tc.want, "error: "); got != tc.want && (!is || err == nil || !strings.Contains(got, text)) {
			t.Errorf("%s by %q: %s, want %s", tc.principal, tc.rules, got, tc.want)
		}
	}
	if _, err := shortName(kerberos.Principal{Parts: []string{"a"}}, "", "", "heimdal"); err == nil {
		t.Error("an unknown mechanism")
	}
}
