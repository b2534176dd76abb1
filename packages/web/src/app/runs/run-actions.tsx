import { useSignal } from "@preact/signals"
import type { ComponentType } from "preact"
import { setTo } from "../../ui/bind.ts"
import { api } from "../api.ts"
import { navigate } from "../frame/location.ts"
import { showDone } from "../frame/toast-list.ts"
import { Button } from "../parts/buttons/button.tsx"
import type { RunDetail } from "./followed-run.ts"
import { isGoingOn, isOfVal } from "./list/run-kinds.ts"

type Dialog = ComponentType<{ readonly run: RunDetail; readonly onClose: () => void }>

/** Cancels a run that goes on, or repeats one that has ended. */
export function RunActions({ run, onChange }: { run: RunDetail; onChange: () => void }) {
  /** The dialog is loaded when it opens: it is a bundle of its own. */
  const dialog = useSignal<Dialog | undefined>(undefined)
  const isRunning = isGoingOn(run)
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
      {isRunning ? (
        <Button kind="quiet" icon="stop" action={cancel}>
          Cancel
        </Button>
      ) : (
        <>
          <Button kind="quiet" icon="refresh" action={replay}>
            Replay
          </Button>
          <Button kind="quiet" icon="edit" aria-haspopup="dialog" action={change}>
            Replay with changes…
          </Button>
        </>
      )}
      {Opened ? <Opened run={run} onClose={setTo(dialog, undefined)} /> : null}
    </>
  )
}
