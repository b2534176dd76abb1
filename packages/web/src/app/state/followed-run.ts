import type { Output } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { api } from "../api.ts"
import { type UsedResource, useResource } from "./resource.ts"
import { getEndedRun, type LogLine } from "./val-run.ts"

/** A run with everything that is kept of it. */
export type RunDetail = Output<"getRun">

const retryMs = 2_000

/** A run, and while it goes on what it logs. */
export function useFollowedRun(runId: string): UsedResource<RunDetail> {
  const run = useResource(runId, (signal) => api.getRun({ run_id: runId }, { signal }))
  const { state } = run
  const isGoing = state.kind === "ready" && (state.data.status === "running" || state.data.status === "queued")
  const attempt = useSignal(0)
  useEffect(() => {
    if (!isGoing || state.kind !== "ready") return
    const controller = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    follow(run, state.data, controller.signal).catch(() => {
      // The connection was lost: what is known stays, and a server that starts again knows how the run ended.
      if (controller.signal.aborted) return
      timer = setTimeout(() => {
        run.reload()
        attempt.value += 1
      }, retryMs)
    })
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [isGoing, runId, attempt.value])
  return run
}

async function follow(run: UsedResource<RunDetail>, known: RunDetail, signal: AbortSignal): Promise<void> {
  const logs: LogLine[] = [...known.logs]
  let frame: number | undefined
  for await (const event of api.follow({ run_id: known.id, from: logs.length }, { signal })) {
    if (event.kind === "log") logs.push(event.line)
    frame ??= requestAnimationFrame(() => {
      frame = undefined
      if (!signal.aborted) run.set({ ...known, logs: logs.slice() })
    })
  }
  // It would show a run that goes on over the one that has ended.
  if (frame !== undefined) cancelAnimationFrame(frame)
  const ended = await getEndedRun(known.id, signal)
  if (!signal.aborted) run.set(ended)
}
