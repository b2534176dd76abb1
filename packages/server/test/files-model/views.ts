import { expect } from "bun:test"
import {
  currentOf,
  type Files,
  filesOf,
  type ModelBranch,
  type ModelFile,
  type ModelVal,
  type ModelVersion,
  mainOf,
  newestOf,
  viewOf,
} from "./model.ts"

/** Sends a request as the owner of the vals. */
export type Call = (
  method: string,
  path: string,
  body?: unknown,
) => Promise<{
  readonly status: number
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: the model says what must be there
  readonly json: any
}>

/** Which branches and versions a val has, as the server shows them or the model does. */
export function summarize(val: ModelVal): unknown {
  return {
    branches: val.branches.map((one) => [one.identity.name, newestOf(one)]).sort(),
    versions: [...mainOf(val).versions.keys()].sort(ascending),
  }
}

/**
 * Which branches and versions the server shows of a val. A val with its ids learns those of its new
 * branches.
 */
export async function readSummary(call: Call, val: ModelVal): Promise<unknown> {
  const branches = await get(call, `/v2/vals/${val.id}/branches?limit=100`)
  const versions = await listVersions(call, val)
  return {
    branches: branches.data
      .map((one: { name: string; version: number }) => [one.name, one.version])
      .sort(),
    versions: versions.map(({ version }) => version).sort(ascending),
  }
}

/**
 * Compares everything that can be read of a val with the model: every version of every branch, with
 * the texts of `isRead` ones.
 */
export async function compareVal(
  call: Call,
  username: string,
  val: ModelVal,
  isRead: (version: number, newest: number) => boolean,
): Promise<void> {
  await learnBranches(call, val)
  await compareV1(call, val)
  const ids = new Map<string, object>()
  for (const branch of val.branches) {
    const newest = newestOf(branch)
    for (const [version, of] of branch.versions) {
      await compareList(call, val, branch, version, of.files, ids)
      if (isRead(version, newest)) await compareTexts(call, username, val, branch, version, of)
    }
    await compareDifference(call, val, branch)
  }
  await compareSearch(call, val)
}

/** Compares the branches, and learns the ids of those that the model has not seen yet. */
export async function learnBranches(call: Call, val: ModelVal): Promise<void> {
  const { data } = await get(call, `/v2/vals/${val.id}/branches?limit=100`)
  for (const branch of val.branches) {
    const found = data.find((one: { name: string }) => one.name === branch.identity.name)
    branch.identity.id ??= found?.id
  }
  const shown = data.map(
    (one: { id: string; name: string; version: number; forkedBranchId: string | null }) => ({
      id: one.id,
      name: one.name,
      version: one.version,
      forkedBranchId: one.forkedBranchId,
    }),
  )
  const expected = val.branches.map((branch) => ({
    id: branch.identity.id,
    name: branch.identity.name,
    version: newestOf(branch),
    forkedBranchId: branch.parent?.id ?? null,
  }))
  expect(shown).toEqual(expected)
}

async function compareV1(call: Call, val: ModelVal): Promise<void> {
  const main = mainOf(val)
  const { code, type, readme } = viewOf(currentOf(main))
  expect(await get(call, `/v1/vals/${val.id}`)).toMatchObject({
    code,
    type,
    readme,
    version: newestOf(main),
    name: val.name,
  })
  const listed = (await listVersions(call, val)).map((one) => [one.version, one.code])
  const expected = [...main.versions]
    .sort(([left], [right]) => right - left)
    .map(([version, of]) => [version, viewOf(of).code])
  expect(listed).toEqual(expected)
}

async function listVersions(
  call: Call,
  val: ModelVal,
): Promise<readonly { readonly version: number; readonly code: string }[]> {
  const all: { readonly version: number; readonly code: string }[] = []
  for (let offset = 0; ; offset += 100) {
    const page = await get(call, `/v1/vals/${val.id}/versions?limit=100&offset=${offset}`)
    all.push(...page.data)
    if (page.links.next === undefined) return all
  }
}

/** Compares the list of a version, and learns the ids and times of files that are new. */
async function compareList(
  call: Call,
  val: ModelVal,
  branch: ModelBranch,
  version: number,
  files: Files,
  ids: Map<string, object>,
): Promise<void> {
  const at = `branch_id=${branch.identity.id}&version=${version}`
  const { data } = await get(call, `/v2/vals/${val.id}/files?path=&recursive=true&limit=100&${at}`)
  for (const one of data) {
    const file = files.get(one.path)
    if (file) learn(file, branch, one)
  }
  const shown = data.map((one: Listed) => [one.path, one.type, one.id, one.version, one.updatedAt])
  const expected = [...files].map(([path, { type, identity, state }]) => [
    path,
    type,
    identity.id,
    state.since,
    state.updatedAt,
  ])
  expect([branch.identity.name, version, shown]).toEqual([branch.identity.name, version, expected])
  for (const { identity } of files.values()) {
    const id = identity.id ?? ""
    expect([id, ids.get(id) ?? identity]).toEqual([id, identity])
    if (ids.has(id) && ids.get(id) !== identity) throw new Error(`two files have the id ${id}`)
    ids.set(id, identity)
  }
}

interface Listed {
  readonly path: string
  readonly type: string
  readonly id: string
  readonly version: number
  readonly updatedAt: string
}

function learn({ identity, state }: ModelFile, branch: ModelBranch, one: Listed): void {
  identity.id ??= (identity.isOwn ? branch.identity.id : undefined) ?? one.id
  state.updatedAt ??= one.updatedAt
  // Clients tell by the time whether to read a file again.
  const earlier = state.before?.updatedAt
  if (earlier !== undefined && state.updatedAt <= earlier)
    throw new Error(`${one.path} has changed, but its time ${earlier} has become ${one.updatedAt}`)
}

/** Compares the texts of a version, also at their module addresses, and what `/v1` shows of it. */
async function compareTexts(
  call: Call,
  username: string,
  val: ModelVal,
  branch: ModelBranch,
  version: number,
  of: ModelVersion,
): Promise<void> {
  const at = `branch_id=${branch.identity.id}&version=${version}`
  const module = `/v/${username}/${val.name}@${version}-${branch.identity.name}`
  const name = `${branch.identity.name}@${version}`
  for (const [path, { text }] of of.files) {
    if (text === null) continue
    const content = await call("GET", `/v2/vals/${val.id}/files/content?path=${path}&${at}`)
    expect([name, path, content.status, content.text]).toEqual([name, path, 200, text])
    const { status, text: served } = await call("GET", `${module}/${path}`)
    expect([name, path, status, served]).toEqual([name, path, 200, text])
  }
  if (branch !== mainOf(val) || version === 0) return
  const { code, type, readme } = viewOf(of)
  const shown = await get(call, `/v1/vals/${val.id}/versions/${version}`)
  expect(shown).toMatchObject({ code, type, readme, version })
}

/** Compares the difference of a branch since its oldest version. */
async function compareDifference(call: Call, val: ModelVal, branch: ModelBranch): Promise<void> {
  const oldest = Math.min(...branch.versions.keys())
  const path = `/v1/vals/${val.id}/branches/${branch.identity.id}/diff?version=${oldest}`
  const shown = (await get(call, path)).data.map((one: Record<string, unknown>) => [
    one.path,
    one.newPath,
    one.before,
    one.after,
  ])
  const isFile = ([, { type }]: readonly [string, ModelFile]) => type !== "directory"
  const before = [...(branch.versions.get(oldest)?.files ?? [])].filter(isFile)
  const after = new Map(
    [...filesOf(branch)].filter(isFile).map(([path, file]) => [file.identity, { path, file }]),
  )
  const expected: unknown[][] = []
  for (const [path, file] of before) {
    const now = after.get(file.identity)
    after.delete(file.identity)
    if (!now) expected.push([path, null, file.text, null])
    else if (now.file.state !== file.state)
      expected.push([path, now.path === path ? null : now.path, file.text, now.file.text])
  }
  for (const { path, file } of after.values()) expected.push([path, null, null, file.text])
  const byPath = (left: unknown[], right: unknown[]) =>
    JSON.stringify(left) < JSON.stringify(right) ? -1 : 1
  expect([...shown].sort(byPath)).toEqual(expected.sort(byPath))
}

const wordPattern = /zq\w+zq/

/** The search finds a word of the code and of the readme, and none that only old versions have. */
async function compareSearch(call: Call, val: ModelVal): Promise<void> {
  const main = mainOf(val)
  const { code, readme } = viewOf(currentOf(main))
  const now = [...filesOf(main).values()].map(({ text }) => text ?? "").join("\n")
  const find = async (word: string) =>
    (await get(call, `/v1/search/vals?query=${word}`)).data.map((one: { id: string }) => one.id)
  for (const text of [code, readme ?? ""]) {
    const word = wordPattern.exec(text)?.[0]
    if (word !== undefined) expect([word, await find(word)]).toEqual([word, [val.id]])
  }
  const old = [...main.versions.values()]
    .flatMap(({ files }) => [...files.values()])
    .map(({ text }) => wordPattern.exec(text ?? "")?.[0])
    .find((word) => word !== undefined && !now.includes(word))
  if (old !== undefined) expect([old, await find(old)]).toEqual([old, []])
}

async function get(call: Call, path: string) {
  const { status, text, json } = await call("GET", path)
  if (status !== 200) throw new Error(`GET ${path} responded with ${status}: ${text}`)
  return json
}

function ascending(left: number, right: number): number {
  return left - right
}
