import { importedVal, limits, toIssueText } from "@hamlet/contract"
import type { ImportItem } from "../../domain/vals/import-vals.ts"
import type { Handlers } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import { done, json } from "../response/api-response.ts"
import { listOf } from "../response/page.ts"
import { createValResponses, listValsOf } from "../response/val-response.ts"
import { toRunView, toValView } from "../response/views.ts"
import { toRunFilter } from "./runs.ts"

/** Vals: list, search, read, save, delete. */
export function valHandlers(nouns: Nouns) {
  const { vals, valLists, importedVals, forks, runs } = nouns
  const { links } = nouns.api
  const respondWithVal = createValResponses(links)
  return {
    listVals: listValsOf(links, ({ caller, query }) => {
      const { sort, userId: ownerId, privacy } = query
      return sort === "created"
        ? valLists.list(caller, { ownerId, privacy }, query)
        : valLists.listRanked(sort, { ownerId, privacy }, query)
    }),
    importVals: async ({ caller, body }) => {
      const options = { isDry: body.dryRun ?? false, ifExists: body.ifExists ?? "skip" }
      return json(200, {
        results: await importedVals.add(caller, body.vals.map(toImportItem), options),
      })
    },
    searchVals: listValsOf(
      links,
      (call) => valLists.search(call.caller, call.query.query, call.query, call.address),
      ({ foundPath }) => ({ file: foundPath }),
    ),
    createVal: async ({ caller, body }) =>
      json(200, toValView(await vals.create(caller, body), links, caller)),
    saveVal: async ({ caller, body, ifMatch }) =>
      json(200, toValView((await vals.save(caller, body, ifMatch)).val, links, caller)),
    getVal: async ({ caller, params }) =>
      respondWithVal(await vals.get(caller, params.val_id), caller),
    updateVal: done(({ caller, params, body, ifMatch }) =>
      vals.change(caller, params.val_id, body, ifMatch),
    ),
    deleteVal: done(({ caller, params, ifMatch }) => vals.delete(caller, params.val_id, ifMatch)),
    forkVal: async ({ caller, params, body }) =>
      json(201, toValView(await forks.create(caller, params.val_id, body), links, caller)),
    listForks: listValsOf(links, ({ caller, params, query }) =>
      forks.list(caller, params.val_id, query),
    ),
    listValRuns: listOf(
      links,
      ({ caller, params, query }) =>
        runs.listOfVal(caller, params.val_id, toRunFilter(query), query),
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
