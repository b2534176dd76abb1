import { api } from "../api.ts"
import { Bars, Loaded } from "../data/page-states.tsx"
import { usePoll } from "../data/poll.ts"
import { useResource } from "../data/resource.ts"
import { toBytes } from "../parts/bytes.ts"
import { TimeAgo } from "../parts/time-ago.tsx"

const pollMs = 3_000

/** What is used of what may be used. */
export function UsageView() {
  const usage = useResource("usage", (signal) => api.getMyUsage({}, { signal }))
  usePoll(pollMs, usage.reload)
  return (
    <Loaded of={usage.state} onRetry={usage.reload} skeleton={<Bars count={6} />}>
      {({ countedSince, runs, egress, storage, blobs, sqlite }) => (
        <>
          <div class="meters">
            <Meter label="Runs at once" used={runs.atOnce} most={runs.atOnceMax} />
            <Meter
              label="Runs in the last minute"
              used={runs.lastMinute}
              most={runs.perMinuteMax}
            />
            <Meter
              label="Traffic out in the last minute"
              used={egress.bytesLastMinute}
              most={egress.bytesPerMinuteMax}
              show={toBytes}
            />
            <Meter
              label="Requests to storage in the last minute"
              used={storage.requestsLastMinute}
              most={storage.requestsPerMinuteMax}
            />
            <Meter
              label={`Blobs (${blobs.count})`}
              used={blobs.bytes}
              most={blobs.bytesMax}
              show={toBytes}
            />
            {sqlite ? (
              <Meter label="Database" used={sqlite.bytes} most={sqlite.bytesMax} show={toBytes} />
            ) : null}
          </div>
          <p class="quiet">
            {runs.sinceStart.toLocaleString("en")} runs and {toBytes(egress.bytesSinceStart)} of
            traffic since <TimeAgo at={countedSince} />, counted by the server that answered.
          </p>
        </>
      )}
    </Loaded>
  )
}

function Meter(props: {
  label: string
  used: number
  most: number | null
  show?: (amount: number) => string
}) {
  const { label, used, most, show = (amount) => amount.toLocaleString("en") } = props
  return (
    <div class="meter">
      <p>
        <span>{label}</span>
        <span class="quiet">
          {most === null ? `${show(used)}, no limit` : `${show(used)} of ${show(most)}`}
        </span>
      </p>
      <meter
        min={0}
        max={most ?? 1}
        value={most === null ? 0 : used}
        high={(most ?? 1) * 0.9}
        aria-label={label}
      />
    </div>
  )
}
