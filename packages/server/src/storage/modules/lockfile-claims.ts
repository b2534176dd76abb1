import type { Claim } from "../../domain/claims.ts"
import type {
  LockfileClaim,
  LockfileClaims,
  SettledLockfile,
} from "../../domain/modules/lockfiles.ts"
import { toOwnJson } from "../../shared/hostile-input/bounded.ts"
import { type ClaimKey, createRowClaims, type RowClaims } from "../claims/row-claims.ts"
import type { Database, Script } from "../database/database.ts"
import { sql } from "../database/sql.ts"
import { type BundleContents, writeBundle } from "./bundles.ts"

/** The claims of pending lockfiles, one of each owner at a time. */
export function createLockfileClaims(db: Database, nodeId: string): LockfileClaims {
  const claims = createRowClaims(db, {
    ...{ table: "locks", key, owner: "owner_id", hasLanes: false, nodeId, perOwnerMax: 1 },
  })
  return {
    ...claims,
    async claim(countMax, held) {
      return (await claims.claim(countMax, held)).map(toLockfileClaim)
    },
    async settle(claim, settled, at) {
      const files = await settled.bundle?.files?.read()
      const types = await settled.bundle?.types?.read()
      return await db.write(() => settle(claims, claim, settled, { files, types }, at))
    },
    postpone: (claim, delayMs, resolution) =>
      db.write(function* () {
        yield* claims.postpone(claim, delayMs, sql`resolution = ${toOwnJson(resolution)}`)
      }),
  }
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
  { state, resolution, bundle }: SettledLockfile,
  contents: BundleContents,
  at: number,
): Script<boolean> {
  const set = sql`state = ${state}, updated_at = ${at},
    bundle_hash = ${resolution.bundle}, resolution = ${toOwnJson(resolution)}`
  const isSettled = yield* claims.end(claim, set)
  if (isSettled && bundle) yield* writeBundle(bundle, contents, at)
  return isSettled
}
