import { type Signal, useSignal, useSignalEffect } from "@preact/signals"
import type { RefObject } from "preact"
import { useMemo, useRef } from "preact/hooks"
import type { CodeEditorHandle } from "../../../editor/code-editor-props.ts"
import { LazyCodeEditor } from "../../../editor/lazy.tsx"
import { CopyButton } from "../../../ui/copy-button.tsx"
import { Icon } from "../../../ui/icon.tsx"
import { Tabs } from "../../../ui/tabs.tsx"
import { currentLocation } from "../../frame/location.ts"
import { showDone, showError } from "../../frame/toast-list.ts"
import { PreviewPanel } from "../preview/preview-panel.tsx"
import type { ValTabProps } from "../val-tab-props.ts"
import { ConflictDialog } from "./conflict-dialog.tsx"
import { DraftNotice } from "./draft-notice.tsx"
import { RunPanel } from "./run-panel.tsx"
import { SaveStatus } from "./save-status.tsx"
import { showSaveError } from "./show-save-error.ts"
import { typeService } from "./type-service.ts"
import { useCodeCommands, useCodeKeys } from "./use-code-keys.ts"

interface CodeActions {
  save(): Promise<void>
  start(): Promise<void>
}

type EditorRef = RefObject<CodeEditorHandle | null>
type Side = "run" | "preview"

const sidePanelId = "side-panel"

/** The code, and beside it the preview and the run. */
export function CodeTab(props: ValTabProps) {
  const { editing, run, isOwn, base } = props
  const editor: EditorRef = useRef(null)
  const side = useSignal<Side>(editing.val.peek().type === "http" ? "preview" : "run")
  const previewKey = useSignal(0)
  // The text was changed outside the editor: a draft, a reset, or a save in another tab.
  useSignalEffect(() => {
    const text = editing.code.value
    if (editor.current && editor.current.getText() !== text) editor.current.setText(text)
  })
  const save = async () => {
    if (!isOwn) return
    const before = editing.val.peek().version
    if (!(await editing.save())) return showSaveError(editing)
    const { version } = editing.val.peek()
    const isNew = version !== before
    showDone(isNew ? `Saved as version ${version}` : `Nothing has changed since version ${version}`)
    if (isNew) previewKey.value += 1
  }
  const start = async () => {
    side.value = "run"
    const before = editing.val.peek().version
    if (!(await run.start())) showSaveError(editing)
    if (editing.val.peek().version !== before) previewKey.value += 1
  }
  const actions = { save, start }
  useCodeKeys(actions)
  useCodeCommands({ ...actions, format: () => void editor.current?.format(), isOwn, base })
  return (
    <>
      <CodePane {...props} editor={editor} actions={actions} />
      <SidePane
        {...props}
        side={side}
        previewKey={previewKey.value}
        onStart={() => void start()}
        onGoTo={(line) => editor.current?.goToLine(line)}
      />
      <ConflictDialog editing={editing} />
    </>
  )
}

function CodePane(props: ValTabProps & { editor: EditorRef; actions: CodeActions }) {
  const { editing, isOwn, editor, actions } = props
  const { name, author } = editing.val.value
  const goTo = useGoTo()
  return (
    <section class="code-pane" aria-label="Code">
      <CodeBar {...props} />
      <DraftNotice editing={editing} />
      <div class="code-host">
        <LazyCodeEditor
          handle={editor}
          value={editing.code.peek()}
          language="typescript"
          path={`${author.username}/${name}.tsx`}
          label={`Code of ${author.username}/${name}`}
          readOnly={!isOwn}
          goTo={goTo}
          typeService={typeService}
          onChange={(text) => editing.type(text)}
          onSave={() => void actions.save()}
          onRun={() => void actions.start()}
          onFormat={(outcome) => {
            if (outcome.ok) editing.type(editor.current?.getText() ?? editing.code.peek())
            else showError(outcome.message)
          }}
        />
      </div>
    </section>
  )
}

function CodeBar(props: ValTabProps & { editor: EditorRef; actions: CodeActions }) {
  const { editing, isOwn, editor, actions } = props
  const { name, links } = editing.val.value
  return (
    <div class="pane-bar">
      {isOwn ? (
        <>
          <button
            type="button"
            class="button button-small"
            disabled={!editing.isDirty.value}
            onClick={() => void actions.save()}
          >
            <Icon name="save" /> Save
          </button>
          <SaveStatus editing={editing} />
        </>
      ) : (
        <span class="quiet">Read only</span>
      )}
      <span class="pane-bar-end">
        <button
          type="button"
          class="icon-button"
          title="Find (Ctrl F)"
          aria-label="Find"
          onClick={() => editor.current?.openSearch()}
        >
          <Icon name="search" />
        </button>
        {isOwn ? (
          <button
            type="button"
            class="button button-quiet button-small"
            onClick={() => void editor.current?.format()}
          >
            Format
          </button>
        ) : null}
        <CopyButton text={`import ${name} from "${links.module}"`} label="Copy the import line" />
      </span>
    </div>
  )
}

function SidePane(
  props: ValTabProps & {
    readonly side: Signal<Side>
    readonly previewKey: number
    readonly onStart: () => void
    readonly onGoTo: (line: number) => void
  },
) {
  const { editing, run, isOwn, side, previewKey, onStart, onGoTo } = props
  const isHttp = editing.val.value.type === "http"
  const current = isHttp ? side.value : "run"
  const runTab = { id: "run", label: "Run" } as const
  const previewTab = { id: "preview", label: "Preview" } as const
  return (
    <section class="side-pane" aria-label="Run and preview">
      <div class="pane-bar">
        <Tabs
          label="Run or preview"
          tabs={isHttp ? [previewTab, runTab] : [runTab]}
          current={current}
          panelId={sidePanelId}
          onPick={(id) => {
            side.value = id
          }}
        />
      </div>
      <div
        id={sidePanelId}
        class="side-panel"
        role="tabpanel"
        aria-label={current === "run" ? "Run" : "Preview"}
      >
        {isHttp ? (
          <PreviewPanel
            editing={editing}
            isOwn={isOwn}
            isShown={current === "preview"}
            reloadKey={previewKey}
            onGoTo={onGoTo}
          />
        ) : null}
        {current === "run" ? (
          <RunPanel
            run={run}
            isDirty={editing.isDirty.value && isOwn}
            onStart={onStart}
            onGoTo={onGoTo}
          />
        ) : null}
      </div>
    </section>
  )
}

/** Reads `?line=12`. The object changes only with the address, since each one moves the cursor. */
function useGoTo() {
  const line = Number(currentLocation.value.query.get("line"))
  return useMemo(() => (Number.isInteger(line) && line > 0 ? { line } : undefined), [line])
}
