package proof

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
)

// seeds is the maximum number of runs of a proof, each with other webs and orders, until it finds
// the fault: one run of its short form may miss it.
const seeds = 5

// A mutation breaks the crawler in one place.
type mutation struct{ name, file, from, to, proof string }

func mutations() []mutation {
	return slices.Concat(recorderMutations(), slotMutations(), outageMutations(), waitMutations())
}

// recorderMutations break what is recorded.
func recorderMutations() []mutation {
	return []mutation{
		{
			"depths do not travel on", "record/reach.go",
			"r.work = append(r.work, id)\n\t\tif r.in.isPage", "if r.in.isPage", "TestDepthsAreShortestDistances",
		},
		{
			"a redirect costs a step of depth", "record/reach.go",
			"w.depth, w.hops = max(1, from.depth), from.hops+1", "w.depth, w.hops = from.depth+1, from.hops+1",
			"TestDepthsAreShortestDistances",
		},
		{
			"any page makes others of its host own ones", "record/hosts.go",
			"return h.in.store.Own(page)\n\t}\n\treturn h.facts", "return true\n\t}\n\treturn h.facts",
			"TestDepthsAreShortestDistances|TestShards",
		},
		{
			"a sitemap speaks for all hosts of its origin", "record/sitemaps.go",
			"way{own: s.speaks, bySitemap: true}", "way{own: true, bySitemap: true}", "TestDepthsAreShortestDistances",
		},
		{
			"a URL leaves its line when it is asked", "record/pagechooser.go",
			"if step != nil && id == step.ID || live.busy(id) {\n\t\t\treturn false",
			"if step != nil && id == step.ID || live.busy(id) {\n\t\t\treturn true",
			"TestDepthsAreShortestDistances|TestOneDigest",
		},
		{
			"what is left of a relaxation is forgotten", "record/recorder.go",
			"err = tx.Depths.SetPending(r.reach.work)", "err = tx.Depths.SetPending(nil)", "TestPendingOutlivesAKill",
		},
		{
			"a start does not wait", "record/hosts.go",
			"rested := since.at.Add(clock.Rest(h.in.set.Config, host))", "rested := since.at",
			"TestKilled$|TestRestartsArePolite|TestVerifiedAfterKills",
		},
		{
			"a start forgets how slow a host is", "record/hosts.go",
			"since.at.Add(clock.Rest(h.in.set.Config, host))", "since.at.Add(h.in.set.Config.FullDelay(host))",
			"TestAdaptiveOverStarts",
		},
		{
			"requests of a host that were held up go out together", "address.go",
			"if step.Gap == 0 {", "if step.Gap >= 0 {", "TestHostAfterLookups",
		},
		{
			"visits are counted twice", "record/ledger.go",
			"l.in.run.Pages++", "l.in.run.Pages += 2", "TestOneDigest",
		},
		{
			"a commit goes into a file without a name", "../kv/place.go",
			"!os.SameFile(mine, named)", "named == nil", "TestLostBetweenCommits|TestLostWithinCommit",
		},
	}
}

// slotMutations break which hosts are requested.
func slotMutations() []mutation {
	return []mutation{
		{
			"a second address is asked without its clock", "address.go",
			"return free", "return true || free", "TestSecondAddress",
		},
		{
			"silent hosts take every slot", "slots/slots.go",
			"return slots - min(wanted, slots/2)", "return slots", "TestLeftToBetter|TestSilentHosts$",
		},
		{
			"slots are left to hosts that have no use for them", "slots/slots.go",
			"return int(l.mean[s]+math.Sqrt(l.mean[s])) + 2", "_ = math.Pi; return mostSlots",
			"TestLeftByUse|TestManyHostsMet",
		},
		{
			"an answer to HEAD proves a host", "record/live.go",
			"l.proved || o.Step.Kind == ring.Get", "true", "TestHeard|TestSlowHosts",
		},
		{
			"a slow body is as good as any", "record/live.go",
			"o.Answered() && o.Done.Sub(o.Step.Sent)-o.Waited <= cfg.Retry.Timeout", "o.Answered()", "TestHeard",
		},
		{
			"a host that fails now and then is always trusted again", "trust.go",
			"b.owed = 1 << (b.times - 1)", "b.owed = 1", "TestTrust",
		},
	}
}

// outageMutations break which hosts are blamed.
func outageMutations() []mutation {
	return []mutation{
		{
			"hosts are blamed for the network that is away", "outage/settle.go",
			"return w.away || sent.Before(w.ended)", "return false", "TestAttributionOutage|TestAttributionSuspended",
		},
		{
			"a want of descriptors leaves as many requests open", "slots/slots.go",
			"min(s.limit(), s.used.Sum())/2)", "min(s.limit(), s.used.Sum()))", "TestLack|TestAttributionMeans",
		},
		{
			"a host that asks for too long a delay is waited for", "record/plan.go",
			"p.in.set.Config.AsksTooMuch(h) {", "false {", "TestCrawlDelayTooLong",
		},
		{
			"every foreign host counts as one of the first", "record/sitemaps.go",
			"if len(f.hosts) >= f.most {", "if false {", "TestForeignSitemaps|TestForeignHostsOfAPage",
		},
		{
			"unproven hosts are sent to beyond their slots", "slots/slots.go",
			"bound > Proven; bound--", "bound > standing; bound--", "TestLeftToBetter|TestSlowHosts",
		},
		{
			"failures of an outage are blamed", "attribution.go",
			"network.Blameless(o.Step.Sent) || o.Own == fetch.OwnAddress", "o.Own == fetch.OwnAddress",
			"TestAttributionOutage",
		},
		{
			"an outage is believed in for ever", "outage/outage.go",
			"now.Sub(w.since) >= guess", "now.Before(w.since)", "TestDoubted",
		},
		{
			"what an earlier process met says nothing of the network", "record/plan.go",
			"Met: h.Smoothed > 0", "Met: false", "TestResumedInOtherNetwork",
		},
		{
			"a host is blamed that is silent together with its name server", "address.go",
			"&& s.Client.Deaf(ctx)", "&& ctx == nil", "TestOutageLate",
		},
		{
			"all is asked in an outage", "offer.go",
			"if away && now.Before(probe) {", "if away && probe.IsZero() {", "TestNothingIsAskedInAnOutage",
		},
		{
			"a connection of another network is blamed", "attribution.go",
			"network.Blameless(o.Step.Sent) || o.Own == fetch.OwnAddress", "network.Blameless(o.Step.Sent)",
			"TestAttributionOwn",
		},
		{
			"a process that was stopped is not seen", "pulse.go",
			"g.late < noise", "g.late >= 0", "TestPulse",
		},
		{
			"a process that comes late opens as much as before", "attribution.go",
			"a.shared.slots.Late(g.since, now)", "0, false", "TestAttributionLate$",
		},
		{
			"connections of another network are kept", "attribution.go",
			"if g.asleep > 0 || g.late >= outlived {", "if g.late >= 2*outlived {", "TestAttributionRenews",
		},
		{
			"what waited for a name server goes out together", "visitor.go",
			"case !v.inTurn(ctx, &step):", "case ctx == nil:", "TestLookupsAreNoBurst",
		},
		{
			"a lease that is over lets a request out on a connection", "visitor.go",
			"MaySend:      v.member.maySend,", "MaySend:      nil,", "TestLeaseEndsInHandshake",
		},
		{
			"want of descriptors is blamed", "attribution.go",
			"o.Own == fetch.OwnWait) && a.lacked[host].times < maxExcuses", "o.Own == fetch.OwnWait) && now.IsZero()",
			"TestAttributionMeans|TestFewDescriptors",
		},
	}
}

// waitMutations break the waits for this machine, and the blame for them.
func waitMutations() []mutation {
	return []mutation{
		{
			"a name that could not be looked up is looked up again", "visitor.go",
			"case err != nil:\n\t\tpass(unfound(step, err))",
			"case err != nil && ctx == nil:\n\t\tpass(unfound(step, err))", "TestLookedUpOnce",
		},
		{
			"a host is blamed that did not wait for memory", "fetch/fetch.go",
			"if x.waited > 0 &&", "if x.waited < 0 &&", "TestBudgetNoFault",
		},
		{
			"a body that drips keeps what it claimed", "fetch/body.go",
			"if b.claim.held == 0 ||", "if b.claim.held >= 0 ||", "TestBudgetDrips$",
		},
		{
			"bodies wait for each other's memory for ever", "fetch/budget.go",
			"&& b.moving > 0 {", "&& b.held > 0 {", "TestBudgetLaw",
		},
		{
			"a body that waits keeps others of its connection waiting", "fetch/client.go",
			"connBuffer     = 1 << 30", "connBuffer     = 4 << 20", "TestBudgetHTTP2",
		},
		{
			"every open body has a megabyte", "fetch/budget.go",
			"b.size/int64(max(open, 1))", "b.size*int64(max(open, 1))", "TestBudgetFree",
		},
		{
			"a wait for memory has fewer requests opened", "attribution.go",
			"if o.Own == fetch.OwnWait {", "if o.Own == fetch.OwnAddress {", "TestAttributionWait",
		},
	}
}

// TestMutations finds every place that [TestProofsBite] breaks, and every proof.
func TestMutations(t *testing.T) {
	for _, m := range mutations() {
		if source := m.source(t); strings.Count(source, m.from) != 1 {
			t.Errorf("%s: %s holds this %d times, want once: %s", m.name, m.file, strings.Count(source, m.from), m.from)
		}
		if m.places(t) == nil {
			t.Errorf("%s: there is no %s", m.name, m.proof)
		}
	}
}

// TestProofsBite breaks the crawler in one place at a time, in a copy of its source that only the
// compiler sees, and runs a proof that must then fail. A run draws some of the places; RIPPLE_MUTATIONS
// is their number. TestPowerLoss itself breaks a crawl by leaving out syncs.
func TestProofsBite(t *testing.T) {
	t.Parallel()
	if !crawltest.Full() {
		t.Skip("builds the package several times: set RIPPLE_PROOF=full")
	}
	all, seed := mutations(), crawltest.Seed(t)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = all[:min(len(all), crawltest.Number("RIPPLE_MUTATIONS", 8))]
	for lane := range lanes {
		t.Run(strconv.Itoa(lane), func(t *testing.T) {
			t.Parallel()
			for i := lane; i < len(all); i += lanes {
				t.Run(strings.ReplaceAll(all[i].name, " ", "-"), all[i].mustBeFound)
			}
		})
	}
}

// envTries is the number of tries of a proof that a busy machine may spoil.
const envTries = "RIPPLE_TEST_TRIES"

// lanes is the number of mutations that are tried at a time: some proofs wait for minutes for
// something that does not happen.
const lanes = 3

// mustBeFound runs the proof until it fails, and once more with the original source: a proof that
// then fails, too, has found nothing.
func (m mutation) mustBeFound(t *testing.T) {
	for seed := 1; ; seed++ {
		out, err := m.run(t, seed)
		if err != nil && !strings.Contains(out, "--- FAIL") {
			t.Fatalf("%v\n%s", err, out)
		}
		if err != nil {
			t.Logf("found by run %d", seed)
			m.to = m.from
			if out, err := m.run(t, seed); err != nil {
				t.Fatalf("%s fails with nothing broken, too: %v\n%s", m.proof, err, out)
			}
			return
		}
		if seed == seeds {
			t.Fatalf("%s: %s passes all the same: %s", m.name, m.proof, out)
		}
	}
}

// path returns the path of the file from this package.
func (m mutation) path() string { return filepath.Join("..", m.file) }

func (m mutation) source(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile(m.path())
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

// places returns the packages that contain the proof, out of this one, package crawl and that of
// the file.
func (m mutation) places(t *testing.T) (places []string) {
	t.Helper()
	each, is := regexp.MustCompile(`(?m)^func Test\w+`), regexp.MustCompile("^func ("+m.proof+")")
	for _, dir := range []string{"..", "./" + filepath.Dir(m.path()), "."} {
		tests, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range tests {
			source, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(each.FindAll(source, -1), is.Match) {
				places = append(places, dir)
				break
			}
		}
	}
	return places
}

// run runs the proof with the file changed.
func (m mutation) run(t *testing.T, seed int) (string, error) {
	t.Helper()
	dir := t.TempDir()
	changed := filepath.Join(dir, filepath.Base(m.file))
	if err := os.WriteFile(changed, []byte(strings.Replace(m.source(t), m.from, m.to, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	original, err := filepath.Abs(m.path())
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"test", "-count=1", "-vet=off", "-overlay=" + list, "-run=^(" + m.proof + ")"}
	cmd := exec.Command("go", append(args, m.places(t)...)...)
	cmd.Env = append(os.Environ(), "RIPPLE_PROOF=", "RIPPLE_SEED="+strconv.Itoa(seed))
	if m.to != m.from { // a mutation fails every time
		cmd.Env = append(cmd.Env, envTries+"=2")
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}
