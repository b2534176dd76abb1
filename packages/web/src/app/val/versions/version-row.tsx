import type { Item } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { setTo } from "../../../ui/bind.ts"
import { Dialog } from "../../../ui/dialog.tsx"
import { api } from "../../api.ts"
import { currentLocation } from "../../frame/location.ts"
import { showDone } from "../../frame/toast-list.ts"
import { Button } from "../../parts/buttons/button.tsx"
import { LinkButton } from "../../parts/buttons/link-button.tsx"
import { TimeAgo } from "../../parts/time-ago.tsx"
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
      <span class="quiet push">
        <TimeAgo at={version.createdAt} />
      </span>
      <span class="wrap version-actions">
        {session.value.kind === "signed-in" ? <RunVersion {...props} /> : null}
        {isOwn && !isCurrent ? <RestoreVersion {...props} /> : null}
        {isOwn ? <DeleteVersion {...props} /> : null}
      </span>
    </li>
  )
}

function RunVersion({ version: { version }, editing }: VersionRowProps) {
  const runId = useSignal<string | undefined>(undefined)
  const run = async () => {
    const input = { val_id: editing.val.peek().id, version }
    runId.value = (await api.createRun(input, { respondAsync: true })).id
  }
  return (
    <>
      <LinkButton label={`Run version ${version}`} onClick={run}>
        Run
      </LinkButton>
      {runId.value ? <a href={`/runs/${runId.value}`}>Open the run</a> : null}
    </>
  )
}

/** Asks first: afterwards the list moves, and the pointer would be over another version's button. */
function RestoreVersion({ version: { version, code }, editing, onChange }: VersionRowProps) {
  const restore = async () => {
    const saved = await api.createVersion({ val_id: editing.val.peek().id, code })
    await editing.refresh()
    showDone(`Version ${saved.version} has the code of version ${version}`)
    onChange()
  }
  return (
    <AskingButton
      version={version}
      label="Restore"
      confirmLabel="Restore its code"
      action={restore}
    >
      Its code becomes the new version. Version {editing.val.value.version} stays in the history,
      and unsaved text is set aside.
    </AskingButton>
  )
}

function DeleteVersion({ version: { version }, editing, onChange }: VersionRowProps) {
  const remove = async () => {
    const { id } = editing.val.peek()
    await api.deleteVersion({ val_id: id, version })
    await editing.refresh()
    showDone(`Version ${version} is deleted`)
    onChange()
  }
  return (
    <AskingButton
      version={version}
      label="Delete"
      confirmLabel={`Delete version ${version}`}
      action={remove}
      isDanger
    >
      It can no longer be run or imported, and its number is not used again.
    </AskingButton>
  )
}

/** A button that does something to a version after a question. */
function AskingButton(props: {
  readonly version: number
  readonly label: string
  readonly confirmLabel: string
  readonly action: () => Promise<void>
  readonly isDanger?: boolean
  readonly children: ComponentChildren
}) {
  const { version, label, confirmLabel, action, isDanger = false, children } = props
  const isAsking = useSignal(false)
  const act = async () => {
    try {
      await action()
    } finally {
      isAsking.value = false
    }
  }
  return (
    <>
      <LinkButton
        isDanger={isDanger}
        label={`${label} version ${version}`}
        onClick={setTo(isAsking, true)}
      >
        {label}
      </LinkButton>
      {isAsking.value ? (
        <Dialog title={`${label} version ${version}?`} onClose={setTo(isAsking, false)}>
          <p>{children}</p>
          <div class="dialog-foot">
            <Button {...(isDanger ? { kind: "danger" } : {})} action={act}>
              {confirmLabel}
            </Button>
          </div>
        </Dialog>
      ) : null}
    </>
  )
}
