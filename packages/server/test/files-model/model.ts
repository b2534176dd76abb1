import { isInside, toFileName, toParentPath } from "@hamlet/contract/file-paths"

export type FileType = "directory" | "file" | "script" | "http" | "email"

/** What the model learns of a file when it sees it first; the same object in all versions. */
export interface Identity {
  id?: string
  /** Whether it has the id of its branch, and so stays the entry file. */
  readonly isOwn: boolean
}

/** What a file is from a version on. */
export interface ModelFile {
  readonly identity: Identity
  readonly type: FileType
  /** Null for a directory. */
  readonly text: string | null
  readonly state: ModelState
}

/** A state is learned once, too. */
export interface ModelState {
  readonly since: number
  updatedAt?: string
  /** What the file was before, with another time. */
  readonly before: ModelState | undefined
}

/** The files of a version by path. */
export type Files = ReadonlyMap<string, ModelFile>

/** A version: its files, and the one that is the code of `/v1`. */
export interface ModelVersion {
  readonly files: Files
  readonly entry: Identity | undefined
}

/** What the model learns of a branch. */
export interface BranchIdentity {
  id?: string
  readonly name: string
}

/** A branch: what each version that exists shows. */
export interface ModelBranch {
  readonly identity: BranchIdentity
  readonly parent: BranchIdentity | undefined
  readonly versions: ReadonlyMap<number, ModelVersion>
  /** The highest number it has ever had. */
  readonly last: number
}

/** A val. A step makes another one of it, so that both can be compared with what the server has. */
export interface ModelVal {
  readonly id: string
  readonly name: string
  /** The first one is `main`. */
  readonly branches: readonly ModelBranch[]
}

/** A change of files, as `POST /v1/vals/{id}/files` takes it. */
export type ModelChange =
  | {
      readonly path: string
      readonly content?: string
      readonly type?: FileType
      readonly isNew?: boolean
    }
  | {
      readonly path: string
      readonly newPath: string
      readonly content?: string
      readonly type?: FileType
    }
  | { readonly path: string; readonly delete: true }

/** A val with one file, as `POST /v1/vals` makes it, or an empty one. */
export function createVal(id: string, name: string, code: string | undefined): ModelVal {
  const number = code === undefined ? 0 : 1
  const files = new Map<string, ModelFile>()
  const entry = { isOwn: true }
  if (code !== undefined)
    files.set("main.tsx", {
      identity: entry,
      type: "script",
      text: code,
      state: { since: number, before: undefined },
    })
  const first = { files, entry: code === undefined ? undefined : entry }
  const main = { identity: { id, name: "main" }, parent: undefined, last: number }
  return { id, name, branches: [{ ...main, versions: new Map([[number, first]]) }] }
}

export function mainOf(val: ModelVal): ModelBranch {
  const [main] = val.branches
  if (!main) throw new Error(`the model of ${val.name} has no branch`)
  return main
}

export function newestOf({ versions }: ModelBranch): number {
  return Math.max(...versions.keys())
}

export function currentOf(branch: ModelBranch): ModelVersion {
  return branch.versions.get(newestOf(branch)) ?? { files: new Map(), entry: undefined }
}

export function filesOf(branch: ModelBranch): Files {
  return currentOf(branch).files
}

/** The val with another branch in place of one. */
export function withBranch(val: ModelVal, before: ModelBranch, after: ModelBranch): ModelVal {
  return { ...val, branches: val.branches.map((one) => (one === before ? after : one)) }
}

/**
 * The branch with the files as its next version; the same branch if nothing is different. A save
 * through `/v1` says which file it has written.
 */
export function addVersion(
  branch: ModelBranch,
  planned: Files,
  findWritten: (version: ModelVersion, files: Files) => Identity | undefined = findEntry,
): ModelBranch {
  const current = currentOf(branch)
  const before = current.files
  const states = new Map([...before.values()].map((file) => [file.identity, file.state]))
  const since = branch.last + 1
  let isChanged = [...before.keys()].some((path) => !planned.has(path))
  const files = [...planned].map(([path, file]): readonly [string, ModelFile] => {
    const old = before.get(path)
    const isSame =
      old?.identity === file.identity && old.type === file.type && old.text === file.text
    if (isSame) return [path, old]
    isChanged = true
    return [path, { ...file, state: { since, before: states.get(file.identity) } }]
  })
  if (!isChanged) return branch
  const next = { files: sorted(files), entry: findWritten(current, planned) }
  return { ...branch, last: since, versions: new Map(branch.versions).set(since, next) }
}

/** A file that the rule would not choose was written through `/v1`, and stays the entry file. */
function findEntry(before: ModelVersion, files: Files): Identity | undefined {
  const isKept =
    before.entry !== ruledEntry(before.files) &&
    [...files].some(([path, { identity }]) => identity === before.entry && path !== "README.md")
  return isKept ? before.entry : ruledEntry(files)
}

/** The entry file of a save through `/v1`: the same as before, or the new `main.tsx`. */
export function findSavedEntry(before: ModelVersion, files: Files): Identity | undefined {
  if (before.entry) return before.entry
  const made = files.get("main.tsx")
  return made && !before.files.has("main.tsx") ? made.identity : undefined
}

/** A branch with a copy of the newest files of another. */
export function copyBranch(source: ModelBranch, name: string): ModelBranch {
  const current = currentOf(source)
  let entry: Identity | undefined
  const files = [...current.files].map(([path, file]): readonly [string, ModelFile] => {
    const { updatedAt } = file.state
    const state = { since: 0, before: undefined, ...(updatedAt === undefined ? {} : { updatedAt }) }
    const identity = { isOwn: file.identity.isOwn }
    if (file.identity === current.entry) entry = identity
    return [path, { ...file, identity, state }]
  })
  const versions = new Map([[0, { files: sorted(files), entry }]])
  return { identity: { name }, parent: source.identity, versions, last: 0 }
}

/** Applies changes in order; undefined if one of them is impossible. */
export function applyChanges(before: Files, changes: readonly ModelChange[]): Files | undefined {
  let files: Files | undefined = before
  for (const change of changes) files = files && applyChange(files, change)
  return files
}

function applyChange(before: Files, change: ModelChange): Files | undefined {
  const files = new Map(before)
  const found = files.get(change.path)
  if ("delete" in change) {
    if (!found) return undefined
    for (const path of listFrom(files, change.path)) files.delete(path)
    return files
  }
  if ("newPath" in change) return found && move(files, found, change)
  const { path, type, content } = change
  const isDirectory = type === "directory"
  if (!found) {
    const made = toFile(type ?? guessType(path), isDirectory ? null : (content ?? ""))
    return add(files, path, made) ? files : undefined
  }
  if (change.isNew || isDirectory !== (found.type === "directory")) return undefined
  if (!isDirectory)
    files.set(path, { ...found, type: type ?? found.type, text: content ?? found.text })
  return files
}

function move(
  files: Map<string, ModelFile>,
  found: ModelFile,
  change: Extract<ModelChange, { readonly newPath: string }>,
): Files | undefined {
  const { path, newPath, content, type } = change
  if (found.type === "directory" && (content !== undefined || type !== undefined)) return undefined
  const changed = { ...found, type: type ?? found.type, text: content ?? found.text }
  if (newPath === path) return files.set(path, changed)
  if (isInside(newPath, path)) return undefined
  const paths = listFrom(files, path)
  const moved = paths.map((one) => [one, one === path ? changed : files.get(one)] as const)
  for (const one of paths) files.delete(one)
  for (const [one, file] of moved)
    if (!file || !add(files, `${newPath}${one.slice(path.length)}`, file)) return undefined
  return files
}

/** Adds a file with the directories that it is in; false if something is in the way. */
function add(files: Map<string, ModelFile>, path: string, file: ModelFile): boolean {
  const isTaken = (one: string) =>
    [...files.keys()].some((other) => other.toLowerCase() === one.toLowerCase())
  if (isTaken(path)) return false
  for (let one = toParentPath(path); one !== ""; one = toParentPath(one)) {
    const found = files.get(one)
    if (found?.type === "directory") continue
    if (found || isTaken(one)) return false
    files.set(one, toFile("directory", null))
  }
  files.set(path, file)
  return true
}

function listFrom(files: Files, path: string): readonly string[] {
  return [...files.keys()].filter((one) => one === path || isInside(one, path)).sort()
}

function toFile(type: FileType, text: string | null): ModelFile {
  return { identity: { isOwn: false }, type, text, state: { since: -1, before: undefined } }
}

function guessType(path: string): FileType {
  return /\.[tj]sx?$/.test(toFileName(path)) ? "script" : "file"
}

function sorted(files: Iterable<readonly [string, ModelFile]>): Files {
  return new Map([...files].sort(([left], [right]) => (left < right ? -1 : 1)))
}

/** What `/v1` shows of the files of `main`. */
export interface ModelView {
  readonly entryPath: string | undefined
  readonly code: string
  readonly type: FileType
  readonly readme: string | null
}

/** The v1 view: section 12 of the contract, as far as these files can show it. */
export function viewOf({ files, entry: identity }: ModelVersion): ModelView {
  const [entryPath, entry] = [...files].find(([, file]) => file.identity === identity) ?? []
  const readme = files.get("README.md")
  const type = entry?.type ?? "script"
  return {
    entryPath,
    code: entry?.text ?? "",
    type: type === "file" ? "script" : type,
    readme: readme?.text ?? null,
  }
}

function ruledEntry(files: Files): Identity | undefined {
  const all = [...sorted(files)].filter(
    ([path, { type }]) => type !== "directory" && path !== "README.md",
  )
  const names = ["main", "index"].flatMap((name) =>
    ["tsx", "ts", "jsx", "js"].map((extension) => `${name}.${extension}`),
  )
  const first = (test: (path: string, file: ModelFile) => boolean) =>
    all.find(([path, file]) => test(path, file))?.[1].identity
  const named = names.find((name) => all.some(([path]) => path === name))
  return (
    first((_, { identity }) => identity.isOwn) ??
    first((path) => path === named) ??
    first((_, { type }) => type === "http" || type === "email") ??
    first((_, { type }) => type === "script")
  )
}

/** A save through `/v1`; undefined if a file or folder is in its way. */
export interface ModelSave {
  readonly code?: string
  readonly readme?: string | null
  readonly type?: FileType
}

/** Applies a save through `/v1` to the files of `main`. */
export function applySave(before: ModelVersion, save: ModelSave): Files | undefined {
  const shown = viewOf(before)
  const changes: ModelChange[] = []
  const isTyped = save.type !== undefined && save.type !== shown.type
  const isCoded = save.code !== undefined && save.code !== shown.code
  const path = shown.entryPath ?? "main.tsx"
  if (isTyped || isCoded)
    changes.push({
      path,
      content: isCoded ? (save.code ?? "") : shown.code,
      ...(shown.entryPath === undefined ? { isNew: true } : {}),
      ...(isTyped ? { type: save.type } : shown.entryPath === undefined ? { type: "script" } : {}),
    })
  if (save.readme !== undefined && save.readme !== shown.readme)
    changes.push(
      save.readme === null
        ? { path: "README.md", delete: true }
        : { path: "README.md", type: "file", content: save.readme },
    )
  return applyChanges(before.files, changes)
}
