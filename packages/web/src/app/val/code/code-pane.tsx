import { useSignalEffect } from "@preact/signals"
import { useLayoutEffect, useMemo, useRef } from "preact/hooks"
import type { CodeEditorHandle } from "../../../editor/code-editor-props.ts"
import { LazyCodeEditor } from "../../../editor/lazy.tsx"
import { toLanguage } from "../../../editor/to-language.ts"
import { setTo } from "../../../ui/bind.ts"
import { Bars, EmptyState, FailureState } from "../../../ui/page-states.tsx"
import { explain } from "../../data/explain.ts"
import { currentLocation } from "../../frame/location.ts"
import { showError } from "../../frame/toast-list.ts"
import { editorFeatures } from "../editor/editor-features.ts"
import { isWordWrapped } from "../editor/editor-settings.ts"
import type { EditedFile } from "../files/edited-file.ts"
import { FileTabs, hasTabs, toTabIds } from "../files/file-tabs.tsx"
import { focusWanted } from "../files/files-view.ts"
import { DraftNotice, ElsewhereNotice, SaveProblemNotice } from "../saving/notices.tsx"
import type { ValTabProps } from "../val-tab-props.ts"
import { TypeDocuments, toDocumentPath } from "./type-documents.tsx"
import { typeService } from "./type-service.ts"

/** The editors of the open files, one of which is shown. */
export function CodePane(props: ValTabProps) {
  const { editing, isOwn, actions } = props
  const { tabs, current } = editing.files
  return (
    <section class="column code-pane" aria-label="Code">
      <FileTabs editing={editing} />
      <SaveProblemNotice editing={editing} onGoTo={actions.goTo} />
      <ElsewhereNotice editing={editing} isOwn={isOwn} />
      <DraftNotice editing={editing} />
      {current.value ? null : (
        <EmptyState icon="file" title="No files">
          <p>This val has no files yet.</p>
        </EmptyState>
      )}
      {/* A hidden editor keeps its scroll position, its selection and what can be undone. */}
      {tabs.value.map((file) => (
        <div
          key={file.key}
          class="column fill code-host"
          hidden={file !== current.value}
          {...(hasTabs(editing.files) ? toPanel(file) : {})}
        >
          <FileEditor {...props} file={file} />
        </div>
      ))}
      <TypeDocuments editing={editing} />
    </section>
  )
}

function toPanel(file: EditedFile) {
  const ids = toTabIds(file)
  return { role: "tabpanel", id: ids.panel, "aria-labelledby": ids.tab } as const
}

function FileEditor(props: ValTabProps & { readonly file: EditedFile }) {
  const { editing, isOwn, actions, file } = props
  const handle = useRef<CodeEditorHandle | null>(null)
  const isCurrent = editing.files.current.value === file
  // Before the next key: it is meant for the file that is shown.
  useLayoutEffect(() => {
    if (!isCurrent) return
    actions.setEditor(handle)
    handle.current?.checkAgain()
  }, [isCurrent])
  // The text was changed outside the editor: a draft, a reset, or a save in another tab.
  useSignalEffect(() => {
    const text = file.text.value
    if (text !== undefined && handle.current && handle.current.getText() !== text)
      handle.current.setText(text)
  })
  const goTo = useGoTo(isCurrent)
  const path = file.path.value
  if (file.text.value === undefined)
    return file.loadError.value === undefined ? (
      <Bars count={6} />
    ) : (
      <FailureState message={explain(file.loadError.value)} onRetry={() => void file.load()} />
    )
  return (
    <LazyCodeEditor
      handle={handle}
      value={file.text.peek() ?? ""}
      language={toLanguage(path)}
      path={toDocumentPath(editing, path)}
      label={`Code of ${toDocumentPath(editing, path)}`}
      readOnly={!isOwn}
      isWrapped={isWordWrapped.value}
      goTo={goTo}
      takeFocus={isCurrent && isFocusWanted(editing, path) ? clearFocus : undefined}
      typeService={typeService}
      {...editorFeatures(editing, actions.goTo)}
      onChange={(text) => editing.files.type(text, file)}
      onSave={() => void actions.save()}
      onRun={() => void actions.start()}
      onFormat={(outcome) => {
        if (!outcome.ok) showError(outcome.message)
      }}
    />
  )
}

const clearFocus = setTo(focusWanted, undefined)

function isFocusWanted({ files }: ValTabProps["editing"], path: string): boolean {
  const { value } = focusWanted
  if (value === undefined) return false
  return value === "entry" ? files.entry.value?.path.value === path : value.path === path
}

/** Reads `?line=12`. The object changes only with the address, since each one moves the cursor. */
function useGoTo(isCurrent: boolean) {
  const line = Number(currentLocation.value.query.get("line"))
  return useMemo(
    () => (isCurrent && Number.isInteger(line) && line > 0 ? { line } : undefined),
    [line, isCurrent],
  )
}
