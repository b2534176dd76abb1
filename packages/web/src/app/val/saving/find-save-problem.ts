import { ApiError } from "@hamlet/contract/client"
import type { Signal } from "@preact/signals"
import type { CodeEditorHandle } from "../../../editor/code-editor-props.ts"
import { findModuleAddress } from "../../../editor/type-service/module-address.ts"
import { api } from "../../api.ts"
import { pause } from "../../data/pause.ts"
import type { EditedFile } from "../files/edited-file.ts"
import type { Branch, Val } from "../files/load-files.ts"
import type { ValFiles } from "../files/val-files.ts"
import { describeSyntaxError, type SaveProblem, toSyntaxError } from "./syntax-error.ts"

const limits = {
  pollMs: 300,
  waitMsMax: 60_000,
  filesMax: 50,
  parsesMax: 4,
  importsMax: 500,
  valsMax: 50,
}

/** A val that was saved. */
interface SavedVal {
  readonly val: Signal<Val>
  readonly branch: Signal<Branch>
  readonly files: ValFiles
  findSyntaxErrorHere(): ReturnType<CodeEditorHandle["findSyntaxError"]> | undefined
}

/**
 * Reports why saved files cannot run, without running them: code that does not parse, imports that
 * do not exist, and packages that cannot be resolved. Returns whether all of them parse.
 */
export async function findSaveProblems(
  editing: SavedVal,
  saved: readonly EditedFile[],
  signal: AbortSignal,
  report: (problems: readonly SaveProblem[]) => void,
): Promise<boolean> {
  const files = saved.filter((file) => isCodePath(file.path.peek())).slice(0, limits.filesMax)
  try {
    const problems = await findSyntaxErrors(editing, files, signal)
    report(problems)
    if (problems.length === 0) void reportImports(editing, files, signal, report).catch(() => {})
    return problems.length === 0
  } catch {
    // The server does not respond: a run will show the problem.
    return true
  }
}

function isCodePath(path: string): boolean {
  return /\.[cm]?[jt]sx?$/.test(path)
}

/** In the order of the files, a few at a time: each is parsed by the server. */
async function findSyntaxErrors(
  editing: SavedVal,
  files: readonly EditedFile[],
  signal: AbortSignal,
): Promise<readonly SaveProblem[]> {
  const found = new Map<EditedFile, SaveProblem>()
  const waiting = [...files]
  const checkNext = async () => {
    for (let file = waiting.shift(); file; file = waiting.shift()) {
      const problem = await findSyntaxError(editing, file, signal)
      if (problem) found.set(file, problem)
    }
  }
  await Promise.all(Array.from({ length: limits.parsesMax }, checkNext))
  return files.flatMap((file) => found.get(file) ?? [])
}

/**
 * Why a saved file does not parse: the server converts a module for browsers, and says where it
 * cannot. Its parser is not that of the sandbox, and may be wrong. The editor knows better once its
 * types are loaded, and its words are those of its marks.
 */
async function findSyntaxError(
  editing: SavedVal,
  file: EditedFile,
  signal: AbortSignal,
): Promise<SaveProblem | undefined> {
  const path = file.path.peek()
  const { name, author } = editing.val.peek()
  const branch = editing.branch.peek()
  const val_name = `${name}@${branch.version}-${branch.name}`
  try {
    const input = { username: author.username, val_name, file_path: path }
    const response = await api.getModuleFile(input, { signal })
    await response.body?.cancel()
    return undefined
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const found = toSyntaxError(error)
    if (!found || file.isDirty.peek() || editing.files.current.peek() !== file)
      return found && { ...found, path }
    const here = await editing.findSyntaxErrorHere()
    const shown = here === undefined ? found : here ? describeSyntaxError(here) : undefined
    return shown && { ...shown, path }
  }
}

async function reportImports(
  editing: SavedVal,
  files: readonly EditedFile[],
  signal: AbortSignal,
  report: (problems: readonly SaveProblem[]) => void,
): Promise<void> {
  report(await findMissingModules(editing, files, signal))
  report(await findMissingPackages(editing, signal))
}

/** The owner, who is signed in, sees the vals that a run of theirs can import. */
async function findMissingModules(
  editing: SavedVal,
  files: readonly EditedFile[],
  signal: AbortSignal,
): Promise<readonly SaveProblem[]> {
  // Loaded with the editor.
  const [{ listImports }, { loadMap, toMapped }] = await Promise.all([
    import("../../../editor/list-imports.ts"),
    import("../../../editor/type-service/val-configs.ts"),
  ])
  const map = await loadMap(async (path) => editing.files.find(path)?.findSavedText())
  const { name, author } = editing.val.peek()
  const root = `/v/${author.username}/${name}/`.toLowerCase()
  const isFound = new Map<string, boolean>()
  const problems: SaveProblem[] = []
  for (const file of files) {
    const path = file.path.peek()
    const specifiers = new Set(listImports(file.savedText.peek() ?? ""))
    for (const specifier of [...specifiers].slice(0, limits.importsMax)) {
      const mapped = toMapped(map, { specifier, importer: root + path })
      const address = findModuleAddress(mapped.specifier, mapped.importer, location.origin)
      if (!address?.path.startsWith("/v/") || address.mayBeElsewhere) continue
      if (address.path.startsWith(root)) {
        if (!editing.files.find(address.path.slice(root.length)))
          problems.push({ path, message: toMessage(specifier, "there is no such file in the val") })
        continue
      }
      if (!isFound.has(address.path) && isFound.size < limits.valsMax)
        isFound.set(address.path, await hasModule(address.path, signal))
      if (isFound.get(address.path) === false)
        problems.push({
          path,
          message: toMessage(specifier, "there is no such val that you may see"),
        })
    }
  }
  return problems
}

async function hasModule(path: string, signal: AbortSignal): Promise<boolean> {
  const [username = "", val_name = "", ...rest] = path.slice("/v/".length).split("/")
  try {
    if (rest.length === 0) await api.getModule({ username, val_name }, { signal })
    else {
      const input = { username, val_name, file_path: rest.join("/") }
      await (await api.getModuleFile(input, { signal })).body?.cancel()
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return error.status !== 404
  }
  return true
}

/** Packages are resolved after the save, which may take seconds. Branches have no list of them. */
async function findMissingPackages(
  editing: SavedVal,
  signal: AbortSignal,
): Promise<readonly SaveProblem[]> {
  const { id, version } = editing.val.peek()
  if (editing.branch.peek().id !== id) return []
  for (const endsAt = Date.now() + limits.waitMsMax; ; ) {
    const { state, imports } = await api.getVersionLock({ val_id: id, version }, { signal })
    const failed = imports.filter(({ error }) => error !== null)
    // A pending import may only be slow.
    if (failed.length > 0 && (state === "failed" || Date.now() > endsAt))
      return failed.map(({ specifier, error }) => ({ message: toMessage(specifier, `${error}`) }))
    if (state !== "pending" || Date.now() > endsAt) return []
    await pause(limits.pollMs, signal)
  }
}

function toMessage(specifier: string, reason: string): string {
  return `The import "${specifier}" does not work: ${reason}`
}
