import type { Item } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { setTo } from "../../../ui/bind.ts"
import { Dialog } from "../../../ui/dialog.tsx"
import { api } from "../../api.ts"
import { currentLocation } from "../../frame/location.ts"
import { showDone } from "../../frame/toast-list.ts"
import { TimeAgo } from "../../parts/time-ago.tsx"
import { useAction } from "../../parts/use-action.ts"
import { session } from "../../session/session.ts"
import type { ValTabProps } from "../val-tab-props.ts"

interface VersionRowProps extends Pick<ValTabProps, "editing" | "isOwn" | "base"> {
  readonly version: Item<"listVersions">
  readonly before: number | undefined
  readonly isCurrent: boolean
  readonly isShown: boolean
  readonly onChange: () => void
}

/** A version, its time, and its actions. */
export function VersionRow(props: VersionRowProps) {
  const { version, before, isCurrent, isShown, isOwn, base } = props
  const layout = currentLocation.value.query.get("layout")
  const show = `${base}/versions?from=${before ?? 0}&to=${version.version}${layout ? `&layout=${layout}` : ""}`
  return (
    <li class={`version-row ${isShown ? "version-shown" : ""}`}>
      <a class="table-name" href={show} {...(isShown ? { "aria-current": "true" as const } : {})}>
        v{version.version}
      </a>
      {isCurrent ? <span class="badge">current</span> : null}
      <span class="quiet version-time">
        <TimeAgo at={version.createdAt} />
      </span>
      <span class="version-actions">
        {session.value.kind === "signed-in" ? <RunVersion {...props} /> : null}
        {isOwn && !isCurrent ? <RestoreVersion {...props} /> : null}
        {isOwn ? <DeleteVersion {...props} /> : null}
      </span>
    </li>
  )
}

function RunVersion({ version, editing }: VersionRowProps) {
  const runId = useSignal<string | undefined>(undefined)
  const action = useAction()
  const run = async () => {
    const input = { val_id: editing.val.peek().id, version: version.version }
    runId.value = (await api.createRun(input, { respondAsync: true })).id
  }
  return (
    <>
      <button
        type="button"
        class="link-button"
        aria-label={`Run version ${version.version}`}
        onClick={() => void action.run(run)}
      >
        Run
      </button>
      {runId.value ? <a href={`/runs/${runId.value}`}>Open the run</a> : null}
    </>
  )
}

/** Asks first: afterwards the list moves, and the pointer would be over another version's button. */
function RestoreVersion({ version, editing, onChange }: VersionRowProps) {
  const isAsking = useSignal(false)
  const action = useAction()
  const { version: current } = editing.val.value
  const restore = async () => {
    const saved = await api.createVersion({ val_id: editing.val.peek().id, code: version.code })
    isAsking.value = false
    editing.takeSaved(saved)
    showDone(`Version ${saved.version} has the code of version ${version.version}`)
    onChange()
  }
  return (
    <>
      <button
        type="button"
        class="link-button"
        aria-label={`Restore version ${version.version}`}
        onClick={setTo(isAsking, true)}
      >
        Restore
      </button>
      {isAsking.value ? (
        <Dialog title={`Restore version ${version.version}?`} onClose={setTo(isAsking, false)}>
          <p>
            Its code becomes the new version. Version {current} stays in the history, and unsaved
            text is set aside.
          </p>
          <div class="dialog-foot">
            <button
              type="button"
              class="button"
              disabled={action.isBusy}
              onClick={() => void action.run(restore)}
            >
              Restore its code
            </button>
          </div>
        </Dialog>
      ) : null}
    </>
  )
}

function DeleteVersion({ version: { version }, editing, onChange }: VersionRowProps) {
  const isAsking = useSignal(false)
  const action = useAction()
  const remove = async () => {
    const { id } = editing.val.peek()
    isAsking.value = false
    await api.deleteVersion({ val_id: id, version })
    editing.refresh(await api.getVal({ val_id: id }))
    showDone(`Version ${version} is deleted`)
    onChange()
  }
  return (
    <>
      <button
        type="button"
        class="link-button link-danger"
        aria-label={`Delete version ${version}`}
        onClick={setTo(isAsking, true)}
      >
        Delete
      </button>
      {isAsking.value ? (
        <Dialog title={`Delete version ${version}?`} onClose={setTo(isAsking, false)}>
          <p>It can no longer be run or imported, and its number is not used again.</p>
          <div class="dialog-foot">
            <button
              type="button"
              class="button button-danger"
              onClick={() => void action.run(remove)}
            >
              Delete version {version}
            </button>
          </div>
        </Dialog>
      ) : null}
    </>
  )
}
