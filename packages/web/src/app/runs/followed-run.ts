import type { Output } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { api } from "../api.ts"
import { type UsedResource, useResource } from "../data/resource.ts"
import { getEndedRun, type LogLine } from "../val/code/val-run.ts"

/** A run with everything that is kept of it. */
export type RunDetail = Output<"getRun">

const limits = { retryMs: 2_000, startMs: 500 }

/** A run, and while it goes on what it logs. */
export function useFollowedRun(runId: string): UsedResource<RunDetail> {
  const run = useResource(runId, (signal) => api.getRun({ run_id: runId }, { signal }))
  const { state } = run
  const isGoing =
    state.kind === "ready" && (state.data.status === "running" || state.data.status === "queued")
  const attempt = useSignal(0)
  useEffect(() => {
    if (!isGoing || state.kind !== "ready") return
    const controller = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    follow(run, state.data, controller.signal).catch(() => {
      // The connection was lost: what is known stays, and a server that starts again knows how the
      // run ended.
      if (controller.signal.aborted) return
      timer = setTimeout(() => {
        run.reload()
        attempt.value += 1
      }, limits.retryMs)
    })
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [isGoing, runId, attempt.value])
  return run
}

async function follow(
  run: UsedResource<RunDetail>,
  known: RunDetail,
  signal: AbortSignal,
): Promise<void> {
  const logs: LogLine[] = [...known.logs]
  let { status } = known
  let frame: number | undefined
  let isEnded = false
  const showSoon = () => {
    if (isEnded) return
    frame ??= requestAnimationFrame(() => {
      frame = undefined
      if (!signal.aborted) run.set({ ...known, status, logs: logs.slice() })
    })
  }
  const begin = () => {
    if (status !== "queued") return
    status = "running"
    showSoon()
  }
  // A run that says nothing has begun as well.
  if (status === "queued")
    void whenBegun(known.id, () => isEnded || status !== "queued", signal).then(begin)
  for await (const event of api.follow({ run_id: known.id, from: logs.length }, { signal })) {
    if (event.kind !== "log") continue
    logs.push(event.line)
    begin()
    showSoon()
  }
  isEnded = true
  // It would show a run that goes on over the one that has ended.
  if (frame !== undefined) cancelAnimationFrame(frame)
  const ended = await getEndedRun(known.id, signal)
  if (!signal.aborted) run.set(ended)
}

/**
 * Asks until the run has left the queue, or it is known without asking. Whether the server is there
 * is seen by following.
 */
async function whenBegun(id: string, isKnown: () => boolean, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !isKnown()) {
    const { status } = await api
      .getRun({ run_id: id }, { signal })
      .catch(() => ({ status: "queued" }))
    if (status !== "queued") return
    await new Promise((resolve) => setTimeout(resolve, limits.startMs))
  }
}
