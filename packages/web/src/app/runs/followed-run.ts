import { ApiError, type Output } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { api } from "../api.ts"
import { isConnectionError } from "../data/explain.ts"
import { pause } from "../data/pause.ts"
import { type UsedResource, useResource } from "../data/resource.ts"
import { isGoingOn } from "./list/run-kinds.ts"

/** A run with all recorded details. */
export type RunDetail = Output<"getRun">

/** A log line as the API returns it. */
export type LogLine = RunDetail["logs"][number]

/** A run that is followed. */
export interface FollowedRun extends UsedResource<RunDetail> {
  /** The server does not respond; it is tried again. */
  readonly isLost: boolean
}

const limits = { retryMs: 1_000, startMs: 500, recordMs: 200, recordTriesMax: 100 }

/**
 * A run and, while it is running, its new log lines, also across a restart of the server. Without an
 * id nothing is fetched yet.
 */
export function useFollowedRun(runId: string | undefined): FollowedRun {
  const run = useResource(runId, (signal) => api.getRun({ run_id: runId ?? "" }, { signal }))
  const { state } = run
  const isLost = useSignal(false)
  const isRunning = state.kind === "ready" && isGoingOn(state.data)
  const attempt = useSignal(0)
  const isAway = state.kind === "failed" && isUnavailable(state.error)
  useEffect(() => {
    isLost.value = false
  }, [runId])
  useEffect(() => {
    if (!isAway) return
    const timer = setInterval(run.poll, limits.retryMs)
    return () => clearInterval(timer)
  }, [isAway, runId])
  useEffect(() => {
    if (!isRunning || state.kind !== "ready") return
    const controller = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const show = (data: RunDetail) => {
      isLost.value = false
      run.set(data)
    }
    follow(show, state.data, controller.signal).catch(() => {
      // The connection was lost: the data stays, and a restarted server knows how the run ended.
      if (controller.signal.aborted) return
      isLost.value = true
      timer = setTimeout(() => {
        run.poll()
        attempt.value += 1
      }, limits.retryMs)
    })
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [isRunning, runId, attempt.value])
  return { ...run, isLost: isLost.value || isAway }
}

/** The server does not respond, or is shutting down. */
function isUnavailable(error: unknown): boolean {
  return isConnectionError(error) || (error instanceof ApiError && error.status === 503)
}

async function follow(
  show: (run: RunDetail) => void,
  loaded: RunDetail,
  signal: AbortSignal,
): Promise<void> {
  const logs: LogLine[] = [...loaded.logs]
  let { status } = loaded
  let frame: number | undefined
  let isEnded = false
  const showSoon = () => {
    if (isEnded) return
    frame ??= requestAnimationFrame(() => {
      frame = undefined
      if (!signal.aborted) show({ ...loaded, status, logs: logs.slice() })
    })
  }
  const begin = () => {
    if (status !== "queued") return
    status = "running"
    showSoon()
  }
  // A run that logs nothing has begun as well.
  if (status === "queued")
    void whenBegun(loaded.id, () => isEnded || status !== "queued", signal).then(begin)
  const from = logs.length + (loaded.logsOmitted?.lines ?? 0)
  for await (const event of api.follow({ run_id: loaded.id, from }, { signal })) {
    if (event.kind !== "log") continue
    logs.push(event.line)
    begin()
    showSoon()
  }
  isEnded = true
  // The pending frame would show the run as running again.
  if (frame !== undefined) cancelAnimationFrame(frame)
  const ended = await getEndedRun(loaded.id, signal)
  if (!signal.aborted) show(ended)
}

/** The record of a run that has just ended: it is written shortly after the end is reported. */
async function getEndedRun(id: string, signal: AbortSignal): Promise<RunDetail> {
  for (let tries = 1; ; tries += 1) {
    const run = await api.getRun({ run_id: id }, { signal })
    if (!isGoingOn(run) || tries >= limits.recordTriesMax) return run
    await pause(limits.recordMs)
  }
}

/** Polls until the run has left the queue, or `isKnown`. Following detects a lost server. */
async function whenBegun(id: string, isKnown: () => boolean, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !isKnown()) {
    const { status } = await api
      .getRun({ run_id: id }, { signal })
      .catch(() => ({ status: "queued" }))
    if (status !== "queued") return
    await pause(limits.startMs, signal)
  }
}
