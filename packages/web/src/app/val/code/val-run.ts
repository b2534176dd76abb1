import { ApiError, ConnectionError, type Output } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { api } from "../../api.ts"
import { pause } from "../../data/pause.ts"
import { isGoingOn } from "../../runs/list/run-kinds.ts"
import type { EditedFile } from "../files/edited-file.ts"
import { parseArgs } from "./parse-args.ts"
import type { prepareStart } from "./prepare-start.ts"
import type { ValEditing } from "./val-editing.ts"

/** A log line as the API returns it. */
export type LogLine = Output<"getRunLogs">["data"][number]

/** A run of the val, started from its page. */
export interface ValRun {
  readonly state: RunState
  /** The file that it is about. */
  readonly file: EditedFile | undefined
  /** The typed arguments of the file that Run starts: a JSON array, or one value. */
  readonly args: string
  setArgs(text: string): void
  /** Saves the user's own val and runs it. Returns whether it could be saved. */
  start(): Promise<boolean>
  cancel(): Promise<void>
}

/** The state of the run. */
export type RunState =
  | { readonly kind: "none" }
  | { readonly kind: "starting" }
  | {
      readonly kind: "running"
      readonly id: string
      readonly logs: readonly LogLine[]
      readonly isLost: boolean
    }
  | { readonly kind: "ended"; readonly run: Output<"getRun"> }
  | { readonly kind: "refused"; readonly error: unknown }

/** A restarted server responds within seconds; after a minute the run is given up. */
const limits = { reconnectMs: 1_000, reconnectsMax: 60, recordMs: 200, recordTriesMax: 100 }

/**
 * Runs a val and follows its log. The run continues when the page is left. `prepare` makes the
 * server have what should run.
 */
export function useValRun(
  editing: ValEditing,
  prepare: () => ReturnType<typeof prepareStart>,
): ValRun {
  const state = useSignal<RunState>({ kind: "none" })
  const file = useSignal<EditedFile | undefined>(undefined)
  const argsByFile = useSignal<ReadonlyMap<EditedFile | undefined, string>>(new Map())
  const args = argsByFile.value.get(editing.files.started.value) ?? ""
  const following = useRef<AbortController | undefined>(undefined)
  /** The user cancels a run that has no id yet. */
  const isCancelled = useRef(false)
  useEffect(() => () => following.current?.abort(), [])

  const start = async () => {
    if (state.peek().kind === "starting") return true
    following.current?.abort()
    const controller = new AbortController()
    following.current = controller
    isCancelled.current = false
    state.value = { kind: "starting" }
    const started = editing.files.started.peek()
    file.value = started
    try {
      const parsed = parseArgs(argsByFile.peek().get(started) ?? "")
      const outcome = await prepare()
      if (outcome !== "ready") {
        state.value = { kind: "none" }
        return outcome !== "not saved"
      }
      const { id } = await api.createRun(
        { val_id: editing.val.peek().id, ...editing.place(), args: parsed },
        { respondAsync: true },
      )
      if (isCancelled.current) await api.cancelRun({ run_id: id })
      await follow(id, controller.signal, (next) => {
        if (!controller.signal.aborted) state.value = next
      })
    } catch (error) {
      if (!controller.signal.aborted) state.value = { kind: "refused", error }
    }
    return true
  }
  return {
    state: state.value,
    file: file.value,
    args,
    setArgs(text) {
      const started = editing.files.started.peek()
      argsByFile.value = new Map(argsByFile.peek()).set(started, text)
    },
    start,
    async cancel() {
      const { value } = state
      isCancelled.current = value.kind === "starting"
      if (value.kind === "running") await api.cancelRun({ run_id: value.id })
    },
  }
}

/** Follows a run until it has ended, also across a restart of the server. */
async function follow(
  id: string,
  signal: AbortSignal,
  show: (state: RunState) => void,
): Promise<void> {
  const logs: LogLine[] = []
  let isLost = false
  let isEnded = false
  const showNow = () => {
    if (!isEnded) show({ kind: "running", id, logs: logs.slice(), isLost })
  }
  for (let reconnects = 0; ; reconnects += 1) {
    showNow()
    try {
      await readLogs(id, logs, signal, () => {
        isLost = false
        showNow()
      })
      const run = await getEndedRun(id, signal)
      isEnded = true
      show({ kind: "ended", run })
      return
    } catch (error) {
      if (signal.aborted || !isConnectionError(error) || reconnects >= limits.reconnectsMax)
        throw error
      isLost = true
      showNow()
      await pause(limits.reconnectMs)
    }
  }
}

/** Renders new lines once per frame, not once per line. */
async function readLogs(
  id: string,
  logs: LogLine[],
  signal: AbortSignal,
  show: () => void,
): Promise<void> {
  let isShown = true
  for await (const event of api.follow({ run_id: id, from: logs.length }, { signal })) {
    if (event.kind === "log") logs.push(event.line)
    if (!isShown) continue
    isShown = false
    requestAnimationFrame(() => {
      isShown = true
      show()
    })
  }
}

/** The record of a run that has just ended: it is written shortly after the end is reported. */
export async function getEndedRun(id: string, signal: AbortSignal): Promise<Output<"getRun">> {
  for (let tries = 1; ; tries += 1) {
    const run = await api.getRun({ run_id: id }, { signal })
    if (!isGoingOn(run) || tries >= limits.recordTriesMax) return run
    await pause(limits.recordMs)
  }
}

/** The server does not respond, or is shutting down. */
function isConnectionError(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof ApiError && error.status === 503)
}
