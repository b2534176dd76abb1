import type { Page, PageRequest, Period } from "@hamlet/database/page"
import type { Caller } from "../access/caller.ts"
import type { AccountView, Viewer } from "../access/rights.ts"
import type { Vals } from "./vals.ts"

/** One end of a reference. */
export interface ReferenceEnd {
  readonly id: string
  readonly name: string
  readonly ownerId: string
  readonly ownerName: string
}

/** The fact that the val `from` imports the val `to`. */
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
  /** References to the user's vals. */
  listToUser(view: AccountView, period: Period, page: PageRequest): Promise<Page<Reference>>
  /** References at whose `end` the val is. */
  listOfVal(
    viewer: Viewer | undefined,
    valId: string,
    end: "from" | "to",
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
      store.listToUser(caller, period, page),
    /** The vals that import this one (`to`), or that it imports (`from`). */
    async listOfVal(
      caller: Caller | undefined,
      valId: string,
      end: "from" | "to",
      period: Period,
      page: PageRequest,
    ): Promise<Page<Reference>> {
      await vals.get(caller, valId)
      return store.listOfVal(caller, valId, end, period, page)
    },
  }
}
