import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { toLanguage } from "../../../editor/to-language.ts"
import { Bars } from "../../../ui/page-states.tsx"
import { navigate } from "../../frame/location.ts"
import { LinkButton } from "../../parts/buttons/link-button.tsx"
import { type LinkTab, LinkTabs } from "../../parts/link-tabs.tsx"
import { Markdown } from "../../parts/markdown.tsx"
import { sidePaneId } from "../code/code-actions.ts"
import { RunPanel } from "../code/run-panel.tsx"
import type { EditedFile } from "../files/edited-file.ts"
import { EmailTab } from "../mail/email-tab.tsx"
import { Workbench } from "../preview/workbench.tsx"
import { ScheduleTab } from "../schedule-tab.tsx"
import { toHref } from "../to-href.ts"
import type { ValTabProps } from "../val-tab-props.ts"
import { type FileSchedules, useFileSchedules } from "./file-schedules.ts"
import { TriggerSelect } from "./trigger-select.tsx"

/**
 * Beside the code: what the file that Run starts does, by what starts it. It stays while a module is
 * edited. Of a Markdown file, it is what the file looks like.
 */
export function SidePane(props: ValTabProps) {
  const { editing, isOwn, pane, actions } = props
  const { files } = editing
  const started = files.started.value
  const schedules = useFileSchedules(editing, isOwn)
  const prose = useProse(files.current.value, actions.isBusy)
  const pick = (file: EditedFile) => {
    files.pick(file)
    prose.close()
    navigate(toHref(editing), { replace: true })
  }
  return (
    <section id={sidePaneId} class="column side-pane" aria-label="Result">
      <TriggerSelect editing={editing} isOwn={isOwn} schedules={schedules} onPick={pick} />
      {prose.file ? (
        <ProsePreview
          file={prose.file}
          {...(started ? { onClose: prose.close, other: started.path.value } : {})}
        />
      ) : null}
      {/* A page that is hidden keeps its state. */}
      <div class="column fill" hidden={prose.file !== undefined}>
        <PaneTabs editing={editing} isOwn={isOwn} pane={pane} />
        {editing.trial.value && editing.trial.value.file === started ? (
          <p class="row wrap small notice" role="status">
            Preview of unsaved files. Save makes them live.
            {editing.val.value.privacy === "private"
              ? null
              : " Until then, those who can open this val can read them on its branch draft."}
          </p>
        ) : null}
        <TriggerPart key={started?.key} {...props} schedules={schedules} />
      </div>
    </section>
  )
}

function PaneTabs({ editing, isOwn, pane }: Pick<ValTabProps, "editing" | "isOwn" | "pane">) {
  const type = editing.files.started.value?.type.value
  const first: LinkTab | undefined =
    // A val whose type was changed may still have a schedule.
    (type === "interval" && isOwn) || pane === "schedule"
      ? { href: toHref(editing, "schedule"), label: "Schedule", icon: "timer" }
      : type === "email" || pane === "mail"
        ? { href: toHref(editing, "mail"), label: "Mail", icon: "mail" }
        : undefined
  if (!first) return null
  const run: LinkTab = {
    href: toHref(editing, "run"),
    label: first.label === "Schedule" ? "Run now" : "Run",
    icon: "play",
  }
  return <LinkTabs label="Beside the code" current={toHref(editing, pane)} tabs={[first, run]} />
}

function TriggerPart(props: ValTabProps & { readonly schedules: FileSchedules }) {
  const { editing, run, isOwn, pane, actions, schedules } = props
  const started = editing.files.started.value
  // A response may come when another file is shown: it is about this one.
  const { id } = editing.findStarted() ?? {}
  const onGoTo = actions.goToStack
  if (pane === "schedule")
    return (
      <div class="fill side-part">
        <ScheduleTab
          editing={editing}
          onChange={(changed) => {
            if (id === undefined) return
            const next = new Map(schedules.peek())
            if (changed) next.set(id, changed)
            else next.delete(id)
            schedules.value = next
          }}
        />
      </div>
    )
  if (pane === "mail")
    return (
      <div class="fill side-part">
        <EmailTab editing={editing} run={run} actions={actions} isOwn={isOwn} />
      </div>
    )
  if (started?.type.value === "http") return <Workbench {...props} onGoTo={onGoTo} />
  return (
    <RunPanel
      run={run}
      editing={editing}
      isOwn={isOwn}
      onStart={() => void actions.start()}
      onGoTo={onGoTo}
    />
  )
}

/** What a Markdown file looks like while it is typed. */
function ProsePreview(props: {
  readonly file: EditedFile
  readonly onClose?: () => void
  /** The path of the file whose result is shown instead. */
  readonly other?: string
}) {
  const { file, onClose, other } = props
  const text = file.text.value
  return (
    <section class="column fill" aria-label="Preview">
      <p class="row small prose-line">
        <span class="quiet ellipsis">{file.path.value}</span>
        {onClose ? <LinkButton onClick={onClose}>Show {other}</LinkButton> : null}
      </p>
      <div class="fill side-part">
        {text === undefined ? <Bars count={4} /> : <Markdown text={text} />}
      </div>
    </section>
  )
}

/** The Markdown file in the editor, until its preview is closed or something runs. */
function useProse(current: EditedFile | undefined, isBusy: boolean) {
  const closed = useSignal<EditedFile | undefined>(undefined)
  const close = () => {
    closed.value = current
  }
  useEffect(() => {
    if (isBusy) close()
  }, [isBusy])
  // Another file was shown since: a Markdown file is shown again.
  useEffect(() => {
    if (closed.peek() !== current) closed.value = undefined
  }, [current])
  const isProse = current !== undefined && toLanguage(current.path.value) === "markdown"
  return { file: isProse && closed.value !== current ? current : undefined, close }
}
