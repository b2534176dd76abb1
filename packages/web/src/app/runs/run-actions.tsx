import { useSignal } from "@preact/signals"
import type { ComponentType } from "preact"
import { Icon } from "../../ui/icon.tsx"
import { api } from "../api.ts"
import { navigate } from "../frame/location.ts"
import { showDone } from "../frame/toast-list.ts"
import { useAction } from "../parts/use-action.ts"
import type { RunDetail } from "./followed-run.ts"
import { isOfVal } from "./list/run-kinds.ts"

type Dialog = ComponentType<{ readonly run: RunDetail; readonly onClose: () => void }>

/** Cancels a run that goes on, or repeats one that has ended. */
export function RunActions({ run, onChange }: { run: RunDetail; onChange: () => void }) {
  const action = useAction()
  /** It is a bundle of its own. */
  const dialog = useSignal<Dialog | undefined>(undefined)
  const isRunning = run.status === "running" || run.status === "queued"
  const replay = async () => {
    const { id } = await api.replayRun({ run_id: run.id }, { respondAsync: true })
    showDone("The same version runs again with the same input")
    navigate(`/runs/${id}`)
  }
  const change = async () => {
    dialog.value = (await import("./replay/replay-dialog.tsx")).ReplayDialog
  }
  const cancel = async () => {
    const { found } = await api.cancelRun({ run_id: run.id })
    showDone(found ? "Cancelled" : "It had already ended")
    onChange()
  }
  // The code of an ad-hoc run is not stored.
  if (!isRunning && !isOfVal(run)) return null
  const Opened = dialog.value
  return (
    <>
      <button
        type="button"
        class="button button-quiet"
        disabled={action.isBusy}
        onClick={() => void action.run(isRunning ? cancel : replay)}
      >
        <Icon name={isRunning ? "stop" : "refresh"} /> {isRunning ? "Cancel" : "Replay"}
      </button>
      {isRunning ? null : (
        <button
          type="button"
          class="button button-quiet"
          aria-haspopup="dialog"
          disabled={action.isBusy}
          onClick={() => void action.run(change)}
        >
          <Icon name="edit" /> Replay with changes…
        </button>
      )}
      {Opened ? (
        <Opened
          run={run}
          onClose={() => {
            dialog.value = undefined
          }}
        />
      ) : null}
    </>
  )
}
