import type { myValsQuery } from "@hamlet/contract"
import type { z } from "zod"
import type { Page, PageRequest } from "../paging.ts"
import type { Privacy, Val, ValType } from "./vals.ts"

/** What a list of one's own vals is in the order of. */
export type OwnValSort = z.infer<typeof myValsQuery>["sort"]

/** Which of the owner's vals are listed, and in which order. */
export interface OwnValFilter {
  /** Part of the name, ignoring case. */
  readonly query?: string | undefined
  readonly privacy?: Privacy | undefined
  readonly type?: ValType | undefined
  readonly sort: OwnValSort
  /** Without it names go up, and everything else begins with the newest or the most. */
  readonly order?: "asc" | "desc" | undefined
}

/** Where an owner's vals are listed for them. */
export interface OwnValStore {
  /** Vals that have never run come last when the list is in the order of runs. */
  list(ownerId: string, filter: OwnValFilter, page: PageRequest): Promise<Page<Val>>
}
