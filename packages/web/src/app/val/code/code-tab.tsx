import { useSignal, useSignalEffect } from "@preact/signals"
import { useMemo, useRef } from "preact/hooks"
import type { CodeEditorHandle } from "../../../editor/code-editor-props.ts"
import { LazyCodeEditor } from "../../../editor/lazy.tsx"
import { Icon } from "../../../ui/icon.tsx"
import { place } from "../../frame/location.ts"
import { sayDone, sayFailed } from "../../frame/toast-list.ts"
import { PreviewPanel } from "../preview/preview-panel.tsx"
import type { ValTabProps } from "../val-tab-props.ts"
import { ConflictDialog } from "./conflict-dialog.tsx"
import { DraftNotice } from "./draft-notice.tsx"
import { ImportLine } from "./import-line.tsx"
import { RunPanel } from "./run-panel.tsx"
import { SaveStatus } from "./save-status.tsx"
import { saySaveFailed } from "./say-save-failed.ts"
import { typeService } from "./type-service.ts"
import { useCodeCommands, useCodeKeys } from "./use-code-keys.ts"

/** The code, and beside it what comes of running it. */
export function CodeTab({ editing, run, isOwn, base }: ValTabProps) {
  const editor = useRef<CodeEditorHandle | null>(null)
  const { name, author, type } = editing.val.value
  const side = useSignal<"run" | "preview">(type === "http" ? "preview" : "run")
  const goTo = useGoTo()
  const previewKey = useSignal(0)
  // A text that does not come from the editor: taken up, taken back, or saved elsewhere.
  useSignalEffect(() => {
    const text = editing.code.value
    if (editor.current && editor.current.getText() !== text) editor.current.setText(text)
  })
  const save = async () => {
    if (!isOwn) return
    const before = editing.val.peek().version
    if (!(await editing.save())) return saySaveFailed(editing)
    const { version } = editing.val.peek()
    sayDone(
      version === before
        ? `Nothing has changed since version ${version}`
        : `Saved as version ${version}`,
    )
    if (version !== before) previewKey.value += 1
  }
  const start = async () => {
    side.value = "run"
    const before = editing.val.peek().version
    if (!(await run.start())) saySaveFailed(editing)
    if (editing.val.peek().version !== before) previewKey.value += 1
  }
  const format = () => void editor.current?.format()
  useCodeKeys({ save, start })
  useCodeCommands({ save, start, format, isOwn, base })
  return (
    <>
      <section class="code-pane" aria-label="Code">
        <div class="pane-bar">
          {isOwn ? (
            <>
              <button
                type="button"
                class="button button-small"
                disabled={!editing.isDirty.value}
                onClick={() => void save()}
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
              <button type="button" class="button button-quiet button-small" onClick={format}>
                Format
              </button>
            ) : null}
            <ImportLine val={editing.val.value} />
          </span>
        </div>
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
            onSave={() => void save()}
            onRun={() => void start()}
            onFormat={(outcome) => {
              if (outcome.ok) editing.type(editor.current?.getText() ?? editing.code.peek())
              else sayFailed(outcome.message)
            }}
          />
        </div>
      </section>
      <section class="side-pane" aria-label="Running it">
        <div class="pane-bar" role="tablist" aria-label="What to look at">
          {type === "http" ? <SideTab side={side} name="preview" label="Preview" /> : null}
          <SideTab side={side} name="run" label="Run" />
        </div>
        {type === "http" ? (
          <PreviewPanel
            editing={editing}
            isShown={side.value === "preview"}
            reloadKey={previewKey.value}
          />
        ) : null}
        {side.value === "run" || type !== "http" ? (
          <RunPanel
            run={run}
            isDirty={editing.isDirty.value && isOwn}
            onStart={() => void start()}
            onGoTo={(line) => editor.current?.goToLine(line)}
          />
        ) : null}
      </section>
      <ConflictDialog editing={editing} />
    </>
  )
}

function SideTab({
  side,
  name,
  label,
}: {
  side: { value: string }
  name: "run" | "preview"
  label: string
}) {
  return (
    <button
      type="button"
      role="tab"
      class="side-tab"
      aria-selected={side.value === name}
      onClick={() => {
        side.value = name
      }}
    >
      {label}
    </button>
  )
}

/**
 * `?line=12`: where an error of a run was. A new object only when the address changes, since each
 * one moves the cursor.
 */
function useGoTo() {
  const line = Number(place.value.query.get("line"))
  return useMemo(() => (Number.isInteger(line) && line > 0 ? { line } : undefined), [line])
}
