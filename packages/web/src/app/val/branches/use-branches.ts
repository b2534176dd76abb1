import type { Item } from "@hamlet/contract/client"
import { api } from "../../api.ts"
import { type UsedResource, useResource } from "../../data/resource.ts"
import { currentLocation } from "../../frame/location.ts"
import { mainBranch } from "../files/load-files.ts"

/** A branch as the API returns it. */
export type ListedBranch = Item<"listBranches">

/** Branches that a val may have. */
const branchesMax = 100

/** All branches of a val, `main` first; without an id, nothing is fetched. */
export function useBranches(valId: string | undefined): UsedResource<readonly ListedBranch[]> {
  return useResource<readonly ListedBranch[]>(valId && `branches of ${valId}`, async (signal) => {
    const { data } = await api.listBranches({ val_id: valId ?? "", limit: branchesMax }, { signal })
    return data
  })
}

/** The name of the branch that the address has. */
export function readBranchName(): string {
  return currentLocation.value.query.get("branch") ?? mainBranch
}

/** The query of a branch in an address; empty for `main`. */
export function toBranchQuery(name: string): string {
  return name === mainBranch ? "" : `?branch=${encodeURIComponent(name)}`
}
