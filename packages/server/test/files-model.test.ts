import { afterAll, beforeAll, expect, test } from "bun:test"
import { isInside, toParentPath } from "@hamlet/contract/file-paths"
import fc from "fast-check"
import { expectStatus, openApi, type TestApi, type TestUser } from "./support/api.ts"
import { describeEachDatabase } from "./support/databases.ts"
import { testSeed } from "./support/random.ts"

const stepsMax = 25
const sequences = Number(process.env.HAMLET_MODEL_RUNS ?? 6)

/** The files of a version: texts by path, null for a directory; and the id of each. */
type Files = ReadonlyMap<string, { readonly text: string | null; readonly id: string }>

/** A branch in the model: what each number that exists shows. */
interface ModelBranch {
  readonly id: string
  readonly versions: Map<number, Files>
  newest: number
  last: number
}

type Step =
  | { readonly kind: "write"; readonly path: string; readonly text: string }
  | { readonly kind: "move"; readonly path: string; readonly newPath: string }
  | { readonly kind: "delete"; readonly path: string }
  | { readonly kind: "branch" }
  | { readonly kind: "delete version"; readonly pick: number }

const path = fc.constantFrom("a", "b", "a/b", "a/c", "b/c", "c/d/e", "main.ts", "README.md")
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("write" as const),
      path,
      text: fc.constantFrom("", "1", "2"),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("move" as const), path, newPath: path }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("delete" as const), path }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("branch" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("delete version" as const), pick: fc.nat(100) }),
  },
)

describeEachDatabase("files model", (open) => {
  let api: TestApi
  let ada: TestUser
  beforeAll(async () => {
    api = await openApi(open)
    ada = await api.addUser("ada")
  })
  afterAll(() => api.close())

  test(
    `the API keeps ${sequences} sequences of writes, moves, deletes, branches and deleted versions like the model`,
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(step, fc.nat(2)), { minLength: 5, maxLength: stepsMax }),
          (steps) => runSequence(api, ada, steps),
        ),
        { seed: testSeed, numRuns: sequences, endOnFailure: true },
      )
    },
    60_000 + sequences * 20_000,
  )
})

let valCount = 0

async function runSequence(
  api: TestApi,
  ada: TestUser,
  steps: readonly (readonly [Step, number])[],
): Promise<void> {
  valCount += 1
  const body = { name: `val${valCount}`, privacy: "public" }
  const { id } = expectStatus(await api.call("POST", "/v2/vals", { as: ada, body }), 201).json
  const none: Files = new Map()
  const main: ModelBranch = { id, versions: new Map([[0, none]]), newest: 0, last: 0 }
  const branches = [main]
  for (const [one, pick] of steps) {
    const branch = branches[pick % branches.length] ?? main
    if (one.kind === "branch") branches.push(await makeBranch(api, ada, id, branch))
    else if (one.kind === "delete version") await deleteVersion(api, ada, main, one.pick)
    else await change(api, ada, id, branch, one)
  }
  for (const branch of branches)
    for (const [version, files] of branch.versions)
      expect([version, await readFiles(api, ada, id, branch.id, version)]).toEqual([version, files])
}

async function makeBranch(
  api: TestApi,
  ada: TestUser,
  valId: string,
  source: ModelBranch,
): Promise<ModelBranch> {
  const body = { name: crypto.randomUUID(), branchId: source.id }
  const answer = await api.call("POST", `/v2/vals/${valId}/branches`, { as: ada, body })
  const { id } = expectStatus(answer, 201).json
  const copied = await readFiles(api, ada, valId, id, 0)
  const texts = (files: Files) => [...files].map(([key, { text }]) => [key, text])
  const original = source.versions.get(source.newest) ?? new Map()
  expect(texts(copied)).toEqual(texts(original))
  return { id, versions: new Map([[0, copied]]), newest: 0, last: 0 }
}

async function deleteVersion(
  api: TestApi,
  ada: TestUser,
  main: ModelBranch,
  pick: number,
): Promise<void> {
  const numbers = [...main.versions.keys()]
  const version = numbers[pick % numbers.length] ?? 0
  const answer = await api.call("DELETE", `/v1/vals/${main.id}/versions/${version}`, { as: ada })
  if (numbers.length === 1) {
    expect(answer.status).toBe(409)
    return
  }
  expectStatus(answer, 204)
  main.versions.delete(version)
  main.newest = Math.max(...main.versions.keys())
}

async function change(
  api: TestApi,
  ada: TestUser,
  valId: string,
  branch: ModelBranch,
  one: Extract<Step, { readonly path: string }>,
): Promise<void> {
  const before = branch.versions.get(branch.newest) ?? new Map()
  const expected = apply(before, one)
  const changes = [
    one.kind === "write"
      ? { path: one.path, content: one.text, type: "script" }
      : one.kind === "move"
        ? { path: one.path, newPath: one.newPath }
        : { path: one.path, delete: true },
  ]
  const at = `/v1/vals/${valId}/files?branch_id=${branch.id}`
  const { status, json } = await api.call("POST", at, { as: ada, body: { changes } })
  if (expected === undefined) {
    // A path that was deleted before is no error.
    const isHarmless = one.kind === "delete" && status === 200 && !json.isNewVersion
    expect([one, status >= 400 || isHarmless]).toEqual([one, true])
    return
  }
  expect([one, status]).toEqual([one, 200])
  const isSame = JSON.stringify([...expected]) === JSON.stringify([...before])
  expect([one, json.isNewVersion]).toEqual([one, !isSame])
  if (isSame) return
  branch.last += 1
  branch.newest = branch.last
  expect(json.version).toBe(branch.newest)
  const files = await readFiles(api, ada, valId, branch.id, branch.newest)
  // New files have ids that the model cannot know.
  const known = [...expected].map(
    ([key, { text, id }]) =>
      [key, { text, id: id === "" ? (files.get(key)?.id ?? "") : id }] as const,
  )
  expect(files).toEqual(new Map(known))
  branch.versions.set(branch.newest, files)
}

/** What a change makes of files, by path; undefined if it is impossible. The ids of new ones are empty. */
function apply(before: Files, one: Extract<Step, { readonly path: string }>): Files | undefined {
  const files = new Map(before)
  const add = (at: string, file: { readonly text: string | null; readonly id: string }) => {
    for (let parent = toParentPath(at); parent !== ""; parent = toParentPath(parent)) {
      const found = files.get(parent)
      if (found && found.text !== null) return false
      if (!found) files.set(parent, { text: null, id: "" })
    }
    if (files.has(at)) return false
    files.set(at, file)
    return true
  }
  const found = files.get(one.path)
  if (one.kind === "write") {
    if (found && found.text === null) return undefined
    if (found) files.set(one.path, { ...found, text: one.text })
    else if (!add(one.path, { text: one.text, id: "" })) return undefined
    return sorted(files)
  }
  if (!found) return undefined
  const moved = [...files].filter(([at]) => at === one.path || isInside(at, one.path))
  if (one.kind === "delete") {
    for (const [at] of moved) files.delete(at)
    return sorted(files)
  }
  if (one.newPath === one.path) return before
  if (isInside(one.newPath, one.path)) return undefined
  for (const [at] of moved) files.delete(at)
  for (const [at, file] of moved)
    if (!add(`${one.newPath}${at.slice(one.path.length)}`, file)) return undefined
  return sorted(files)
}

function sorted(files: Files): Files {
  return new Map([...files].sort(([left], [right]) => (left < right ? -1 : 1)))
}

async function readFiles(
  api: TestApi,
  ada: TestUser,
  valId: string,
  branchId: string,
  version: number,
): Promise<Files> {
  const at = `branch_id=${branchId}&version=${version}`
  const listed = await api.call(
    "GET",
    `/v2/vals/${valId}/files?path=&recursive=true&limit=100&${at}`,
    { as: ada },
  )
  const files = new Map<string, { readonly text: string | null; readonly id: string }>()
  for (const file of expectStatus(listed, 200).json.data) {
    const address = `/v2/vals/${valId}/files/content?path=${file.path}&${at}`
    const text =
      file.type === "directory"
        ? null
        : expectStatus(await api.call("GET", address, { as: ada }), 200).text
    files.set(file.path, { text, id: file.id })
  }
  return files
}
