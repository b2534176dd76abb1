import type { Output } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { IconButton } from "../../ui/icon.tsx"
import { Bars } from "../../ui/page-states.tsx"
import { toDuration } from "../../ui/units.ts"
import { api } from "../api.ts"
import { Loaded } from "../data/loaded.tsx"
import { pause } from "../data/pause.ts"
import { usePoll } from "../data/poll.ts"
import { useResource } from "../data/resource.ts"
import { StatusBadge } from "../parts/badges.tsx"

type Val = Output<"getVal">

const limits = { pollMs: 500, waitMsMax: 60_000 }

/** What a new val does: the page at its address, or its first run. */
export function Trial({ val }: { val: Val }) {
  const lock = useResource(val.id, (signal) => waitForPackages(val, signal))
  return (
    <Loaded
      of={lock}
      skeleton={
        <div class="template-hint" role="status">
          <Bars count={4} />
          <p>Fetching its packages…</p>
        </div>
      }
    >
      {() => (val.type === "http" ? <LivePage val={val} /> : <FirstRun val={val} />)}
    </Loaded>
  )
}

/** The packages of a new version are fetched in the background; a run before that would wait. */
async function waitForPackages({ id, version }: Val, signal: AbortSignal): Promise<string> {
  const until = Date.now() + limits.waitMsMax
  for (;;) {
    const { state } = await api.getVersionLock({ val_id: id, version }, { signal })
    // A failed lock is not the end: the run says what is missing.
    if (state !== "pending" || Date.now() > until) return state
    await pause(limits.pollMs, signal)
  }
}

function LivePage({ val }: { val: Val }) {
  const count = useSignal(0)
  const address = useResource(val.id, (signal) => api.createPreview({ val_id: val.id }, { signal }))
  return (
    <Loaded of={address} skeleton={<Bars count={4} />}>
      {({ url }) => (
        <>
          <p class="row trial-bar">
            <a href={url} target="_blank" rel="noreferrer">
              {new URL(url).host}
            </a>
            <IconButton
              icon="refresh"
              label="Reload"
              onClick={() => {
                count.value += 1
              }}
            />
          </p>
          <iframe
            key={count.value}
            class="preview-frame"
            title={`Preview of ${val.name}`}
            src={url}
            // Its origin is not the app's, so allow-same-origin gives it no access to the app.
            sandbox="allow-scripts allow-forms allow-same-origin allow-modals allow-popups"
            referrerpolicy="no-referrer"
          />
        </>
      )}
    </Loaded>
  )
}

function FirstRun({ val }: { val: Val }) {
  const run = useResource(val.id, (signal) => startRun(val, signal))
  const details = run.state.kind === "ready" ? run.state.data : undefined
  // A mail is queued; its run ends a moment later.
  const isOpen = details?.status === "queued" || details?.status === "running"
  usePoll(limits.pollMs, async () => {
    if (isOpen) run.set(await api.getRun({ run_id: details.id }))
  })
  return (
    <Loaded of={run} skeleton={<Bars count={4} />}>
      {({ id, status, durationMs, returnValue, error, logs }) => (
        <div class="trial-run">
          <p class="row run-line">
            <StatusBadge status={status} />
            <span class="quiet">{toDuration(durationMs)}</span>
            <a class="push small" href={`/runs/${id}`}>
              Open the run
            </a>
          </p>
          {error ? <p class="field-error">{error.message}</p> : null}
          <pre class="trial-text">{logs.map(({ message }) => message).join("\n")}</pre>
          <pre class="trial-text">{JSON.stringify(returnValue, null, 2)}</pre>
        </div>
      )}
    </Loaded>
  )
}

async function startRun(val: Val, signal: AbortSignal): Promise<Output<"getRun">> {
  const { id } =
    val.type === "email"
      ? await api.sendTestEmail(
          { val_id: val.id, subject: "Hello", text: "A first message" },
          { signal },
        )
      : await api.createRun({ val_id: val.id, args: [] }, { signal })
  return api.getRun({ run_id: id }, { signal })
}
