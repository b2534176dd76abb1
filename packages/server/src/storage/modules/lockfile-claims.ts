import { type Database, type Script, type Statement, sql } from "@hamlet/database"
import { toOwnJson } from "@hamlet/kit"
import type { Claim } from "../../domain/claims.ts"
import type {
  LockfileClaim,
  LockfileClaims,
  SettledLockfile,
} from "../../domain/modules/lockfiles.ts"
import { type ClaimKey, createRowClaims, type RowClaims } from "../claims/row-claims.ts"
import { type BundleContents, keepBundle, writeBundle } from "./bundles.ts"

/** The claims of pending lockfiles, one of each owner at a time. */
export function createLockfileClaims(db: Database, nodeId: string): LockfileClaims {
  const claims = createRowClaims(db, {
    table: "locks",
    key,
    owner: "owner_id",
    hasLanes: false,
    nodeId,
    perOwnerMax: 1,
  })
  return {
    ...claims,
    async claim(countMax, held) {
      return (await claims.claim(countMax, held)).map(toLockfileClaim)
    },
    async settle(claim, settled, at) {
      const contents = await readContents(settled)
      return await db.write(() => settle(claims, claim, settled, contents, at))
    },
    async note(claim, resolved, at) {
      const contents = await readContents(resolved)
      await db.write(function* () {
        if (yield* claims.note(claim, toColumns(resolved))) yield* keep(resolved, contents, at)
      })
    },
    async postpone(claim, delayMs, resolved, at) {
      const contents = await readContents(resolved)
      await db.write(function* () {
        if (yield* claims.postpone(claim, delayMs, toColumns(resolved)))
          yield* keep(resolved, contents, at)
      })
    },
  }
}

type Resolved = Omit<SettledLockfile, "state">

async function readContents({ bundle }: Resolved): Promise<BundleContents> {
  return { files: await bundle?.files?.read(), types: await bundle?.types?.read() }
}

function toColumns({ resolution }: Resolved): Statement {
  return sql`bundle_hash = ${resolution.bundle}, resolution = ${toOwnJson(resolution)}`
}

function* keep({ bundle }: Resolved, contents: BundleContents, at: number): Script<void> {
  if (bundle) yield* writeBundle(bundle, contents, at)
}

/** A version has at most one lockfile. */
const key: ClaimKey = {
  columns: "branch_id, version",
  toId: ({ branchId, version }) => `${branchId} ${version}`,
  isRow(id) {
    const { branchId, version } = toVersion(id)
    return sql`branch_id = ${branchId} and version = ${version}`
  },
}

function toVersion(id: string): Pick<LockfileClaim, "branchId" | "version"> {
  const [branchId = "", version] = id.split(" ")
  return { branchId, version: Number(version) }
}

function toLockfileClaim(claim: Claim): LockfileClaim {
  return { ...claim, ...toVersion(claim.id) }
}

function* settle(
  claims: RowClaims,
  claim: LockfileClaim,
  settled: SettledLockfile,
  contents: BundleContents,
  at: number,
): Script<boolean> {
  const { bundle, resolution } = settled
  // The lockfile takes over the bundle of another version, which may have been deleted a moment ago.
  if (!bundle && resolution.bundle !== null && !(yield* keepBundle(resolution.bundle, at)))
    return false
  const set = sql`state = ${settled.state}, updated_at = ${at}, ${toColumns(settled)}`
  const isSettled = yield* claims.end(claim, set)
  if (isSettled) yield* keep(settled, contents, at)
  return isSettled
}
