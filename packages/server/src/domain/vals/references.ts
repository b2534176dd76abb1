import type { Caller } from "../access.ts"
import type { Page, PageRequest, Period } from "../paging.ts"
import { getVal, type ValStore } from "./vals.ts"

/** One end of a reference. */
export interface ReferenceEnd {
  readonly id: string
  readonly name: string
  readonly ownerId: string
  readonly ownerName: string
}

/** That the val `from` imports the val `to`. */
export interface Reference {
  readonly at: number
  readonly from: ReferenceEnd
  readonly to: ReferenceEnd
}

/**
 * Where references are kept. A list leaves out every val, on either end, that the viewer may not
 * find in a list.
 */
export interface ReferenceStore {
  /** To the user's vals. */
  listToUser(userId: string, period: Period, page: PageRequest): Promise<Page<Reference>>
  listToVal(
    viewerId: string | undefined,
    valId: string,
    period: Period,
    page: PageRequest,
  ): Promise<Page<Reference>>
  listFromVal(
    viewerId: string | undefined,
    valId: string,
    period: Period,
    page: PageRequest,
  ): Promise<Page<Reference>>
}

/** What the rules of references need. */
export interface ReferenceDeps {
  readonly vals: ValStore
  readonly references: ReferenceStore
}

/** The vals that import this one. */
export async function listReferences(
  deps: ReferenceDeps,
  caller: Caller | undefined,
  valId: string,
  period: Period,
  page: PageRequest,
): Promise<Page<Reference>> {
  await getVal(deps, caller, valId)
  return deps.references.listToVal(caller?.userId, valId, period, page)
}

/** The vals that this one imports. */
export async function listDependencies(
  deps: ReferenceDeps,
  caller: Caller | undefined,
  valId: string,
  period: Period,
  page: PageRequest,
): Promise<Page<Reference>> {
  await getVal(deps, caller, valId)
  return deps.references.listFromVal(caller?.userId, valId, period, page)
}
