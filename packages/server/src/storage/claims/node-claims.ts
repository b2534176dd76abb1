import { type Dialect, rows, type Statement, type Statements, sql } from "@hamlet/database"
import type { Fenced } from "../../domain/claims.ts"
import type { HeldClaim } from "../../domain/queue/queue-store.ts"

/** By account: run ids with their fences. */
export type StoredClaims = Readonly<Record<string, Readonly<Record<string, number>>>>

/** A node with its claims, and those of them whose code has started. */
export interface NodeRow {
  readonly id: string
  readonly begun: Readonly<Record<string, number>> | null
  readonly claims: StoredClaims | null
}

/** Reads them of all nodes. */
export const selectClaims = sql`select id, begun as begun_json, claims as claims_json from nodes`

/** The claims of the column. */
export function listClaims(stored: StoredClaims | null): readonly HeldClaim[] {
  return Object.entries(stored ?? {}).flatMap(([accountId, fences]) =>
    Object.entries(fences).map(([id, fence]) => ({ id, fence, accountId })),
  )
}

/**
 * Makes transactions that claim runs, or depend on who has claimed them, run one after the other:
 * claims are in the rows of several nodes, so no lock of a row can keep two nodes from the same run.
 */
export function* lockClaims(dialect: Dialect): Statements<void> {
  for (const statement of dialect.lockName("claims of the queue")) yield statement
}

/** The node with that id is not gone: it works on what it has claimed. */
export function isLive(nodeId: Statement): Statement {
  return sql`(select n.id from nodes n where n.id = ${nodeId} and n.is_gone = 0) is not null`
}

/** Replaces the claims of the node. Returns false when the node is gone. */
export function* saveClaims(nodeId: string, claims: readonly HeldClaim[]): Statements<boolean> {
  const accounts = new Map<string, [string, number][]>()
  for (const { id, fence, accountId } of claims) {
    const fences = accounts.get(accountId) ?? []
    if (fences.push([id, fence]) === 1) accounts.set(accountId, fences)
  }
  const stored = accounts.entries().map(([id, fences]) => `"${id}":${toFencesJson(fences)}`)
  const text = claims.length === 0 ? null : `{${[...stored].join()}}`
  const saved = yield* rows`
    update nodes set claims = ${text} where id = ${nodeId} and is_gone = 0 returning id`
  return saved.length > 0
}

/**
 * Builds the JSON text directly: `JSON.stringify` of an object with thousands of keys is five times
 * slower.
 */
export function toFencesJson(fences: Iterable<readonly [id: string, fence: number]>): string {
  return `{${Array.from(fences, ([id, fence]) => `"${id}":${fence}`).join()}}`
}

/** A table of the claims with the columns `claimed_id` and `claimed_fence`. */
export function claimsTable(dialect: Dialect, claims: readonly Fenced[]): Statement {
  return dialect.tableOf(
    claims.map(({ id, fence }) => ({ claimed_id: id, claimed_fence: fence })),
    { claimed_id: "id", claimed_fence: "integer" },
  )
}

/** Whether any of these claims is to a run that has not ended. */
export function* hasOpenClaims(dialect: Dialect, claims: readonly Fenced[]): Statements<boolean> {
  if (claims.length === 0) return false
  const open = yield* rows`
    select r.id from ${claimsTable(dialect, claims)} join runs r on r.id = claimed_id
    where r.fence = claimed_fence and r.ended_at is null limit 1`
  return open.length > 0
}
