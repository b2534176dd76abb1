import { route } from "../route.ts"
import { importValsBody, importValsResult } from "../schemas/import-vals.ts"
import {
  createValBody,
  forkValBody,
  runsQuery,
  saveValBody,
  searchQuery,
  updateValBody,
  valPageQuery,
  valsQuery,
} from "../schemas/inputs.ts"
import { foundVal, page, val } from "../schemas/records.ts"
import { run } from "../schemas/runs/run-records.ts"

/** Vals. */
export const valRoutes = {
  listVals: route("Vals", "get /v1/vals", {
    summary:
      "Public vals and the caller's own, newest first; or public vals by likes, runs or trend",
    auth: "optional",
    scope: "val:read",
    query: valsQuery,
    responses: { 200: page(val) },
  }),
  createVal: route("Vals", "post /v1/vals", {
    summary: "Create a val",
    scope: "val:write",
    body: createValBody,
    isCodeBody: true,
    responses: { 200: val },
    errors: ["name_taken", "sandbox_unavailable"],
  }),
  saveVal: route("Vals", "put /v1/vals", {
    summary: "Create the val with that name, or update its code",
    scope: "val:write",
    body: saveValBody,
    hasIfMatch: true,
    responses: { 200: val },
    errors: ["name_taken", "sandbox_unavailable"],
  }),
  importVals: route("Vals", "post /v1/vals/import", {
    summary: "Import many vals with their versions; an invalid val does not fail the others",
    scope: "val:write",
    body: importValsBody,
    responses: { 200: importValsResult },
    errors: ["sandbox_unavailable"],
  }),
  searchVals: route("Vals", "get /v1/search/vals", {
    summary: "Vals whose name, description or files contain a text, ignoring case",
    auth: "optional",
    scope: "val:read",
    query: searchQuery,
    errors: ["search_timed_out", "overloaded"],
    responses: { 200: page(foundVal) },
  }),
  getVal: route("Vals", "get /v1/vals/{val_id}", {
    summary: "A val by its id",
    auth: "optional",
    scope: "val:read",
    valAccess: "see",
    hasEtag: true,
    responses: { 200: val },
  }),
  updateVal: route("Vals", "put /v1/vals/{val_id}", {
    summary: "Change a val's name, privacy, readme or type",
    scope: "val:write",
    valAccess: "own",
    body: updateValBody,
    hasIfMatch: true,
    responses: { 204: null },
    errors: ["name_taken"],
  }),
  deleteVal: route("Vals", "delete /v1/vals/{val_id}", {
    summary: "Delete a val and all its data",
    scope: "val:write",
    valAccess: "own",
    hasIfMatch: true,
    responses: { 204: null },
  }),
  forkVal: route("Vals", "post /v1/vals/{val_id}/fork", {
    summary: "Copy a val: its code, readme and type; the copy is private unless stated otherwise",
    scope: "val:write",
    valAccess: "see",
    body: forkValBody,
    responses: { 201: val },
    errors: ["version_not_found", "name_taken", "sandbox_unavailable"],
  }),
  listForks: route("Vals", "get /v1/vals/{val_id}/forks", {
    summary: "Public forks of a val and the caller's own, newest first",
    auth: "optional",
    scope: "val:read",
    valAccess: "see",
    query: valPageQuery,
    responses: { 200: page(val) },
  }),
  listValRuns: route("Runs", "get /v1/vals/{val_id}/runs", {
    summary: "The val's runs; all runs for its owner, otherwise only the caller's",
    scope: "run:read",
    valAccess: "see",
    query: runsQuery,
    responses: { 200: page(run) },
  }),
}
