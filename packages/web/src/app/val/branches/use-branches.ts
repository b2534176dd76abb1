import type { Item } from "@hamlet/contract/client"
import { api } from "../../api.ts"
import { type UsedResource, useResource } from "../../data/resource.ts"
import { currentLocation } from "../../frame/location.ts"

/** A branch as the API returns it. */
export type Branch = Item<"listBranches">

/** The branch that every val has; it has the id of the val. */
export const mainName = "main"

/** As many as a val may have. */
const branchesMax = 100

/** All branches of a val, `main` first; without an id, nothing is fetched. */
export function useBranches(valId: string | undefined): UsedResource<readonly Branch[]> {
  return useResource<readonly Branch[]>(valId && `branches of ${valId}`, async (signal) => {
    const { data } = await api.listBranches({ val_id: valId ?? "", limit: branchesMax }, { signal })
    return data
  })
}

/** The name of the branch that the address has. */
export function readBranchName(): string {
  return currentLocation.value.query.get("branch") ?? mainName
}

/** The query of a branch in an address; empty for `main`. */
export function toBranchQuery(name: string): string {
  return name === mainName ? "" : `?branch=${encodeURIComponent(name)}`
}
