import { makeCode, makeReadme, reviseCode } from "./code.ts"
import {
  dependencies,
  famousImport,
  famousSlots,
  famousUser,
  lastRuns,
  likesOf,
  privacyOf,
  referencesOf,
  runs,
  valsPerUser,
  versionsOf,
} from "./pattern.ts"
import { makeId } from "./random.ts"
import type { SeededTable } from "./seeded-table.ts"
import { eventAt, username, valCreatedAt, valName, valNumber, type World } from "./world.ts"

/** Vals with their branches, versions and files. */
export function valTables(world: World): readonly SeededTable[] {
  return [vals(world), branches(world), files(world), ...versions(world)]
}

function vals(world: World): SeededTable {
  return {
    name: "vals",
    columns: (
      "id owner_id name name_key privacy like_count reference_count " +
      "created_at updated_at run_started_at run_ended_at"
    ).split(" "),
    count: world.vals,
    row(val) {
      const [user, slot] = [val % world.users, Math.floor(val / world.users)]
      const at = valCreatedAt(world, val)
      const name = valName(world, val)
      const version = versionsOf(slot)
      const isFamous = user === famousUser
      const likeCount = likesOf(slot) + (isFamous && famousSlots.includes(slot) ? world.users : 0)
      const referenceCount =
        referencesOf(slot) + (isFamous && slot === famousImport.to ? world.users : 0)
      const run = lastRuns.get(slot)
      const startedAt = run === undefined ? null : eventAt(world, user, run, runs.length)
      return [
        world.valIds[val] ?? "",
        world.userIds[user] ?? "",
        name,
        name.toLowerCase(),
        privacyOf(slot),
        likeCount,
        referenceCount,
        at,
        at + version - 1,
        startedAt,
        startedAt && startedAt + 25,
      ]
    },
  }
}

/** Versions before those of slot n, for one user. */
const versionsBefore = Array.from({ length: valsPerUser + 1 }, (_, end) =>
  Array.from({ length: end }, (_, slot) => versionsOf(slot)).reduce((sum, count) => sum + count, 0),
)

function typeOf(slot: number): string {
  return slot % 2 === 0 ? "http" : "script"
}

function branches(world: World): SeededTable {
  return {
    name: "branches",
    columns: "id val_id name name_key version version_last entry_type created_at updated_at".split(
      " ",
    ),
    count: world.vals,
    row(val) {
      const slot = Math.floor(val / world.users)
      const [id, version, at] = [
        world.valIds[val] ?? "",
        versionsOf(slot),
        valCreatedAt(world, val),
      ]
      return [id, id, "main", "main", version, version, typeOf(slot), at, at + version - 1]
    },
  }
}

/** The entry file and the readme of each val. */
function files(world: World): SeededTable {
  return {
    name: "files",
    columns: ["id", "branch_id", "path"],
    count: world.vals * 2,
    row(index) {
      const val = index % world.vals
      const id = world.valIds[val] ?? ""
      return index < world.vals ? [id, id, "main.tsx"] : [readmeIdOf(world, val), id, "README.md"]
    },
  }
}

function readmeIdOf(world: World, val: number): string {
  return makeId(34, val, valCreatedAt(world, val))
}

function versions(world: World): readonly SeededTable[] {
  const count = (versionsBefore[valsPerUser] ?? 0) * world.users
  const find = createVersionFinder(world)
  return [
    {
      name: "versions",
      columns: ["branch_id", "version", "created_at", "entry_path", "entry_since", "readme_since"],
      count,
      row(index) {
        const { val, version } = find(index)
        const at = valCreatedAt(world, val) + version - 1
        const readmeSince = makeReadme(val) === null ? null : 1
        return [world.valIds[val] ?? "", version, at, "main.tsx", version, readmeSince]
      },
    },
    {
      name: "states",
      columns: ["branch_id", "path", "since", "file_id", "type", "created_at", "content"],
      count,
      row(index) {
        const { val, version } = find(index)
        const id = world.valIds[val] ?? ""
        const at = valCreatedAt(world, val) + version - 1
        const type = typeOf(Math.floor(val / world.users))
        return [id, "main.tsx", version, id, type, at, codeOf(world, val, version)]
      },
    },
    {
      name: "states",
      columns: ["branch_id", "path", "since", "file_id", "type", "created_at", "content"],
      count: world.vals,
      row(val) {
        const id = world.valIds[val] ?? ""
        const at = valCreatedAt(world, val)
        const readme = makeReadme(val)
        // Without a type, there is no such file.
        const type = readme === null ? null : "file"
        return [id, "README.md", 1, readmeIdOf(world, val), type, at, readme]
      },
    },
  ]
}

/** Which version of which val a row is. Rows are requested in order, so that it goes on where it was. */
function createVersionFinder(world: World) {
  let slot = 0
  return (index: number) => {
    if (index === 0) slot = 0
    while (index >= (versionsBefore[slot + 1] ?? 0) * world.users) slot += 1
    const rest = index - (versionsBefore[slot] ?? 0) * world.users
    const val = slot * world.users + Math.floor(rest / versionsOf(slot))
    return { val, version: 1 + (rest % versionsOf(slot)) }
  }
}

/** The code of a val in one of its versions. */
export function codeOf(world: World, val: number, version: number): string {
  const [user, slot] = [val % world.users, Math.floor(val / world.users)]
  const lines = importsOf(world, user, slot).map(
    (target) =>
      `import { thing as thing${target} } from "/v/${username(target % world.users)}/${valName(world, target)}"`,
  )
  const code = makeCode(val, valName(world, val), lines, world.markers.get(val)?.line ?? "")
  return version === 1 ? code : reviseCode(code, val, version)
}

const importingSlots = new Set([famousImport.from, ...dependencies.map(({ from }) => from)])

function importsOf(world: World, user: number, slot: number): readonly number[] {
  if (!importingSlots.has(slot)) return []
  const targets = dependencies
    .filter(({ from }) => from === slot)
    .map(({ to }) => valNumber(world, user, to))
  return slot === famousImport.from
    ? [...targets, famousImport.to * world.users + famousUser]
    : targets
}
