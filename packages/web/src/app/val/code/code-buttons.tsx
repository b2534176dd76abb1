import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { IconButton } from "../../../ui/icon.tsx"
import { isServerLost } from "../../data/connection.ts"
import { explain } from "../../data/explain.ts"
import { Button } from "../../parts/buttons/button.tsx"
import { roleIn } from "../../session/owners.ts"
import { ChangesButton } from "../files/changes-dialog.tsx"
import { FilesButton } from "../files/tree/file-rail.tsx"
import { changeLayout, layout } from "../panes/layout.ts"
import type { ValTabProps } from "../val-tab-props.ts"

type Props = Pick<ValTabProps, "editing" | "actions" | "draftMode" | "isOwn">

/** Save and Run, and which panes are open, at the end of the bar. */
export function CodeButtons(props: Props) {
  const { editing, actions, draftMode, isOwn } = props
  const isBusy = useLasting(actions.isBusy)
  return (
    <div class="row val-buttons">
      <span class="row val-tools">
        <FilesButton editing={editing} isOwn={isOwn} />
        <PaneToggles editing={editing} />
      </span>
      {isOwn ? <SaveStatus editing={editing} /> : <span class="quiet">Read only</span>}
      {isOwn ? <ChangesButton editing={editing} /> : null}
      {isOwn ? (
        <Button
          kind="quiet small"
          class="val-save"
          icon="save"
          title="Save (Ctrl S)"
          disabled={!editing.isDirty.value}
          onClick={() => actions.save()}
        >
          Save
        </Button>
      ) : null}
      {isBusy ? (
        <Button kind="quiet small" class="val-run" icon="stop" onClick={() => actions.cancel()}>
          Cancel
        </Button>
      ) : (
        <Button
          kind="small"
          class="val-run"
          icon="play"
          title={`${toRunTitle(props)} (Ctrl Enter)`}
          disabled={!mayRun(editing.val.value)}
          onClick={() => actions.start()}
        >
          {draftMode.isOn.value && isOwn ? "Preview" : "Run"}
        </Button>
      )}
    </div>
  )
}

function toRunTitle({ editing, draftMode, isOwn }: Props): string {
  const { author } = editing.val.value
  if (!mayRun(editing.val.value)) return `Viewers of ${author.username} cannot run its private vals`
  const started = editing.files.started.value
  const what = started?.type.value === "http" ? "send the request" : `run ${started?.path.value}`
  if (!isOwn) return what.charAt(0).toUpperCase() + what.slice(1)
  return draftMode.isOn.value ? `Preview the unsaved files: ${what}` : `Save and ${what}`
}

const busyMs = 300

/** A private val runs on the account of its owner, for those who may change it. */
function mayRun({ author, privacy }: ValTabProps["editing"]["val"]["value"]): boolean {
  return privacy !== "private" || roleIn(author.id) !== "viewer"
}

/** Whether something has lasted for a while, so that a button does not flicker. */
function useLasting(isNow: boolean): boolean {
  const isLasting = useSignal(false)
  useEffect(() => {
    isLasting.value = false
    if (!isNow) return
    const timer = setTimeout(() => {
      isLasting.value = true
    }, busyMs)
    return () => clearTimeout(timer)
  }, [isNow])
  return isNow && isLasting.value
}

function PaneToggles({ editing }: Pick<Props, "editing">) {
  const { isSideOpen } = layout.value
  const drawer =
    editing.files.started.value?.type.value === "http" ? "isHttpDrawerOpen" : "isDrawerOpen"
  return (
    <>
      <PaneToggle
        icon="panelBottom"
        label="Logs below the code"
        isOpen={layout.value[drawer]}
        onToggle={(isOpen) => changeLayout({ [drawer]: isOpen })}
      />
      <PaneToggle
        icon="panelRight"
        label="Pane beside the code"
        isOpen={isSideOpen}
        onToggle={(isOpen) => changeLayout({ isSideOpen: isOpen })}
      />
    </>
  )
}

function PaneToggle(props: {
  readonly icon: "panelBottom" | "panelRight"
  readonly label: string
  readonly isOpen: boolean
  readonly onToggle: (isOpen: boolean) => void
}) {
  const { icon, label, isOpen, onToggle } = props
  return (
    <IconButton
      icon={icon}
      class="pane-toggle"
      label={label}
      aria-pressed={isOpen}
      onClick={() => onToggle(!isOpen)}
    />
  )
}

/** Whether the text in the editor is saved. */
function SaveStatus({ editing }: Pick<ValTabProps, "editing">) {
  const saving = editing.saving.value
  const text =
    saving.kind === "saving"
      ? "Saving…"
      : saving.kind === "conflict" || editing.elsewhere.value
        ? "Changed elsewhere"
        : saving.kind === "failed"
          ? saving.isRepeated && isServerLost.value
            ? "Waiting for the server"
            : "Not saved"
          : editing.isDirty.value
            ? "Unsaved changes"
            : editing.problems.value.length > 0
              ? "Saved with an error"
              : "Saved"
  const kind = editing.elsewhere.value
    ? "conflict"
    : !editing.isDirty.value && editing.problems.value.length > 0
      ? "failed"
      : saving.kind
  return (
    <span
      class={`ellipsis small save-status save-${kind}`}
      role="status"
      {...(saving.kind === "failed" ? { title: explain(saving.error) } : {})}
    >
      {text}
    </span>
  )
}
