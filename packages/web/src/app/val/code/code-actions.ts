import { ApiError } from "@hamlet/contract/client"
import type { RefObject } from "preact"
import { useEffect, useMemo, useRef } from "preact/hooks"
import type { CodeEditorHandle } from "../../../editor/code-editor-props.ts"
import { comebacks } from "../../data/connection.ts"
import { setQuery } from "../../frame/location.ts"
import { showDone, showError } from "../../frame/toast-list.ts"
import type { GoToStack } from "../../runs/run-error-view.tsx"
import { shouldFormatOnSave } from "../editor/editor-settings.ts"
import { narrowView } from "../panes/narrow.ts"
import type { ValRequests } from "../preview/val-requests.ts"
import type { prepareStart } from "./prepare-start.ts"
import type { ValEditing } from "./val-editing.ts"
import type { ValRun } from "./val-run.ts"

/** What the buttons and shortcuts of the code do. */
export interface CodeActions {
  /** The editor that is shown. */
  readonly editor: RefObject<CodeEditorHandle | null>
  setEditor(handle: RefObject<CodeEditorHandle | null>): void
  /** Shows a line of a file. */
  goTo(path: string, line: number): void
  /** Shows a line that a stack names. */
  readonly goToStack: GoToStack
  /** Whether a run or a request is waiting for the val. */
  readonly isBusy: boolean
  /** `note` is what the user says about the version. */
  save(note?: string): Promise<void>
  /** Saves, and runs the val or sends the typed request. */
  start(): Promise<void>
  /** Formats the code, and reports why it cannot. */
  format(): Promise<void>
  cancel(): void
}

/** The id of the pane with the result. */
export const sidePaneId = "side-pane"

/** The actions of a val's code. */
export function useCodeActions(deps: {
  readonly editing: ValEditing
  readonly run: ValRun
  readonly requests: ValRequests
  readonly isOwn: boolean
  readonly prepare: () => ReturnType<typeof prepareStart>
  /** Shows the run beside the code. */
  readonly showRun: () => void
}): CodeActions {
  const { editing, run, requests, isOwn, prepare, showRun } = deps
  const shown = useRef<RefObject<CodeEditorHandle | null>>({ current: null })
  const editor = useMemo(
    () => ({
      get current() {
        return shown.current.current
      },
    }),
    [],
  )
  editing.findSyntaxErrorHere = () => editor.current?.findSyntaxError()
  const isHttp = editing.files.started.value?.type.value === "http"
  const isBusy = isHttp
    ? requests.exchange.value.kind === "sending"
    : run.state.kind === "starting" || run.state.kind === "running"
  const goTo = (path: string, line: number) => {
    const file = editing.files.find(path)
    if (!file) return
    const isShown = file === editing.files.current.peek()
    editing.files.open(file)
    narrowView.value = "code"
    if (isShown) editor.current?.goToLine(line)
    else setQuery({ file: file === editing.files.entry.peek() ? undefined : path, line: `${line}` })
  }
  const saveAndTell = async (save: () => Promise<boolean | undefined>) => {
    const before = editing.branch.peek().version
    const isSaved = await save()
    if (isSaved === undefined) return
    if (!isSaved) return showSaveError(editing)
    const { version } = editing.branch.peek()
    const isNew = version !== before
    showDone(isNew ? `Saved as version ${version}` : `Nothing has changed since version ${version}`)
    if (!(isNew && isHttp)) return
    requests.noteSaved()
    if (await editing.parses()) requests.refreshPage()
  }
  useEffect(() => {
    void saveAndTell(() => editing.repeatLost())
  }, [comebacks.value])
  return {
    goTo,
    goToStack(path = "main.tsx", line) {
      const { entry } = editing.files
      goTo(editing.files.find(path) ? path : (entry.peek()?.path.peek() ?? ""), line)
    },
    editor,
    isBusy,
    setEditor(handle) {
      shown.current = handle
    },
    async save(note) {
      if (!isOwn) return
      // Code that does not parse is saved as it is, and reported then.
      if (shouldFormatOnSave.peek()) await editor.current?.format()
      await saveAndTell(() => editing.save(note))
    },
    async start() {
      showRun()
      // After it: the address has changed.
      narrowView.value = "preview"
      if (!isHttp) {
        if (!(await run.start())) showSaveError(editing)
        return
      }
      const before = editing.branch.peek().version
      const outcome = await prepare().catch((error: unknown) => void showError(error))
      if (outcome === "not saved") return showSaveError(editing)
      if (editing.branch.peek().version !== before) requests.noteSaved()
      if (outcome === "ready") await requests.send()
    },
    async format() {
      const outcome = await editor.current?.format()
      if (outcome?.ok === false) showError(outcome.message)
    },
    cancel() {
      if (isHttp) requests.cancel()
      else void run.cancel().catch(showError)
    },
  }
}

/** Reports why a save failed, unless a dialog does: for a conflict, or an ended session. */
export function showSaveError(editing: ValEditing): void {
  const saving = editing.saving.peek()
  if (
    saving.kind === "failed" &&
    !(saving.error instanceof ApiError && saving.error.status === 401)
  )
    showError(saving.error)
}
