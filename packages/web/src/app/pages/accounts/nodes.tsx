import type { Item } from "@hamlet/contract/client"
import { useTitle } from "../../../ui/page-states.tsx"
import { toBytes } from "../../../ui/units.ts"
import { LoadedPages, NotFound } from "../../data/loaded.tsx"
import { usePages } from "../../data/pages.ts"
import { usePoll } from "../../data/poll.ts"
import { Mark } from "../../parts/badges.tsx"
import { type Fact, Facts } from "../../parts/lists/facts.tsx"
import { PageHead } from "../../parts/page-head.tsx"
import { Section } from "../../parts/section.tsx"
import { toMoment } from "../../parts/time.ts"
import { TimeAgo } from "../../parts/time-ago.tsx"
import { isAdministrator } from "../../session/session.ts"

type Node = Item<"listNodes">

/** The list is read as often as a node tells about itself. */
const pollMs = 5_000

/** The nodes of the installation, for administrators. */
export function Page() {
  useTitle("Nodes")
  return isAdministrator() ? <Nodes /> : <NotFound />
}

function Nodes() {
  const nodes = usePages("listNodes", {})
  usePoll(pollMs, nodes.poll)
  return (
    <>
      <PageHead
        title="Nodes"
        lead="The server processes that share the database, as each described itself when it was last seen."
      />
      <LoadedPages of={nodes} rows={3} empty={<p class="quiet">No nodes.</p>}>
        {(found) => found.map((node) => <NodeView key={node.id} node={node} />)}
      </LoadedPages>
    </>
  )
}

const states = {
  active: ["Active", "succeeded"],
  stopping: ["Stopping", "cancelled"],
  silent: ["Silent", "failed"],
  gone: ["Gone", "failed"],
} as const satisfies Record<Node["state"], unknown>

function NodeView({ node }: { node: Node }) {
  const { host, state, seenAt, report } = node
  return (
    <Section title={host} end={<Mark of={states[state]} />}>
      <p class="quiet">
        Seen <TimeAgo at={seenAt} />
        {report ? null : ". It is of release 0.2 or older, which tells no more"}
        {report?.isClockWrong ? ". Its clock is wrong: set it by NTP" : null}.
      </p>
      <Facts facts={toFacts(node)} />
    </Section>
  )
}

function toFacts({ id, pid, report }: Node): readonly Fact[] {
  const ids: readonly Fact[] = [
    ["Process", String(pid)],
    ["Id", id],
  ]
  if (!report) return [["Version", "0.2 or older"], ...ids]
  const { runs, waitingRuns, valMemoryBytes, valMemoryBytesMax } = report
  return [
    ["Address", report.address ?? "not told"],
    ["Version", report.version],
    ["Schema", String(report.schemaVersion)],
    ["Isolation", report.isolation],
    ["Runs", `${runs} now, ${waitingRuns} waiting`],
    ["Processes of vals", String(report.processes)],
    ["CPU load", `${report.cpuLoad.toFixed(1)} of ${report.cpus}`],
    ["Memory of the server", toBytes(report.memoryBytes)],
    ["Memory of vals", `${toBytes(valMemoryBytes)} of ${toBytes(valMemoryBytesMax)}`],
    ["Clock", toClock(report.clockSkewMs)],
    ["Started", toMoment(report.startedAt)],
    ...ids,
  ]
}

/** How a clock differs from the database's. */
function toClock(skewMs: number): string {
  const seconds = Math.abs(skewMs / 1000).toFixed(1)
  return seconds === "0.0" ? "right" : `${seconds} s ${skewMs > 0 ? "ahead" : "behind"}`
}
