import { importedVal, limits, toIssueText } from "@hamlet/contract"
import { listValRuns } from "../../domain/runs/runs.ts"
import { forkVal, listForks } from "../../domain/vals/forks.ts"
import { type ImportItem, importVals } from "../../domain/vals/import-vals.ts"
import { listRankedVals } from "../../domain/vals/trend.ts"
import {
  createVal,
  deleteVal,
  getVal,
  listVals,
  saveVal,
  searchVals,
  updateVal,
} from "../../domain/vals/vals.ts"
import type { Handlers } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import { json, noContent } from "../response/api-response.ts"
import { page } from "../response/page.ts"
import { toRunView } from "../response/run-views.ts"
import { toValPage, toValResponse } from "../response/val-response.ts"
import { toValView } from "../response/views.ts"
import { toRunFilter } from "./runs.ts"

/** Vals: list, search, read, save, delete. */
export function valHandlers({ vals, runs, api: { links } }: Nouns) {
  return {
    listVals: async ({ caller, query, request }) => {
      const { sort, userId: ownerId, privacy } = query
      const found =
        sort === "created"
          ? await listVals(vals, caller, { ownerId, privacy }, query)
          : await listRankedVals(vals, sort, { ownerId, privacy }, query)
      return toValPage(links, request, query, found, caller)
    },
    importVals: async ({ caller, body }) => {
      const options = { isDry: body.dryRun ?? false, ifExists: body.ifExists ?? "skip" }
      return json(200, {
        results: await importVals(vals, caller, body.vals.map(toImportItem), options),
      })
    },
    searchVals: async ({ caller, query, request, address }) =>
      toValPage(
        links,
        request,
        query,
        await searchVals(vals, caller, query.query, query, address),
        caller,
      ),
    createVal: async ({ caller, body }) =>
      json(200, toValView(await createVal(vals, caller, body), links, caller)),
    saveVal: async ({ caller, body, ifMatch }) =>
      json(200, toValView((await saveVal(vals, caller, body, ifMatch)).val, links, caller)),
    getVal: async ({ caller, params }) =>
      toValResponse(await getVal(vals, caller, params.val_id), links, caller),
    updateVal: async ({ caller, params, body, ifMatch }) => {
      await updateVal(vals, caller, params.val_id, body, ifMatch)
      return noContent()
    },
    deleteVal: async ({ caller, params, ifMatch }) => {
      await deleteVal(vals, caller, params.val_id, ifMatch)
      return noContent()
    },
    forkVal: async ({ caller, params, body }) =>
      json(201, toValView(await forkVal(vals, caller, params.val_id, body), links, caller)),
    listForks: async ({ caller, params, query, request }) =>
      toValPage(links, request, query, await listForks(vals, caller, params.val_id, query), caller),
    listValRuns: async ({ caller, params, query, request }) =>
      page(
        links,
        request,
        query,
        await listValRuns(runs, caller, params.val_id, toRunFilter(query), query),
        toRunView,
      ),
  } satisfies Partial<Handlers>
}

/** Validates one val of an import, so that an invalid one does not fail the others. */
function toImportItem(value: unknown): ImportItem {
  const { data, error } = importedVal.safeParse(value, { error: toIssueText })
  if (data) return { val: data }
  const [issue] = error.issues
  const where = issue && issue.path.length > 0 ? `${issue.path.join(".")}: ` : ""
  return { name: toSentName(value), problem: `${where}${issue?.message ?? "it is not valid"}` }
}

/** The name of an invalid val, if it has one, so that the sender can find it. */
function toSentName(value: unknown): string {
  const name =
    typeof value === "object" && value !== null && "name" in value ? value.name : undefined
  return typeof name === "string" ? name.slice(0, limits.nameCharsMax).toWellFormed() : ""
}
