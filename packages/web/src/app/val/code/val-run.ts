import type { Output } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { useRef } from "preact/hooks"
import { api } from "../../api.ts"
import { type FollowedRun, type LogLine, useFollowedRun } from "../../runs/followed-run.ts"
import { isGoingOn } from "../../runs/list/run-kinds.ts"
import type { EditedFile } from "../files/edited-file.ts"
import { firstMessage, sendTestMessage, type TestMessage } from "../mail/test-message.ts"
import { parseArgs } from "./parse-args.ts"
import type { prepareStart } from "./prepare-start.ts"
import type { ValEditing } from "./val-editing.ts"

/** A run of the val, started from its page. */
export interface ValRun {
  readonly state: RunState
  /** The file that it is about. */
  readonly file: EditedFile | undefined
  /** The typed arguments of the file that Run starts: a JSON array, or one value. */
  readonly args: string
  setArgs(text: string): void
  /** What a run of the user's own file of type email receives. */
  readonly message: TestMessage
  setMessage(message: TestMessage): void
  /** Saves the user's own val and runs it. Returns whether it could be saved. */
  start(): Promise<boolean>
  cancel(): Promise<void>
}

/** The state of the run. */
export type RunState =
  | Exclude<StartState, { kind: "started" }>
  | {
      readonly kind: "running"
      readonly id: string
      readonly logs: readonly LogLine[]
      readonly isLost: boolean
    }
  | { readonly kind: "ended"; readonly run: Output<"getRun"> }

type StartState =
  | { readonly kind: "none" }
  | { readonly kind: "starting" }
  | { readonly kind: "started"; readonly id: string }
  | { readonly kind: "refused"; readonly error: unknown }

/**
 * Runs a val and follows its log. The run continues when the page is left. `prepare` makes the
 * server have what should run.
 */
export function useValRun(
  editing: ValEditing,
  prepare: () => ReturnType<typeof prepareStart>,
  isOwn: boolean,
): ValRun {
  const start = useSignal<StartState>({ kind: "none" })
  const file = useSignal<EditedFile | undefined>(undefined)
  const argsByFile = useSignal<ReadonlyMap<EditedFile | undefined, string>>(new Map())
  const message = useSignal(firstMessage)
  const args = argsByFile.value.get(editing.files.started.value) ?? ""
  const followed = useFollowedRun(start.value.kind === "started" ? start.value.id : undefined)
  const state = toState(start.value, followed)
  /** The user cancels a run that has no id yet. */
  const isCancelled = useRef(false)
  return {
    state,
    file: file.value,
    args,
    setArgs(text) {
      const started = editing.files.started.peek()
      argsByFile.value = new Map(argsByFile.peek()).set(started, text)
    },
    message: message.value,
    setMessage(changed) {
      message.value = changed
    },
    async start() {
      if (start.peek().kind === "starting") return true
      isCancelled.current = false
      start.value = { kind: "starting" }
      const started = editing.files.started.peek()
      file.value = started
      try {
        const typed = argsByFile.peek().get(started) ?? ""
        const isMail = isOwn && started?.type.peek() === "email"
        const parsed = isMail ? [] : parseArgs(typed)
        const outcome = await prepare()
        if (outcome !== "ready") {
          start.value = { kind: "none" }
          return outcome !== "not saved"
        }
        const place = { val_id: editing.val.peek().id, ...editing.place() }
        const { id } = isMail
          ? await sendTestMessage(place, message.peek())
          : await api.createRun({ ...place, args: parsed }, { respondAsync: true })
        if (isCancelled.current) await api.cancelRun({ run_id: id })
        start.value = { kind: "started", id }
      } catch (error) {
        start.value = { kind: "refused", error }
      }
      return true
    },
    async cancel() {
      isCancelled.current = state.kind === "starting"
      if (state.kind === "running") await api.cancelRun({ run_id: state.id })
    },
  }
}

function toState(start: StartState, { state, isLost }: FollowedRun): RunState {
  if (start.kind !== "started") return start
  const { id } = start
  if (state.kind === "failed" && !isLost) return { kind: "refused", error: state.error }
  if (state.kind !== "ready") return { kind: "running", id, logs: [], isLost }
  return isGoingOn(state.data)
    ? { kind: "running", id, logs: state.data.logs, isLost }
    : { kind: "ended", run: state.data }
}
