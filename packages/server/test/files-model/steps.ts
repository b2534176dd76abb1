import { toFileName, toParentPath } from "@hamlet/contract/file-paths"
import {
  addVersion,
  applyChanges,
  applySave,
  copyBranch,
  currentOf,
  type FileType,
  filesOf,
  findSavedEntry,
  type ModelBranch,
  type ModelChange,
  type ModelSave,
  type ModelVal,
  mainOf,
  newestOf,
  viewOf,
  withBranch,
} from "./model.ts"

/** A request, and what it makes of the val. */
export interface Step {
  readonly method: "POST" | "PUT" | "DELETE"
  readonly path: string
  readonly body?: unknown
  /** The statuses that the contract allows. */
  readonly statuses: readonly number[]
  /** The val afterwards; the same one if nothing changes. */
  readonly after: ModelVal
}

/** Numbers from 0 to 1, and words that occur nowhere else. */
export interface Chance {
  random(): number
  word(): string
}

const paths = [
  "a",
  "b.ts",
  "a/b.ts",
  "a/c",
  "lib/x.ts",
  "lib/deep/y.ts",
  "lib",
  "main.ts",
  "main.tsx",
  "index.js",
  "README.md",
  "readme.md",
  "LIB/x.ts",
]
const types: readonly FileType[] = ["file", "script", "http", "email"]
const refusals = [400, 404, 409]
const branchesMax = 5

/** A random step, possible or not. */
export function chooseStep(chance: Chance, val: ModelVal): Step {
  const branch = pick(chance, val.branches)
  const one = chance.random()
  if (one < 0.15) return chooseV1Save(chance, val)
  if (one < 0.3) return chooseCreate(chance, val, branch)
  if (one < 0.52) return chooseUpdate(chance, val, branch)
  if (one < 0.65) return chooseDelete(chance, val, branch)
  if (one < 0.82) return chooseMany(chance, val, branch)
  if (one < 0.86) return chooseNewBranch(chance, val, branch)
  if (one < 0.88) return chooseBranchDeletion(val, branch)
  return chooseVersionDeletion(chance, val)
}

function pick<Item>({ random }: Chance, items: readonly Item[]): Item {
  const item = items[Math.floor(random() * items.length)]
  if (item === undefined) throw new Error("there is nothing to choose from")
  return item
}

/** A path of the pool, or one that exists. */
function choosePath(chance: Chance, branch: ModelBranch): string {
  const known = [...filesOf(branch).keys()]
  return known.length > 0 && chance.random() < 0.7 ? pick(chance, known) : pick(chance, paths)
}

function chooseText(chance: Chance): string {
  return chance.random() < 0.3
    ? pick(chance, ["", "1", "é😀"])
    : `export default "${chance.word()}"\n`
}

function chooseV1Save(chance: Chance, val: ModelVal): Step {
  const main = mainOf(val)
  // Only files may be empty.
  const code = chooseText(chance) || "1"
  const kind = chance.random()
  const send = (method: Step["method"], path: string, save: ModelSave, more: object, ok: number) =>
    toStep(
      val,
      main,
      applySave(currentOf(main), save),
      { method, path, body: { ...save, ...more }, statuses: [ok] },
      findSavedEntry,
    )
  if (kind < 0.4) {
    const isNewCode = code !== viewOf(currentOf(main)).code
    return send("POST", `/v1/vals/${val.id}/versions`, { code }, {}, isNewCode ? 201 : 200)
  }
  const readme = chance.random() < 0.3 ? null : chooseText(chance)
  const type = pick(chance, ["script", "http", "email"] as const)
  if (kind < 0.7) {
    const save = chance.random() < 0.5 ? { readme } : { type }
    return send("PUT", `/v1/vals/${val.id}`, save, {}, 204)
  }
  return send("PUT", "/v1/vals", { code, readme, type }, { name: val.name }, 200)
}

function chooseCreate(chance: Chance, val: ModelVal, branch: ModelBranch): Step {
  const path = choosePath(chance, branch)
  const body =
    chance.random() < 0.15
      ? { type: "directory" as const }
      : { type: pick(chance, types), content: chooseText(chance) }
  const files = applyChanges(filesOf(branch), [{ path, isNew: true, ...body }])
  return toStep(val, branch, files, {
    method: "POST",
    path: filesAt(val, branch, { path }),
    body,
    statuses: [201],
  })
}

function chooseUpdate(chance: Chance, val: ModelVal, branch: ModelBranch): Step {
  const path = choosePath(chance, branch)
  const newPath = chance.random() < 0.6 ? choosePath(chance, branch) : path
  const change = {
    ...(chance.random() < 0.5 ? { content: chooseText(chance) } : {}),
    ...(chance.random() < 0.2 ? { type: pick(chance, types) } : {}),
  }
  const files = applyChanges(filesOf(branch), [{ path, newPath, ...change }])
  const parent = toParentPath(newPath)
  const place =
    newPath === path
      ? {}
      : { name: toFileName(newPath), parent_path: parent === "" ? null : parent }
  return toStep(val, branch, files, {
    method: "PUT",
    path: filesAt(val, branch, { path }),
    statuses: [200],
    body: { ...place, ...change },
  })
}

/** A path that existed earlier is deleted without a version. */
function chooseDelete(chance: Chance, val: ModelVal, branch: ModelBranch): Step {
  const path = choosePath(chance, branch)
  const recursive = chance.random() < 0.7
  const before = filesOf(branch)
  const isFull = [...before.keys()].some((one) => one.startsWith(`${path}/`))
  const files = isFull && !recursive ? undefined : applyChanges(before, [{ path, delete: true }])
  const step = toStep(val, branch, files, {
    method: "DELETE",
    path: filesAt(val, branch, { path, recursive: String(recursive) }),
    statuses: [204],
  })
  return before.has(path) ? step : { ...step, statuses: [204, 404] }
}

function chooseMany(chance: Chance, val: ModelVal, branch: ModelBranch): Step {
  const changes: ModelChange[] = []
  const count = 1 + Math.floor(chance.random() * 6)
  let files = filesOf(branch)
  let isPossible = true
  for (let index = 0; index < count && isPossible; index += 1) {
    const change = chooseChange(chance, {
      ...branch,
      versions: new Map([[0, { files, entry: undefined }]]),
    })
    // Whether a path existed once is what `chooseDelete` is about.
    if ("delete" in change && !files.has(change.path)) continue
    const next = applyChanges(files, [change])
    // One impossible change refuses all; mostly, there is none.
    if (!next && chance.random() < 0.8) continue
    changes.push(change)
    if (next) files = next
    else isPossible = false
  }
  if (changes.length === 0) return chooseCreate(chance, val, branch)
  return toStep(val, branch, isPossible ? files : undefined, {
    method: "POST",
    path: `/v1/vals/${val.id}/files?branch_id=${branch.identity.id}`,
    body: { changes },
    statuses: [200],
  })
}

function chooseChange(chance: Chance, branch: ModelBranch): ModelChange {
  const path = choosePath(chance, branch)
  const one = chance.random()
  if (one < 0.2) return { path, delete: true }
  if (one < 0.5) {
    const newPath = choosePath(chance, branch)
    return chance.random() < 0.3
      ? { path, newPath, content: chooseText(chance) }
      : { path, newPath }
  }
  const content = chooseText(chance)
  return chance.random() < 0.5 ? { path, content } : { path, content, type: pick(chance, types) }
}

function chooseNewBranch(chance: Chance, val: ModelVal, source: ModelBranch): Step {
  const isTaken = chance.random() < 0.1
  const name = isTaken ? source.identity.name.toUpperCase() : chance.word()
  const request = { method: "POST", path: `/v2/vals/${val.id}/branches` } as const
  const body = { name, branchId: source.identity.id }
  if (isTaken || val.branches.length >= branchesMax)
    return isTaken
      ? { ...request, body, statuses: refusals, after: val }
      : chooseVersionDeletion(chance, val)
  const after = { ...val, branches: [...val.branches, copyBranch(source, name)] }
  return { ...request, body, statuses: [201], after }
}

function chooseBranchDeletion(val: ModelVal, branch: ModelBranch): Step {
  const path = `/v2/vals/${val.id}/branches/${branch.identity.id}`
  if (branch === mainOf(val)) return { method: "DELETE", path, statuses: refusals, after: val }
  const branches = val.branches
    .filter((one) => one !== branch)
    .map((one) => (one.parent === branch.identity ? { ...one, parent: undefined } : one))
  return { method: "DELETE", path, statuses: [204], after: { ...val, branches } }
}

/** One that exists, or one below the newest that does not. */
function chooseVersionDeletion(chance: Chance, val: ModelVal): Step {
  const main = mainOf(val)
  const numbers = [...main.versions.keys()]
  const one = chance.random()
  const version =
    one < 0.4
      ? newestOf(main)
      : one < 0.9
        ? pick(chance, numbers)
        : Math.floor(chance.random() * newestOf(main))
  const path = `/v1/vals/${val.id}/versions/${version}`
  if (!main.versions.has(version) || numbers.length === 1)
    return { method: "DELETE", path, statuses: refusals, after: val }
  const versions = new Map(main.versions)
  versions.delete(version)
  const after = withBranch(val, main, { ...main, versions })
  return { method: "DELETE", path, statuses: [204], after }
}

function filesAt(val: ModelVal, branch: ModelBranch, query: Readonly<Record<string, string>>) {
  const all = new URLSearchParams({ ...query, branch_id: branch.identity.id ?? "" })
  return `/v2/vals/${val.id}/files?${all}`
}

/** A step that makes these files the next version of a branch, or is refused without them. */
function toStep(
  val: ModelVal,
  branch: ModelBranch,
  files: ReturnType<typeof applyChanges>,
  request: Omit<Step, "after">,
  findWritten?: typeof findSavedEntry,
): Step {
  if (!files) return { ...request, statuses: refusals, after: val }
  const next = addVersion(branch, files, findWritten)
  return { ...request, after: next === branch ? val : withBranch(val, branch, next) }
}
