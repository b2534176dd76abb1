import type { Caller } from "../access.ts"
import type { Page, PageRequest, Period } from "../paging.ts"
import type { Vals } from "./vals.ts"

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

/** The rules of references. */
export type References = ReturnType<typeof createReferences>

/** Creates the rules of references. */
export function createReferences(store: ReferenceStore, vals: Vals) {
  return {
    /** To the caller's vals. */
    listMine: (caller: Caller, period: Period, page: PageRequest) =>
      store.listToUser(caller.userId, period, page),
    /** The vals that import this one. */
    async listToVal(
      caller: Caller | undefined,
      valId: string,
      period: Period,
      page: PageRequest,
    ): Promise<Page<Reference>> {
      await vals.get(caller, valId)
      return store.listToVal(caller?.userId, valId, period, page)
    },
    /** The vals that this one imports. */
    async listFromVal(
      caller: Caller | undefined,
      valId: string,
      period: Period,
      page: PageRequest,
    ): Promise<Page<Reference>> {
      await vals.get(caller, valId)
      return store.listFromVal(caller?.userId, valId, period, page)
    },
  }
}
