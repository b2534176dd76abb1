import { readmePath } from "@hamlet/contract/entry-file"
import {
  type Dialect,
  inBatches,
  join,
  type LastStep,
  list,
  rows,
  type Statements,
  sql,
  type TableColumns,
} from "@hamlet/database"
import { isCode, type TreeFile } from "../../domain/files/tree.ts"
import { isState } from "../files/branch-rows.ts"
import { findSearchIndex } from "./find-search-index.ts"
import { foldText } from "./fold-text.ts"

const limits = {
  /**
   * How much text of a val's other files is searched. With the code and the readme, which always
   * are, it is 1 MB at most.
   */
  otherBytesMax: 480_000,
  /**
   * How much text one transaction indexes: SQLite indexes a megabyte in a second, and other writes
   * wait meanwhile. Housekeeping indexes the rest.
   */
  indexedBytesMax: 80_000,
}

/** The files with a search text of their own, by path. */
export type SearchedFiles = ReadonlyMap<string, SearchedFile>

/** Since which version a file is as it is, and how long its text is. */
interface SearchedFile {
  readonly since: number
  readonly bytes: number
}

/** What decides whether a file is searched. */
type Candidate = Pick<TreeFile, "path" | "type" | "since" | "bytes">

/**
 * The files of a version that have search texts of their own: all but the entry file and the readme,
 * which are in the text of the val. Code comes first where there is too much.
 */
export function toSearchedFiles(
  files: readonly Candidate[],
  entryPath: string | undefined,
): SearchedFiles {
  const others = files.filter(
    ({ path, type }) => type !== "directory" && path !== entryPath && path !== readmePath,
  )
  let bytesLeft = limits.otherBytesMax
  const searched = new Map<string, SearchedFile>()
  for (const { path, since, bytes } of others.toSorted(byImportance)) {
    if (bytes > bytesLeft) continue
    bytesLeft -= bytes
    searched.set(path, { since, bytes })
  }
  return searched
}

function byImportance(left: Candidate, right: Candidate): number {
  return Number(isCode(right.type)) - Number(isCode(left.type)) || (left.path < right.path ? -1 : 1)
}

/** The search texts of files, written together. */
interface FileTexts extends LastStep {
  before: SearchedFiles | undefined
}

/**
 * Writes the search texts of the files that differ; compares them if it is not known which texts there
 * are. Leaves to housekeeping what is too much. Undefined if there are no such files. The texts are
 * read when the transaction ends, so that saves that share it write each of them once.
 */
export function writeFileTexts(
  dialect: Dialect,
  valId: string,
  before: SearchedFiles | undefined,
  after: SearchedFiles,
): LastStep | undefined {
  if (before?.size === 0 && after.size === 0) return undefined
  const step: FileTexts = {
    // After the text of the val.
    key: `${valId}/files`,
    before,
    takeOver(earlier) {
      if (step.before) step.before = (earlier as FileTexts).before
    },
    *run() {
      const known = step.before ?? (yield* findKnown(valId, after))
      const isComplete = yield* replaceTexts(dialect, valId, known, after)
      if (!isComplete)
        yield sql`insert into search_backlog (val_id) select id from vals where id = ${valId} on conflict do nothing`
    },
  }
  return step
}

/** The texts that there are; those that differ from the files, or are not indexed, have no version. */
function* findKnown(valId: string, files: SearchedFiles): Statements<SearchedFiles> {
  const found = yield* rows<FileText & { readonly isPublic: boolean }>`
    select path, body, is_public from search_texts where val_id = ${valId}`
  const own = found.find(({ path }) => path === "")
  const others = found.filter(({ path }) => path !== "")
  const known = new Map(others.map(({ path }) => [path, { since: -1, bytes: 0 }]))
  const bodies = new Map(
    others.flatMap(({ path, body, isPublic }) =>
      isPublic === own?.isPublic ? [[path, body]] : [],
    ),
  )
  for (const some of inBatches([...files]))
    for (const { path, body } of yield* readTexts(valId, some)) {
      const file = files.get(path)
      if (file && bodies.get(path) === body) known.set(path, file)
    }
  return known
}

function* replaceTexts(
  dialect: Dialect,
  valId: string,
  before: SearchedFiles,
  after: SearchedFiles,
): Statements<boolean> {
  const gone = [...before].filter(([path]) => !after.has(path))
  const changed = [...after].filter(([path, { since }]) => before.get(path)?.since !== since)
  const taken = take([...gone, ...changed])
  const deleted = gone.filter((file) => taken.has(file)).map(([path]) => path)
  for (const some of inBatches(deleted))
    yield sql`delete from search_texts where val_id = ${valId} and path in (${list(some)})`
  for (const some of inBatches(changed.filter((file) => taken.has(file)))) {
    const texts = yield* readTexts(valId, some)
    for (const { path, body } of texts.filter((text) => before.has(text.path)))
      yield* findSearchIndex(dialect).replaceBody(valId, path, body)
    yield* insertTexts(
      dialect,
      valId,
      texts.filter(({ path }) => !before.has(path)),
    )
  }
  return taken.size === gone.length + changed.length
}

type SearchedEntry = readonly [path: string, file: SearchedFile]

/** Takes as many files as one transaction may index, and at least one. */
function take(files: readonly SearchedEntry[]): ReadonlySet<SearchedEntry> {
  const taken = new Set<SearchedEntry>()
  let bytesLeft = limits.indexedBytesMax
  for (const file of files) {
    const [, { bytes }] = file
    if (bytes > bytesLeft && taken.size > 0) continue
    bytesLeft -= bytes
    taken.add(file)
  }
  return taken
}

interface FileText {
  readonly path: string
  readonly body: string
}

function* readTexts(
  valId: string,
  files: readonly SearchedEntry[],
): Statements<readonly FileText[]> {
  const keys = files.map(([path, { since }]) => isState(valId, { path, since }))
  const found = yield* rows<{ path: string; content: string | null }>`
    select path, content from states where ${join(keys, " or ")}`
  // No folded text contains the newline, so no query can span both parts.
  return found.map(({ path, content }) => ({
    path,
    body: `${foldText(path)}\n${foldText(content ?? "")}`,
  }))
}

const textColumns: TableColumns = { file_path: "text", file_body: "text" }

/** A file is as public as its val. Nothing is inserted if the val was deleted. */
function* insertTexts(
  dialect: Dialect,
  valId: string,
  texts: readonly FileText[],
): Statements<void> {
  if (texts.length === 0) return
  const table = dialect.tableOf(
    texts.map(({ path, body }) => ({ file_path: path, file_body: body })),
    textColumns,
  )
  yield sql`insert into search_texts (val_id, path, is_public, name, body)
    select t.val_id, file_path, t.is_public, '', file_body from search_texts t cross join ${table}
    where t.val_id = ${valId} and t.path = ''`
}
