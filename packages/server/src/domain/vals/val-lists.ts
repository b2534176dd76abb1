import { limits, type myValsQuery } from "@hamlet/contract"
import type { Page } from "@hamlet/database/page"
import type { z } from "zod"
import type { Caller } from "../access/caller.ts"
import type { Users } from "../accounts/users.ts"
import type {
  FoundVal,
  Val,
  ValFilter,
  ValPageRequest,
  ValRanking,
  ValState,
  ValStore,
} from "./vals.ts"

/** What a list of one's own vals is in the order of. */
export type OwnValSort = z.infer<typeof myValsQuery>["sort"]

/** Which of the owner's vals are listed, and in which order. `query` is part of a name in any case. */
export type OwnValFilter = Readonly<Omit<z.infer<typeof myValsQuery>, keyof ValPageRequest>>

/** Where an owner's vals are listed for them. */
export interface OwnValStore {
  /** Vals that have never run come last when the list is in the order of runs. */
  list(ownerId: string, filter: OwnValFilter, page: ValPageRequest): Promise<Page<Val>>
}

/** Lists of vals. */
export type ValLists = ReturnType<typeof createValLists>

/** Creates the lists of vals: public ones and the caller's own, unless they say otherwise. */
export function createValLists(store: ValStore, ownStore: OwnValStore, users: Users) {
  const list = (caller: Caller | undefined, filter: ValFilter, page: ValPageRequest) =>
    store.list(caller, filter, page)
  return {
    list,
    /** The vals of a user. */
    async listOfUser(
      caller: Caller | undefined,
      ownerId: string,
      page: ValPageRequest,
    ): Promise<Page<Val>> {
      await users.get(ownerId)
      return list(caller, { ownerId }, page)
    },
    /** Lists public vals, those with the most likes, runs or recent likes first. */
    async listRanked(
      ranking: ValRanking,
      { ownerId, privacy = "public" }: ValFilter,
      page: ValPageRequest,
    ): Promise<Page<Val>> {
      if (privacy !== "public") return { items: [], hasMore: false }
      return store.listRanked(ranking, ownerId, page)
    },
    /** Accounts, or else addresses, take turns to search. */
    search: (
      caller: Caller | undefined,
      query: string,
      page: ValPageRequest,
      address: () => string,
    ): Promise<Page<FoundVal>> => store.search(caller, query, page, caller?.actorId ?? address()),
    /** The caller's own vals. */
    listOwn: (caller: Caller, filter: OwnValFilter, page: ValPageRequest): Promise<Page<Val>> =>
      ownStore.list(caller.ownerId, filter, page),
    /** The states of the caller's own vals, so that a client can find outdated copies. */
    listOwnStates: (caller: Caller): Promise<Page<ValState>> =>
      store.listStates(caller.ownerId, limits.valStatesMax),
  }
}
