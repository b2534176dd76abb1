import { useComputed, useSignalEffect } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { toPlainLines } from "../../../editor/line-ends.ts"
import type { EditedFile } from "../files/edited-file.ts"
import { typeService } from "./type-service.ts"
import type { ValEditing } from "./val-editing.ts"

const limits = {
  /** In a val with more files, those that are not open have no types. */
  filesMax: 300,
  /** Texts that are loaded at the same time. */
  loadsMax: 4,
}

/** The name of a file in the type service. */
export function toDocumentPath(editing: ValEditing, path: string): string {
  const { name, author } = editing.val.value
  return `${author.username}/${name}/${path}`
}

/** Gives the type service all files that code can import, whether or not they are open. */
export function TypeDocuments({ editing }: { editing: ValEditing }) {
  const files = listModules(editing)
  // Files that were saved elsewhere are unread, too: their text has to be read again.
  const unread = useComputed(() => listModules(editing).filter(isUnread)).value
  useEffect(() => loadAll(unread), [unread])
  // A val with one file has no other to import, and its editor has its text.
  if (files.length < 2) return null
  return files.map((file) => <TypeDocument key={file.key} editing={editing} file={file} />)
}

function listModules({ files }: ValEditing): readonly EditedFile[] {
  const modules = files.present.value.filter((file) => isModule(file.path.value))
  return modules.slice(0, limits.filesMax)
}

function isUnread({ text, loadError }: EditedFile): boolean {
  return text.value === undefined && loadError.value === undefined
}

function TypeDocument({ editing, file }: { editing: ValEditing } & { file: EditedFile }) {
  const path = toDocumentPath(editing, file.path.value)
  useEffect(() => {
    typeService.open(path)
    send(path, file.text.peek())
    return () => typeService.close(path)
  }, [path])
  useSignalEffect(() => {
    const text = file.text.value
    // The editor sends its own text.
    if (editing.files.current.value !== file) send(path, text)
  })
  return null
}

function send(path: string, text: string | undefined): void {
  if (text !== undefined) typeService.setText(path, toPlainLines(text))
}

function isModule(path: string): boolean {
  return /\.(?:[cm]?[jt]sx?|jsonc?|html?)$/i.test(path)
}

function loadAll(files: readonly EditedFile[]): () => void {
  const waiting = [...files]
  const loadNext = async () => {
    for (let file = waiting.shift(); file; file = waiting.shift()) await file.load()
  }
  for (let count = 0; count < limits.loadsMax; count += 1) void loadNext()
  return () => {
    waiting.length = 0
  }
}
