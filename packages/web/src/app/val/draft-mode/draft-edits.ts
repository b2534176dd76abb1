import type { EditedFile } from "../files/edited-file.ts"
import type { FileType } from "../files/load-files.ts"
import type { FileEdit } from "../files/to-changes.ts"

/** A file as it was last written. */
export interface SentFile {
  readonly path: string
  readonly type: FileType
  /** Undefined if it is that of the saved file, which is not loaded. */
  readonly text: string | undefined
}

type SentFiles = ReadonlyMap<EditedFile, SentFile>

/** The edits that turn the files as they were last written into those of the editor. */
export function listDraftEdits(all: readonly EditedFile[], sent: SentFiles): readonly FileEdit[] {
  const gone = [...sent].filter(([file]) => !all.includes(file))
  return [
    ...all.map((file) => toEdit(file, sent.get(file))),
    ...gone.map(
      ([, { path, type }]): FileEdit => ({
        savedPath: path,
        path,
        type,
        isDeleted: true,
        content: undefined,
        isRetyped: false,
      }),
    ),
  ]
}

/** The files as they are once those edits are written. */
export function toSent(all: readonly EditedFile[], sent: SentFiles): SentFiles {
  const present = all.filter((file) => !file.isDeleted.peek())
  return new Map(
    present.map((file) => [
      file,
      {
        path: file.path.peek(),
        type: file.type.peek(),
        text: file.text.peek() ?? sent.get(file)?.text,
      },
    ]),
  )
}

function toEdit(file: EditedFile, sent: SentFile | undefined): FileEdit {
  const text = file.text.peek()
  const type = file.type.peek()
  const hasText = type !== "directory" && text !== undefined
  return {
    savedPath: sent?.path,
    path: file.path.peek(),
    type,
    isDeleted: file.isDeleted.peek(),
    content: hasText && (!sent || text !== sent.text) ? text : undefined,
    isRetyped: sent !== undefined && sent.type !== type,
  }
}
