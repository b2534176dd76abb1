import type { Output } from "@hamlet/contract/client"
import { Bars } from "../../ui/page-states.tsx"
import { toBytes } from "../../ui/units.ts"
import { api } from "../api.ts"
import { Loaded } from "../data/loaded.tsx"
import { usePoll } from "../data/poll.ts"
import { useResource } from "../data/resource.ts"
import { TimeAgo } from "../parts/time-ago.tsx"

const pollMs = 3_000

/** The usage of the account against its limits. */
export function UsageView() {
  const usage = useResource("usage", (signal) => api.getMyUsage({}, { signal }))
  usePoll(pollMs, usage.poll)
  return (
    <Loaded of={usage} skeleton={<Bars count={6} />}>
      {(usage) => <UsageMeters usage={usage} />}
    </Loaded>
  )
}

/** What an account uses, against its limits. */
export function UsageMeters({ usage }: { usage: Output<"getMyUsage"> }) {
  const { countedSince, runs, egress, storage, code, blobs, sqlite, mail } = usage
  return (
    <>
      <div class="meters">
        <Meter label="Runs at once" used={runs.atOnce} max={runs.atOnceMax} />
        <Meter label="Runs in the last minute" used={runs.lastMinute} max={runs.perMinuteMax} />
        <Meter
          label="Outgoing traffic in the last minute"
          used={egress.bytesLastMinute}
          max={egress.bytesPerMinuteMax}
          show={toBytes}
        />
        <Meter
          label="Storage requests in the last minute"
          used={storage.requestsLastMinute}
          max={storage.requestsPerMinuteMax}
        />
        <Meter label={`Code (${code.vals} vals)`} used={code.bytes} max={null} show={toBytes} />
        <Meter
          label={`Blobs (${blobs.count})`}
          used={blobs.bytes}
          max={blobs.bytesMax}
          show={toBytes}
        />
        {sqlite ? (
          <Meter label="Database" used={sqlite.bytes} max={sqlite.bytesMax} show={toBytes} />
        ) : null}
        {mail ? (
          <Meter
            label="Emails in 24 hours"
            used={mail.recipientsLastDay}
            max={mail.recipientsPerDayMax}
          />
        ) : null}
      </div>
      <p class="quiet">
        {runs.sinceStart.toLocaleString("en")} runs and {toBytes(egress.bytesSinceStart)} of traffic
        since <TimeAgo at={countedSince} />, counted by the node that responded.
      </p>
    </>
  )
}

function Meter(props: {
  label: string
  used: number
  max: number | null
  show?: (amount: number) => string
}) {
  const { label, used, max, show = (amount) => amount.toLocaleString("en") } = props
  return (
    <div class="meter">
      <p>
        <span>{label}</span>
        <span class="quiet">
          {max === null ? `${show(used)}, no limit` : `${show(used)} of ${show(max)}`}
        </span>
      </p>
      <meter
        min={0}
        max={max ?? 1}
        value={max === null ? 0 : used}
        high={(max ?? 1) * 0.9}
        aria-label={label}
      />
    </div>
  )
}
